"""A bar on the terminal that shows how far something long has come; elsewhere nothing."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn


@contextmanager
def progress(doing: str, *, hidden: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Gives the function to be told how much is done, and of how much."""
    bar = Progress(
        TextColumn(doing),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        # What is printed meanwhile stands above the bar, but goes nowhere else than it would.
        redirect_stdout=sys.stdout.isatty(),
        redirect_stderr=False,
        disable=hidden or not sys.stderr.isatty(),
    )
    task = bar.add_task(doing, total=None)
    with bar:
        yield lambda done, total: bar.update(task, completed=done, total=total)
