"""The bar itself, apart because the library takes a while to load."""

import sys

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn


def bar(doing: str) -> Progress:
    return Progress(
        TextColumn(doing),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        # What is printed meanwhile stands above the bar, but goes nowhere else than it would.
        redirect_stdout=sys.stdout.isatty(),
        redirect_stderr=False,
    )
