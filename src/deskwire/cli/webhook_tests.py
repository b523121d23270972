"""Sending a webhook one event by hand, an example, to see whether and how it arrives."""

from typing import NamedTuple

from msgspec import Raw

from deskwire.cli.house import Invocation, Messenger, OpenHouse
from deskwire.cli.operation import run_open
from deskwire.cli.output import print_json, print_rows
from deskwire.desk.webhook_tests import log_test
from deskwire.desk.webhooks import locate_webhook
from deskwire.model.deliveries import Delivered, Outcome
from deskwire.model.event_examples import example_for
from deskwire.model.events import EventKind
from deskwire.model.webhooks import EVENT_KINDS, WebhookRecord
from deskwire.store.clock import system_clock


class Sent(NamedTuple):
    """A test, what came of it, and its number in the webhook's log."""

    kind: EventKind
    body: bytes
    outcome: Outcome
    log_id: int


def test(invocation: Invocation, *, id: str, kind: EventKind | None, json: bool) -> int:
    async def work(house: OpenHouse) -> tuple[WebhookRecord, Sent]:
        workspace_id, webhook = await house.store.read(lambda tx: locate_webhook(tx, id))
        async with invocation.house.open_messenger(invocation.options) as messenger:
            return webhook, await send_test(house, messenger, workspace_id, webhook, kind)

    webhook, sent = run_open(invocation, work)
    if json:
        print_json({"id": webhook.id, "url": webhook.url, **described(sent), "body": Raw(sent.body)})
    else:
        print_rows(
            [
                ("sent", f"{sent.kind}, an example, {len(sent.body):,} bytes, signed"),
                ("to", webhook.url),
                ("outcome", in_words(sent.outcome)),
                ("duration", f"{sent.outcome.duration_ms:,} ms"),
                ("log entry", f"#{sent.log_id}, marked as a test"),
            ]
        )
    return 0 if isinstance(sent.outcome, Delivered) else 1


async def send_test(
    house: OpenHouse,
    messenger: Messenger,
    workspace_id: str,
    webhook: WebhookRecord,
    kind: EventKind | None = None,
) -> Sent:
    """Of a kind that the receiver knows, where none is given."""
    chosen: EventKind = kind or (webhook.event_filters or EVENT_KINDS)[0]
    body = example_for(chosen, workspace_id, system_clock())
    outcome = await messenger.send(webhook, body)
    log_id = await house.store.write(lambda tx: log_test(tx, workspace_id, webhook.id, chosen, outcome))
    return Sent(chosen, body, outcome, log_id)


def described(sent: Sent) -> dict[str, str | int | bool | None]:
    return {
        "event_type": sent.kind,
        "success": isinstance(sent.outcome, Delivered),
        "http_status": getattr(sent.outcome, "http_status", None),
        "error_message": getattr(sent.outcome, "error", None),
        "duration_ms": sent.outcome.duration_ms,
        "log_id": sent.log_id,
    }


def in_words(outcome: Outcome) -> str:
    match outcome:
        case Delivered(http_status=status):
            return f"delivered, the receiver answered {status}"
        case failed:
            return f"failed: {failed.error}"
