"""Writing the records of a workspace to a file or to standard output."""

import sys
from pathlib import Path
from typing import BinaryIO

import click

from deskwire.cli.destination import replacing
from deskwire.cli.house import Invocation
from deskwire.cli.operation import run_open
from deskwire.cli.output import printable
from deskwire.cli.progress import progress
from deskwire.desk.exporting import export_workspace


def export_records(invocation: Invocation, *, workspace: str, output: Path | None) -> None:
    if output is None:
        counts = export(invocation, workspace, sys.stdout.buffer, None)
        if counts.get("attachment"):
            tell("The files of the attachments are left out; with --output they are written too.")
    else:
        with replacing(output) as destination:
            counts = export(invocation, workspace, destination.records, destination.attachments)
    tell(f"Exported {sum(counts.values()):,} records to {output or 'standard output'}.")


def export(
    invocation: Invocation, workspace: str, records: BinaryIO, attachments: Path | None
) -> dict[str, int]:
    with progress("exporting", hidden=records.isatty()) as advance:
        return run_open(
            invocation,
            lambda house: export_workspace(
                house.store, house.files, workspace, records, attachments, progress=advance
            ),
        )


def tell(text: str) -> None:
    """On standard error, since standard output may be what is exported to."""
    click.echo(printable(text), err=True)
