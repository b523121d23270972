"""The whole command line, declared; what a command does is loaded when it is run, so all else is quick."""

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

import deskwire
from deskwire.cli.completion import PROGRAM, SHELLS, print_script
from deskwire.cli.house import House, Invocation, Option
from deskwire.cli.parameters import COUNT, DURATION, EMAIL, FILE, ID, NAME, PORT, SCOPE

# Where the data are: what every command that touches them can be told.
PLACE = ("data-dir", "database-url")


class Session:
    """What belongs to this run of the program, and not to one command."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.shows_traceback = False


def build_commands(settings: Sequence[Option]) -> click.Group:
    place = tuple(each for each in settings if each.name in PLACE)
    return group(
        PROGRAM,
        "Customer-support conversations behind a precise API.",
        *running_commands(settings, place),
        group("workspace", "Make and list workspaces.", *workspace_commands(place)),
        group("token", "Issue, list, rotate and revoke access tokens.", *token_commands(place)),
        *record_commands(place),
        completion_command(),
        params=[flag("--traceback", "Show where an unexpected error came from."), version_option()],
        callback=remember_traceback,
    )


def running_commands(settings: Sequence[Option], place: Sequence[Option]) -> Iterator[click.Command]:
    yield command(
        "serve",
        "serving:serve",
        "Run the API and, unless told otherwise, the delivery worker.",
        click.Option(["--host"], default="127.0.0.1", help="The address to listen on."),
        click.Option(["--port"], type=PORT, default=8000, help="The port; 0 for any that is free."),
        flag("--demo", "Serve a demo workspace, in a data folder of its own."),
        click.Option(["--workers"], type=COUNT, default=1, help="How many processes answer requests."),
        flag("--no-delivery", "Leave sending webhooks to `deskwire worker`."),
        settings=settings,
    )
    yield command("worker", "serving:work", "Run the delivery worker alone, for PostgreSQL.", settings=place)
    yield command(
        "migrate",
        "serving:migrate",
        "Bring the database to this version.",
        flag("--check", "Change nothing; exit 1 when the database is behind."),
        settings=place,
    )


def workspace_commands(place: Sequence[Option]) -> Iterator[click.Command]:
    yield command(
        "create",
        "workspaces:create",
        "Make a workspace with its owner.",
        required("--name", NAME, "What it is called."),
        required("--owner-email", EMAIL, "The e-mail address of its first member."),
        click.Option(["--id"], type=ID, help="Its id, when it had one elsewhere."),
        JSON,
        settings=place,
    )
    yield command("list", "workspaces:show_all", "List the workspaces.", JSON, settings=place)


def token_commands(place: Sequence[Option]) -> Iterator[click.Command]:
    yield command(
        "create",
        "tokens:create",
        "Issue a token. It is shown once.",
        WORKSPACE,
        required("--name", NAME, "What the token is for."),
        click.Option(
            ["--scope"],
            type=SCOPE,
            multiple=True,
            metavar="SCOPE",
            help="What it may do; give it again, or more scopes after it, for more.",
        ),
        click.Argument(["more_scopes"], type=SCOPE, nargs=-1, metavar="[SCOPE]..."),
        flag("--all-scopes", "It may do everything."),
        click.Option(
            ["--expires-in"], type=DURATION, help="How long it is good, such as 90d. Without: for ever."
        ),
        JSON,
        settings=place,
    )
    yield command(
        "list",
        "tokens:show_all",
        "List the tokens.",
        click.Option(["--workspace"], type=ID, help="Those of this workspace only."),
        JSON,
        settings=place,
    )
    rotate = "Give a token a new secret; the old one ends at once."
    yield command("rotate", "tokens:rotate", rotate, TOKEN_ID, JSON, settings=place)
    yield command("revoke", "tokens:revoke", "End a token at once.", TOKEN_ID, JSON, settings=place)


def record_commands(place: Sequence[Option]) -> Iterator[click.Command]:
    yield command(
        "import",
        "importing:import_records",
        "Import FILE, a record a line, into a workspace: all of it or nothing.",
        click.Argument(["file"], type=FILE),
        WORKSPACE,
        flag("--check", "Read everything and change nothing."),
        JSON,
        settings=place,
    )
    yield command(
        "export",
        "exporting:export_records",
        "Export a workspace, a record a line, and the files of its attachments.",
        WORKSPACE,
        click.Option(
            ["--output"],
            type=FILE,
            help="Where to; the attachments' files go to a folder beside it. Without: standard output.",
        ),
        settings=place,
    )
    yield command(
        "check",
        "checking:check_database",
        "Recompute every derived value; print a line for each that differs.",
        settings=place,
    )


def completion_command() -> click.Command:
    return click.Command(
        "completion",
        callback=print_script,
        params=[click.Argument(["shell"], type=click.Choice(SHELLS))],
        help='Print the completion script of a shell: eval "$(deskwire completion bash)".',
    )


def group(name: str, help: str, *commands: click.Command, **more: Any) -> click.Group:
    return click.Group(name, {each.name: each for each in commands if each.name}, help=help, **more)


def command(
    name: str, does: str, help: str, *params: click.Parameter, settings: Sequence[Option]
) -> click.Command:
    options = [click.Option([f"--{each.name}"], metavar="VALUE", help=each.help) for each in settings]
    return click.Command(name, callback=later(does, settings), params=[*params, *options], help=help)


def later(does: str, settings: Sequence[Option]) -> Callable[..., object]:
    """Calls `module:function` of this package with the command's values, and apart from them the settings."""

    def run(**values: Any) -> object:
        given = {each.name: values.pop(each.name.replace("-", "_")) for each in settings}
        said = {name: text for name, text in given.items() if text is not None}
        session = click.get_current_context().find_object(Session)
        assert session is not None
        module, _, function = does.partition(":")
        run_command = getattr(importlib.import_module(f"{__package__}.{module}"), function)
        return run_command(Invocation(session.house, said), **values)

    return run


def remember_traceback(traceback: bool) -> None:
    session = click.get_current_context().find_object(Session)
    assert session is not None
    session.shows_traceback = traceback


def required(name: str, type: click.ParamType[Any], help: str) -> click.Option:
    return click.Option([name], type=type, required=True, help=help)


def flag(name: str, help: str) -> click.Option:
    return click.Option([name], is_flag=True, help=help)


def version_option() -> click.Option:
    def show(context: click.Context, _option: click.Parameter, value: bool) -> None:
        if value:
            click.echo(f"{PROGRAM} {deskwire.__version__}")
            context.exit()

    return click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show the version and exit.",
    )


WORKSPACE = required("--workspace", ID, "The workspace's id.")
TOKEN_ID = click.Argument(["id"], type=ID, metavar="ID")
JSON = flag("--json", "Print one JSON object.")
