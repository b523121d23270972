"""Completion by the shell: the script that a shell reads once, and the answers to what it then asks."""

import os

import click
from click.shell_completion import get_completion_class, shell_complete

SHELLS = ("bash", "zsh", "fish")
PROGRAM = "deskwire"
# The scripts set this variable when they ask; the underscore keeps it apart from the settings.
VARIABLE = "_DESKWIRE_COMPLETE"


def print_script(shell: str) -> None:
    completion = get_completion_class(shell)
    assert completion is not None
    click.echo(completion(click.get_current_context().find_root().command, {}, PROGRAM, VARIABLE).source())


def answer_shell(commands: click.Group) -> int | None:
    """The exit code when it was the shell that asked; None when it was a person."""
    asked = os.environ.get(VARIABLE)
    return None if asked is None else shell_complete(commands, {}, PROGRAM, VARIABLE, asked)
