"""Making and listing workspaces."""

import click

from deskwire.cli.house import Invocation
from deskwire.cli.operation import run_read, run_write
from deskwire.cli.output import print_json, print_rows, print_table
from deskwire.desk.workspaces import create_workspace, list_workspaces
from deskwire.model.times import format_time


def create(invocation: Invocation, *, name: str, owner_email: str, id: str | None, json: bool) -> None:
    new = run_write(invocation, lambda tx: create_workspace(tx, name, owner_email, id))
    if json:
        print_json(new._asdict())
    else:
        print_rows([("workspace", new.workspace_id), ("owner member", new.owner_member_id)])


def show_all(invocation: Invocation, *, json: bool) -> None:
    workspaces = run_read(invocation, list_workspaces)
    if json:
        print_json({"workspaces": workspaces})
    elif workspaces:
        rows = [(each.id, format_time(each.created_at), each.name) for each in workspaces]
        print_table(("ID", "CREATED", "NAME"), rows)
    else:
        click.echo("There are no workspaces.")
