"""Looking after outbound webhooks: which there are, how they fare, what came of their deliveries."""

import click

from deskwire.cli.house import Invocation
from deskwire.cli.operation import run_read, run_write
from deskwire.cli.output import print_json, print_rows, print_table, printable, time_text
from deskwire.desk.delivery_logs import Logged, LogPage, list_logs
from deskwire.desk.webhooks import Backlog, count_backlog, list_all, locate_webhook, toggle_webhook
from deskwire.model.moments import Moment
from deskwire.model.times import format_time
from deskwire.model.webhooks import Toggled, WebhookRecord
from deskwire.store.transaction import Tx

Json = dict[str, str | int | bool | list[str] | Moment | None]


def show_all(invocation: Invocation, *, workspace: str | None, json: bool) -> None:
    webhooks = run_read(invocation, lambda tx: list_all(tx, workspace))
    if json:
        print_json({"webhooks": [described(*each) for each in webhooks]})
    elif webhooks:
        header = ("ID", "WORKSPACE", "STATUS", "FAILURES", "LAST DELIVERED", "URL", "NAME")
        print_table(header, [row_of(*each) for each in webhooks])
    else:
        click.echo("There are no webhooks.")


def show(invocation: Invocation, *, id: str, json: bool) -> None:
    async def find(tx: Tx) -> tuple[str, WebhookRecord, Backlog]:
        workspace_id, webhook = await locate_webhook(tx, id)
        return workspace_id, webhook, await count_backlog(tx, workspace_id, webhook)

    workspace_id, webhook, backlog = run_read(invocation, find)
    if json:
        print_json({**described(workspace_id, webhook), **backlog._asdict()})
        return
    print_rows(
        [
            ("id", webhook.id),
            ("workspace", workspace_id),
            ("name", webhook.name),
            ("url", webhook.url),
            ("events", ", ".join(webhook.event_filters) or "all"),
            ("status", webhook.status),
            ("failures in a row", f"{webhook.failure_count:,}"),
            ("failing since", time_text(webhook.failing_since, "it is not failing")),
            ("last error", webhook.error_message or "none since the last success"),
            ("last delivered", time_text(webhook.last_delivered_at, "never")),
            ("waiting", f"{backlog.waiting:,} events"),
            ("held", f"{backlog.held:,} events"),
            ("oldest of them", time_text(backlog.oldest_accepted_at, "there is none")),
        ]
    )


def show_logs(invocation: Invocation, *, id: str, limit: int, json: bool) -> None:
    async def find(tx: Tx) -> LogPage:
        workspace_id, _ = await locate_webhook(tx, id)
        return await list_logs(tx, workspace_id, id, limit, 0)

    page = run_read(invocation, find)
    if json:
        print_json({"entries": [entry_of(one) for one in page.logged], "total": page.total})
        return
    for one in page.logged:
        click.echo(printable(in_words(one)))
    if len(page.logged) < page.total:
        click.echo(f"There are {page.total:,} in all; --limit shows more.")
    elif not page.logged:
        click.echo("There was no attempt in the last 30 days.")


def toggle(invocation: Invocation, *, id: str, json: bool) -> None:
    async def turn(tx: Tx) -> tuple[Toggled, Backlog]:
        workspace_id, _ = await locate_webhook(tx, id)
        done = await toggle_webhook(tx, workspace_id, id)
        _, webhook = await locate_webhook(tx, id, workspace_id)
        return done, await count_backlog(tx, workspace_id, webhook)

    done, backlog = run_write(invocation, turn)
    if json:
        print_json({"id": done.id, "status": done.status, "failure_count": done.failure_count})
    elif done.status == "active":
        click.echo(f"The webhook is active; {backlog.waiting:,} events are waiting and are sent now.")
    else:
        click.echo(f"The webhook is inactive; {backlog.held:,} events are held, and new ones are not kept.")


def described(workspace_id: str, webhook: WebhookRecord) -> Json:
    return {
        "id": webhook.id,
        "workspace_id": workspace_id,
        "name": webhook.name,
        "url": webhook.url,
        "event_filters": list(webhook.event_filters),
        "status": webhook.status,
        "failure_count": webhook.failure_count,
        "failing_since": webhook.failing_since,
        "error_message": webhook.error_message,
        "last_delivered_at": webhook.last_delivered_at,
        "created_at": webhook.created_at,
        "updated_at": webhook.updated_at,
    }


def row_of(workspace_id: str, webhook: WebhookRecord) -> tuple[str, ...]:
    return (
        webhook.id,
        workspace_id,
        webhook.status,
        str(webhook.failure_count),
        time_text(webhook.last_delivered_at, "never"),
        webhook.url,
        webhook.name,
    )


def entry_of(logged: Logged) -> Json:
    entry = logged.entry
    return {
        "id": entry.id,
        "event_type": entry.event_type,
        "is_test": logged.is_test,
        "success": entry.success,
        "http_status": entry.http_status or None,
        "error_message": entry.error_message or None,
        "duration_ms": entry.duration_ms,
        "created_at": entry.created_at,
    }


def in_words(logged: Logged) -> str:
    entry = logged.entry
    test = " (test)" if logged.is_test else ""
    status = f" {entry.http_status}" if entry.http_status else ""
    outcome = f"delivered,{status}" if entry.success else f"failed,{status} {entry.error_message or ''}"
    return (
        f"{format_time(entry.created_at)} #{entry.id} {entry.event_type}{test}: "
        f"{' '.join(outcome.split()).rstrip(',')} in {entry.duration_ms:,} ms"
    )
