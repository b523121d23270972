"""Reading the audit log."""

import click

from deskwire.cli.house import Invocation
from deskwire.cli.operation import run_read
from deskwire.cli.output import print_json, printable
from deskwire.desk.audit import AuditEntry, Tags, list_entries
from deskwire.model.times import format_time


def show(invocation: Invocation, *, workspace: str, limit: int, json: bool) -> None:
    entries = run_read(invocation, lambda tx: list_entries(tx, workspace, limit))
    if json:
        print_json({"entries": entries})
    elif entries:
        for entry in entries:
            click.echo(printable(in_words(entry)))
    else:
        click.echo("There are no entries.")


def in_words(entry: AuditEntry) -> str:
    return (
        f"{format_time(entry.created_at)} {entry.action}: conversation {entry.channel_id}, "
        f"member {entry.actor_member_id}, token {entry.token_id}, "
        f"requested {listed(entry.details.requested)}, resulting {listed(entry.details.resulting)}"
    )


def listed(tags: Tags) -> str:
    names = ", ".join(f'"{name}"' for name in tags.names) or "none"
    return f"{names} and {tags.omitted} more" if tags.omitted else names
