"""The entry of the command line: from arguments to an exit code, with one line for whatever goes wrong."""

import io
import os
import sys
import traceback
from collections.abc import Sequence

import click
from click.exceptions import Exit, NoArgsIsHelpError

from deskwire.cli.command import Session
from deskwire.cli.commands import build_commands
from deskwire.cli.completion import PROGRAM, answer_shell
from deskwire.cli.house import House, OptionError, SettingsError, StartError
from deskwire.cli.interruption import exit_code
from deskwire.cli.output import complain
from deskwire.model.errors import DeskError, Unavailable

DONE, FAILED, WRONG_USAGE = 0, 1, 2


def run(house: House, argv: Sequence[str]) -> int:
    """Answers the exit code: 0 done, 1 failed, 2 wrong usage, 128 and its number where a signal ended it."""
    session = Session(house)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot write a customer's name still shows the rest.
        sys.stdout.reconfigure(errors="replace")
    try:
        code = invoke(session, argv)
        sys.stdout.flush()
    except click.UsageError as error:
        return refuse(error)
    except OptionError as error:
        complain(str(error))
        return WRONG_USAGE
    except KeyboardInterrupt as interruption:
        code = exit_code(interruption, argv)
        if code != DONE:
            complain("interrupted")
        return code
    except BrokenPipeError:
        forget_output()
        return fail("standard output was closed before everything was written")
    except (DeskError, Unavailable, OSError, SettingsError, StartError) as error:
        return fail(reason(error))
    except Exception as error:  # noqa: BLE001 - a command's boundary: nobody meets a traceback unasked
        return fail_unexpectedly(error, session.shows_traceback)
    return code


def invoke(session: Session, argv: Sequence[str]) -> int:
    commands = build_commands(session.house.options)
    answered = answer_shell(commands)
    if answered is not None:
        return answered
    try:
        with commands.make_context(PROGRAM, list(argv), obj=session) as context:
            return commands.invoke(context) or DONE
    except Exit as end:
        return end.exit_code
    except ExceptionGroup as group:
        raise first_of(group) from None


def first_of(group: ExceptionGroup[Exception]) -> Exception:
    """What made the tasks end that ran beside each other."""
    first = group.exceptions[0]
    return first_of(first) if isinstance(first, ExceptionGroup) else first


def refuse(error: click.UsageError) -> int:
    if isinstance(error, NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
    else:
        path = error.ctx.command_path if error.ctx else PROGRAM
        complain(f"{error.format_message().rstrip('.')}; see `{path} --help`")
    return WRONG_USAGE


def reason(error: Exception) -> str:
    match error:
        case OSError(filename=str() | bytes() as name, strerror=str() as problem):
            return f"{os.fsdecode(name)}: {problem}"
        case OSError(strerror=str() as problem):
            return problem
    return str(error)


def fail_unexpectedly(error: Exception, shows_traceback: bool) -> int:
    if shows_traceback:
        traceback.print_exception(error)
        return fail(f"unexpected {type(error).__name__}: {error}")
    return fail(
        f"unexpected {type(error).__name__}: {error} (`deskwire --traceback …` shows where it came from)"
    )


def fail(text: str) -> int:
    complain(text)
    return FAILED


def forget_output() -> None:
    """What could not be written would be tried again, and complained of, when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
