"""Reading and writing a webhook's row: its columns and its document together."""

from collections.abc import Sequence
from typing import cast

import msgspec
from sqlalchemy import and_, bindparam, select, update

from deskwire.model.events import EventKind
from deskwire.model.moments import Moment
from deskwire.model.webhooks import WebhookRecord, WebhookStatus, show_webhook, subscribed_bits
from deskwire.store.records import ENCODER
from deskwire.store.statement import Row, Statement, Value, upsert
from deskwire.store.tables import WEBHOOKS
from deskwire.store.transaction import Tx

COLUMNS = WebhookRecord.__struct_fields__
MINE = and_(WEBHOOKS.c.workspace_id == bindparam("workspace_id"), WEBHOOKS.c.id == bindparam("id"))
SELECTED = select(*(WEBHOOKS.c[name] for name in COLUMNS)).where(MINE)
LOAD = Statement(SELECTED)
LOCK = Statement(SELECTED.with_for_update(key_share=True))
LOCK_WHOLLY = Statement(SELECTED.with_for_update())
PUT = upsert(WEBHOOKS)
# What deliveries change, and nobody else but in a transaction that has locked the row.
HEALTH = (
    "status",
    "failure_count",
    "last_delivered_at",
    "error_message",
    "failing_since",
    "noticed_at",
    "last_log_id",
    "updated_at",
    "document",
)
PUT_HEALTH = Statement(
    update(WEBHOOKS)
    .where(WEBHOOKS.c.workspace_id == bindparam("workspace"), WEBHOOKS.c.id == bindparam("mine"))
    .values({name: bindparam(name) for name in HEALTH})
)


async def load_webhook(tx: Tx, workspace_id: str, id: str) -> WebhookRecord | None:
    return from_row(await tx.one(LOAD, workspace_id=workspace_id, id=id))


async def lock_webhook(tx: Tx, workspace_id: str, id: str) -> WebhookRecord | None:
    """Nobody else changes it until the transaction ends."""
    return from_row(await tx.one(LOCK, workspace_id=workspace_id, id=id))


async def lock_webhook_wholly(tx: Tx, workspace_id: str, id: str) -> WebhookRecord | None:
    """Beyond that, no event is accepted for it meanwhile, and all that were are to be seen."""
    return from_row(await tx.one(LOCK_WHOLLY, workspace_id=workspace_id, id=id))


async def put_webhook(tx: Tx, workspace_id: str, webhook: WebhookRecord) -> bytes:
    """Answers its document."""
    document = ENCODER.encode(show_webhook(webhook))
    values: dict[str, Value] = {name: getattr(webhook, name) for name in COLUMNS}
    values |= {
        "workspace_id": workspace_id,
        "event_filters": msgspec.json.encode(webhook.event_filters).decode(),
        "kind_bits": subscribed_bits(webhook.event_filters),
        "document": document,
    }
    await tx.run(PUT, **values)
    return document


async def put_health(tx: Tx, workspace_id: str, webhook: WebhookRecord) -> None:
    document = ENCODER.encode(show_webhook(webhook))
    values: dict[str, Value] = {name: getattr(webhook, name) for name in HEALTH[:-1]}
    await tx.run(PUT_HEALTH, workspace=workspace_id, mine=webhook.id, document=document, **values)


def from_row(row: Row | None) -> WebhookRecord | None:
    if row is None:
        return None
    values = dict(zip(COLUMNS, row, strict=True))

    def moment(name: str) -> Moment | None:
        value = cast(int | None, values[name])
        return None if value is None else Moment(value)

    filters: Sequence[EventKind] = msgspec.json.decode(str(values["event_filters"]), type=list[EventKind])
    return WebhookRecord(
        id=str(values["id"]),
        name=str(values["name"]),
        url=str(values["url"]),
        event_filters=tuple(filters),
        status=cast(WebhookStatus, values["status"]),
        secret=cast(bytes, values["secret"]),
        failure_count=cast(int, values["failure_count"]),
        last_delivered_at=moment("last_delivered_at"),
        error_message=cast(str | None, values["error_message"]),
        failing_since=moment("failing_since"),
        noticed_at=moment("noticed_at"),
        last_log_id=cast(int, values["last_log_id"]),
        created_at=Moment(cast(int, values["created_at"])),
        updated_at=Moment(cast(int, values["updated_at"])),
    )
