"""The whole command line, declared, in the order in which it is listed."""

from collections.abc import Iterator, Sequence

import click

import deskwire
from deskwire.cli.command import Group, command, current_session, flag, group, option, required
from deskwire.cli.completion import PROGRAM, SHELLS, print_script
from deskwire.cli.house import Option
from deskwire.cli.parameters import (
    COUNT,
    DURATION,
    EMAIL,
    FILE,
    ID,
    KIND,
    NAME,
    PORT,
    SCOPE,
    SECRET,
    SINCE,
    STATUS,
    TEXT,
)
from deskwire.model.limits import AUDIT_ENTRIES_SHOWN, DELIVERY_LOGS_SHOWN
from deskwire.model.scopes import SCOPES

# Where the data are, which every command that touches them can be told.
PLACE = ("data-dir", "database-url")


def build_commands(settings: Sequence[Option]) -> Group:
    place = tuple(each for each in settings if each.name in PLACE)
    return group(
        PROGRAM,
        "Customer-support conversations behind a precise API.",
        *running_commands(settings, place),
        group("workspace", "Make and list workspaces.", *workspace_commands(place)),
        group("token", "Issue, list, rotate and revoke access tokens.", *token_commands(place)),
        group("contact", "Merge contacts.", *contact_commands(place)),
        group(
            "webhook",
            "Look after outbound webhooks.",
            *webhook_commands(place),
            *webhook_trial_commands(place),
        ),
        *record_commands(place),
        *receiver_commands(),
        completion_command(),
        params=[flag("--traceback", "Show where an unexpected error came from."), version_option()],
        callback=remember_traceback,
    )


def running_commands(settings: Sequence[Option], place: Sequence[Option]) -> Iterator[click.Command]:
    yield command(
        "serve",
        "serving:serve",
        "Run the API: an embedded database is brought to this version by itself.",
        option("--host", click.STRING, "The address to listen on.", "127.0.0.1"),
        option("--port", PORT, "The port; 0 for any that is free.", 8000),
        flag("--demo", "Serve a demo workspace, in a data folder of its own."),
        option("--workers", COUNT, "How many processes answer requests.", 1),
        flag("--no-delivery", "Answer requests only; webhooks are sent by other processes."),
        settings=settings,
    )
    yield command(
        "worker",
        "serving:work",
        "Deliver webhooks, and nothing else; any number of workers share one PostgreSQL.",
        settings=settings,
    )
    yield command(
        "migrate",
        "serving:migrate",
        "Bring the database to this version.",
        flag("--check", "Change nothing; exit 1 when the database is behind."),
        flag("--distribute", "Then spread the tables over the machines of a PostgreSQL with Citus."),
        settings=place,
    )


def workspace_commands(place: Sequence[Option]) -> Iterator[click.Command]:
    yield command(
        "create",
        "workspaces:create",
        "Make a workspace with its owner.",
        required("--name", NAME, "What it is called."),
        required("--owner-email", EMAIL, "The e-mail address of its first member."),
        option("--id", ID, "Its id, when it had one elsewhere."),
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
            help="What it may do. Give it again, or more scopes after it, for more.",
        ),
        click.Argument(["more_scopes"], type=SCOPE, nargs=-1, metavar="[SCOPE]..."),
        flag("--all-scopes", "It may do everything."),
        option("--expires-in", DURATION, "How long it is good, such as 90d. Without: for ever."),
        JSON,
        settings=place,
        epilog=scopes_explained(),
    )
    yield command(
        "list",
        "tokens:show_all",
        "List the tokens.",
        option("--workspace", ID, "Those of this workspace only."),
        JSON,
        settings=place,
    )
    rotate = "Give a token a new secret; the old one ends at once."
    yield command("rotate", "tokens:rotate", rotate, TOKEN_ID, JSON, settings=place)
    yield command("revoke", "tokens:revoke", "End a token at once.", TOKEN_ID, JSON, settings=place)


def contact_commands(place: Sequence[Option]) -> Iterator[click.Command]:
    yield command(
        "merge",
        "contacts:merge",
        "Merge two contacts: all that GONE has goes to KEEP, and GONE is seen no more. It cannot be undone.",
        click.Argument(["keep"], type=ID),
        click.Argument(["gone"], type=ID),
        WORKSPACE,
        JSON,
        settings=place,
    )


def webhook_commands(place: Sequence[Option]) -> Iterator[click.Command]:
    yield command(
        "list",
        "webhooks:show_all",
        "List the webhooks.",
        option("--workspace", ID, "Those of this workspace only."),
        JSON,
        settings=place,
    )
    yield command(
        "show",
        "webhooks:show",
        "Show a webhook: how it fares, and what is waiting for it.",
        WEBHOOK_ID,
        JSON,
        settings=place,
    )
    yield command(
        "logs",
        "webhooks:show_logs",
        "Read the delivery log of a webhook: an attempt a line, newest first.",
        WEBHOOK_ID,
        option("--limit", click.IntRange(1, 1_000_000), "How many attempts at most.", DELIVERY_LOGS_SHOWN),
        JSON,
        settings=place,
    )
    yield command(
        "toggle",
        "webhooks:toggle",
        "Switch a webhook on or off: on, when it is inactive or in error; what is held for it is then sent.",
        WEBHOOK_ID,
        JSON,
        settings=place,
    )


def webhook_trial_commands(place: Sequence[Option]) -> Iterator[click.Command]:
    yield command(
        "test",
        "webhook_tests:test",
        "Send a webhook one signed event at once, an example: exit 1 when it does not arrive.",
        WEBHOOK_ID,
        option("--kind", KIND, "The kind of event. Without: the first that the webhook takes."),
        JSON,
        settings=place,
    )
    yield command(
        "redeliver",
        "redelivering:redeliver",
        "Send events again that were accepted in the last 24 hours, with their first timestamp.",
        WEBHOOK_ID,
        option("--since", SINCE, "From when on: 2h ago, or a time such as 2024-01-31T12:00:00Z."),
        click.Option(
            ["--kind"], type=KIND, multiple=True, help="Only this kind. Give it again for one more."
        ),
        flag("--again", "Also what has arrived within the last 10 minutes."),
        JSON,
        settings=place,
    )
    yield command(
        "doctor",
        "doctor:doctor",
        "Look into a webhook, name, certificate and answer, and say what is wrong: exit 1 when something is.",
        WEBHOOK_ID,
        JSON,
        settings=place,
    )


def record_commands(place: Sequence[Option]) -> Iterator[click.Command]:
    yield command(
        "import",
        "importing:import_records",
        "Import records into a workspace: FILE holds one a line; all of it is imported or nothing.",
        click.Argument(["file"], type=FILE),
        WORKSPACE,
        flag("--check", "Read everything and change nothing."),
        JSON,
        settings=place,
    )
    yield command(
        "export",
        "exporting:export_records",
        "Export the records of a workspace: one a line, and the files of its attachments.",
        WORKSPACE,
        option(
            "--output",
            FILE,
            "Where to; attachments' files go to a folder beside it. Without: standard output, without files.",
        ),
        settings=place,
    )
    yield command(
        "audit",
        "auditing:show",
        "Read the audit log: what was done through the API to tags of conversations, newest first.",
        WORKSPACE,
        option("--limit", click.IntRange(1, 1_000_000), "How many entries at most.", AUDIT_ENTRIES_SHOWN),
        JSON,
        settings=place,
    )
    yield command(
        "check",
        "checking:check_database",
        "Look the database over: recomputes every derived value, prints a line for each that differs.",
        settings=place,
    )
    yield command(
        "backup",
        "backup:back_up",
        "Back up an embedded desk, served or not: FOLDER becomes a data folder that can be served.",
        click.Argument(["folder"], type=FILE),
        settings=place,
    )


def receiver_commands() -> Iterator[click.Command]:
    """For those who receive webhooks: they need no data and no settings."""
    yield command(
        "listen",
        "listening:listen",
        "Receive webhooks here: each request is verified, shown and answered, badly if wanted.",
        option("--host", click.STRING, "The address to listen on.", "127.0.0.1"),
        option("--port", PORT, "The port; 0 for any that is free.", 9000),
        click.Option(
            ["--secret"],
            type=SECRET,
            multiple=True,
            metavar="HEX",
            help="The webhook's secret. Give it again for a second one, as during a rotation.",
        ),
        option("--status", STATUS, "The status of the answers. Without: 200, or 503 with --fail-first."),
        option("--delay", DURATION, "How long to wait before answering, such as 5s."),
        option("--retry-after", DURATION, "What the answers' Retry-After asks for, such as 30s."),
        flag("--drop", "Close the connection without an answer."),
        option("--fail-first", COUNT, "Misbehave so many times only; then answer 200 at once."),
        flag("--json", "Print one JSON object a line: where it listens, then each request."),
        settings=(),
    )
    yield command(
        "verify",
        "verifying:verify",
        "Check the signature of a webhook delivery: FILE holds the body as received, - is standard input.",
        click.Argument(["file"], type=FILE),
        required("--secret", TEXT, "The webhook's secret."),
        required("--signature", TEXT, "What the header X-Webhook-Signature held."),
        JSON,
        settings=(),
    )


def completion_command() -> click.Command:
    return click.Command(
        "completion",
        callback=print_script,
        params=[click.Argument(["shell"], type=click.Choice(SHELLS))],
        help='Print the completion script of a shell: eval "$(deskwire completion bash)".',
        short_help="Print the completion script of a shell.",
    )


def scopes_explained() -> str:
    width = max(map(len, SCOPES))
    lines = [f"  {scope.ljust(width)}  {grants}" for scope, grants in SCOPES.items()]
    return "\n".join(["\b", "Scopes:", *lines])


def remember_traceback(traceback: bool) -> None:
    current_session().shows_traceback = traceback


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
WEBHOOK_ID = click.Argument(["id"], type=ID, metavar="ID")
TOKEN_ID = click.Argument(["id"], type=ID, metavar="ID")
JSON = flag("--json", "Print one JSON object.")
