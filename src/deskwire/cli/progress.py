"""A bar on the terminal that shows how far something long has come; elsewhere nothing."""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(doing: str, *, hidden: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Gives the function to be told how much is done, and of how much."""
    if hidden or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    bar = importlib.import_module("deskwire.cli.progress_bar").bar(doing)
    task = bar.add_task(doing, total=None)
    with bar:
        yield lambda done, total: bar.update(task, completed=done, total=total)
