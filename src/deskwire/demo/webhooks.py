"""The demo's outbound webhooks: switched off, so that nothing is sent anywhere, with logs of better days."""

from typing import NamedTuple

from msgspec.structs import replace

from deskwire.desk.delivering.recording import LOG, Attempt, log_row
from deskwire.desk.identity import new_id, new_webhook_secret
from deskwire.desk.sealing import Seal
from deskwire.desk.webhook_rows import put_webhook
from deskwire.model.deliveries import Delivered, Outcome, Refused, Unreachable
from deskwire.model.events import EventKind
from deskwire.model.moments import Moment
from deskwire.model.webhooks import WebhookRecord, after_failed_cycle, after_success
from deskwire.store.transaction import Tx

MINUTE_US = 60 * 1_000_000
DAY_MINUTES = 24 * 60


class Receiver(NamedTuple):
    """Its attempts are given with the minutes that have gone by since."""

    name: str
    url: str
    event_filters: tuple[EventKind, ...]
    attempts: tuple[tuple[int, EventKind, Outcome], ...]


RECEIVERS = (
    Receiver(
        "Order desk",
        "https://orders.bicycles.example/deskwire",
        (),
        (
            (190, "contact.created", Delivered(200, 64)),
            (185, "channel.created", Delivered(200, 58)),
            (184, "message.created", Refused(503, 91, "the receiver answered 503")),
            (183, "message.created", Delivered(200, 72)),
            (150, "channel.assigned", Delivered(200, 55)),
            (122, "message.created", Delivered(200, 61)),
            (95, "channel.closed", Delivered(200, 57)),
        ),
    ),
    Receiver(
        "Reports",
        "https://reports.bicycles.example/hooks/closed",
        ("channel.closed", "channel.reopened"),
        (
            (2 * DAY_MINUTES, "channel.closed", Delivered(204, 133)),
            (95, "channel.closed", Unreachable(10_002, "no answer within 10 s")),
        ),
    ),
)


async def make_webhooks(tx: Tx, workspace_id: str, seal: Seal) -> None:
    for at, receiver in enumerate(RECEIVERS):
        await make_webhook(
            tx, workspace_id, seal, receiver, Moment(tx.now - (30 + at) * DAY_MINUTES * MINUTE_US)
        )


async def make_webhook(tx: Tx, workspace_id: str, seal: Seal, receiver: Receiver, created_at: Moment) -> None:
    id = new_id()
    webhook = WebhookRecord(
        id=id,
        name=receiver.name,
        url=receiver.url,
        event_filters=receiver.event_filters,
        secret=seal.seal(new_webhook_secret().encode(), id),
        last_log_id=len(receiver.attempts),
        created_at=created_at,
        updated_at=created_at,
    )
    for number, (minutes, kind, outcome) in enumerate(receiver.attempts, start=1):
        attempt = Attempt(kind, Moment(tx.now - minutes * MINUTE_US), outcome)
        if isinstance(outcome, Delivered):
            webhook = after_success(webhook, attempt.ended_at)
        else:
            webhook = after_failed_cycle(webhook, attempt.ended_at, outcome.error, counts=True)
        row = log_row(number, None, attempt)
        await tx.run(LOG, workspace_id=workspace_id, webhook_id=id, **row)
    await put_webhook(tx, workspace_id, replace(webhook, status="inactive"))
