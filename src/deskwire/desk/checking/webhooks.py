"""Webhooks: what follows from their columns, the last number of their logs, and the events on their way."""

from collections.abc import AsyncIterator, Iterator

import msgspec
from sqlalchemy import BigInteger, and_, bindparam, func, select

from deskwire.desk.checking.counts import number
from deskwire.desk.checking.differences import difference
from deskwire.desk.webhook_rows import COLUMNS, from_row
from deskwire.model.limits import EVENT_LIFETIME_US, RECORD_BATCH
from deskwire.model.webhooks import show_webhook, subscribed_bits
from deskwire.store.records import ENCODER
from deskwire.store.statement import Row, Statement
from deskwire.store.tables import DELIVERIES, DELIVERY_LOGS, EVENTS, WEBHOOKS
from deskwire.store.transaction import Tx
from deskwire.store.whole import START

LAST_LOGGED = (
    select(func.max(DELIVERY_LOGS.c.id))
    .where(
        DELIVERY_LOGS.c.workspace_id == WEBHOOKS.c.workspace_id,
        DELIVERY_LOGS.c.webhook_id == WEBHOOKS.c.id,
    )
    .correlate(WEBHOOKS)
    .scalar_subquery()
)
NEXT_WEBHOOKS = Statement(
    select(*(WEBHOOKS.c[name] for name in COLUMNS), WEBHOOKS.c.kind_bits, WEBHOOKS.c.document, LAST_LOGGED)
    .where(WEBHOOKS.c.workspace_id == bindparam("workspace_id"), WEBHOOKS.c.id > bindparam("after"))
    .order_by(WEBHOOKS.c.id)
    .limit(bindparam("limit"))
)
# What was accepted earlier is given up when it is next looked at, and its event may have gone before that.
UNLIKE_THEIR_EVENTS = Statement(
    select(
        DELIVERIES.c.event_id,
        DELIVERIES.c.webhook_id,
        DELIVERIES.c.accepted_at,
        EVENTS.c.accepted_at,
    )
    .outerjoin(
        EVENTS,
        and_(EVENTS.c.workspace_id == DELIVERIES.c.workspace_id, EVENTS.c.id == DELIVERIES.c.event_id),
    )
    .where(
        DELIVERIES.c.workspace_id == bindparam("workspace_id"),
        DELIVERIES.c.accepted_at > bindparam("since", type_=BigInteger()),
        EVENTS.c.accepted_at.is_distinct_from(DELIVERIES.c.accepted_at),
    )
    .order_by(DELIVERIES.c.webhook_id, DELIVERIES.c.event_id)
    .limit(bindparam("limit"))
)


async def check_webhooks(tx: Tx, workspace_id: str) -> AsyncIterator[str]:
    after = START
    while rows := await tx.all(NEXT_WEBHOOKS, workspace_id=workspace_id, after=after, limit=RECORD_BATCH):
        for row in rows:
            for line in webhook_differences(row):
                yield line
        after = str(rows[-1][0])


async def check_deliveries(tx: Tx, workspace_id: str) -> AsyncIterator[str]:
    """Their webhook may have been deleted, their event may not."""
    rows = await tx.all(
        UNLIKE_THEIR_EVENTS, workspace_id=workspace_id, since=tx.now - EVENT_LIFETIME_US, limit=RECORD_BATCH
    )
    for event_id, webhook_id, kept, right in rows:
        where = f"{webhook_id!s} {event_id!s}"
        if right is None:
            yield f"deliveries {where}: event_id is {event_id!s} and should be the id of a row that is there"
        else:
            for line in difference("deliveries", where, "accepted_at", kept, right):
                yield line


def webhook_differences(row: Row) -> Iterator[str]:
    *columns, kind_bits, document, last_logged = row
    try:
        webhook = from_row(tuple(columns))
    except msgspec.MsgspecError as problem:
        yield f"webhooks {columns[0]!s}: event_filters cannot be read ({problem})"
        return
    assert webhook is not None
    for column, kept, right in (
        ("document", document, ENCODER.encode(show_webhook(webhook))),
        ("kind_bits", kind_bits, subscribed_bits(webhook.event_filters)),
        ("last_log_id", webhook.last_log_id, max(webhook.last_log_id, number(last_logged))),
    ):
        yield from difference("webhooks", webhook.id, column, kept, right)
