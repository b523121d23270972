"""Merging contacts."""

import click

from deskwire.cli.house import Invocation
from deskwire.cli.operation import run_write
from deskwire.cli.output import print_json
from deskwire.desk.merging import merge_contacts


def merge(invocation: Invocation, *, keep: str, gone: str, workspace: str, json: bool) -> None:
    merged = run_write(invocation, lambda tx: merge_contacts(tx, workspace, keep, gone))
    if json:
        print_json({"contact_id": keep, "moved": merged._asdict()})
        return
    click.echo(
        f"Merged into {keep}; it was given channels: {merged.channels:,}, voice calls: "
        f"{merged.voice_calls:,}, external ids: {merged.external_ids:,}, tags: {merged.tags:,}."
    )
