"""Backing up an embedded desk."""

from pathlib import Path

import click

from deskwire.cli.house import Invocation
from deskwire.cli.interruption import interruptible
from deskwire.cli.output import printable
from deskwire.cli.progress import progress


def back_up(invocation: Invocation, *, folder: Path) -> None:
    with interruptible(), progress("backing up") as advance:
        left_out = invocation.house.back_up(invocation.options, folder, advance)
    click.echo(printable(f"Backed up to {folder}: `deskwire serve --data-dir {folder}` serves it."))
    for sentence in left_out:
        click.echo(printable(sentence))
