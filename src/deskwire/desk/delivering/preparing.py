"""What to send for a claimed delivery, looked up anew before each attempt."""

from collections.abc import Sequence
from typing import NamedTuple, cast

from sqlalchemy import Column, ColumnElement, Table, and_, bindparam, func, select, true

from deskwire.desk.delivering.claiming import Claim
from deskwire.model.deliveries import horizon
from deskwire.model.events import EventKind
from deskwire.model.moments import Moment
from deskwire.store.statement import Among, Row, Statement
from deskwire.store.tables import CHANNELS, DELIVERIES, EVENTS, MESSAGES, WEBHOOKS
from deskwire.store.transaction import Tx


def of_the_same(table: Table, id: "Column[str]") -> ColumnElement[bool]:
    """The row with this id in the workspace of the delivery."""
    return and_(table.c.workspace_id == DELIVERIES.c.workspace_id, table.c.id == id)


FIND = Statement(
    select(
        DELIVERIES.c.event_id,
        DELIVERIES.c.fence,
        WEBHOOKS.c.status,
        WEBHOOKS.c.url,
        WEBHOOKS.c.secret,
        EVENTS.c.kind,
        EVENTS.c.body,
        EVENTS.c.cause,
        func.coalesce(MESSAGES.c.visible, true()),
        func.coalesce(CHANNELS.c.visible, true()),
    )
    .select_from(DELIVERIES)
    .outerjoin(WEBHOOKS, of_the_same(WEBHOOKS, DELIVERIES.c.webhook_id))
    .outerjoin(EVENTS, of_the_same(EVENTS, DELIVERIES.c.event_id))
    .outerjoin(MESSAGES, of_the_same(MESSAGES, EVENTS.c.subject_id))
    .outerjoin(CHANNELS, of_the_same(CHANNELS, DELIVERIES.c.order_key))
    .where(
        DELIVERIES.c.workspace_id == bindparam("workspace_id"),
        DELIVERIES.c.webhook_id == bindparam("webhook_id"),
        Among(DELIVERIES.c.event_id, "event_ids"),
    )
)


class Ready(NamedTuple):
    """It can be sent; the secret is sealed."""

    url: str
    secret: bytes
    kind: EventKind
    body: bytes
    cause: str | None


class Stopped(NamedTuple):
    """Its webhook is not active: it is to be held."""


class Useless(NamedTuple):
    """It is too old, or its webhook or what it tells of was deleted: it is to be given up."""

    reason: str


class Lost(NamedTuple):
    """Somebody else has it."""


Prepared = Ready | Stopped | Useless | Lost


async def prepare(tx: Tx, workspace_id: str, webhook_id: str, claims: Sequence[Claim]) -> list[Prepared]:
    """For claims of one webhook, in their order."""
    ids = [claim.event_id for claim in claims]
    rows = await tx.all(FIND, workspace_id=workspace_id, webhook_id=webhook_id, event_ids=ids)
    found = {str(row[0]): row for row in rows}
    return [prepared(claim, found.get(claim.event_id), tx.now) for claim in claims]


def prepared(claim: Claim, row: Row | None, now: Moment) -> Prepared:
    if row is None or row[1] != claim.fence:
        return Lost()
    _, _, status, url, secret, kind, body, cause, has_message, has_channel = row
    if status is None:
        return Useless("its webhook was deleted")
    if kind is None:
        return Useless("its event is no longer kept")
    if not (has_message and has_channel):
        return Useless("its message or channel was deleted")
    if now >= horizon(claim.accepted_at):
        return Useless("its event was accepted more than 24 hours ago")
    if status != "active":
        return Stopped()
    return Ready(
        str(url),
        cast(bytes, secret),
        cast(EventKind, kind),
        cast(bytes, body),
        cast(str | None, cause),
    )
