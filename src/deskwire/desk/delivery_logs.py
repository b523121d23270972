"""The delivery log of a webhook: pages of it, newest first, and what of it has expired.

The entries of a webhook are numbered 1, 2, 3… and expire in that order. So how many there are, and where a
page begins, follows from the first number and the last one, however many entries are between them.
"""

from typing import NamedTuple, cast

from msgspec import UNSET
from sqlalchemy import BigInteger, bindparam, delete, select

from deskwire.model.errors import not_found
from deskwire.model.limits import DELIVERY_LOG_LIFETIME_US
from deskwire.model.moments import Moment
from deskwire.model.shapes import shown_text
from deskwire.model.webhooks import DeliveryLogEntry
from deskwire.store.statement import Row, Statement
from deskwire.store.tables import DELIVERY_LOGS, WEBHOOKS
from deskwire.store.transaction import Tx

LOGS = DELIVERY_LOGS.c
OF_WEBHOOK = (
    LOGS.workspace_id == bindparam("workspace_id"),
    LOGS.webhook_id == bindparam("webhook_id"),
)
LAST_GIVEN = Statement(
    select(WEBHOOKS.c.last_log_id).where(
        WEBHOOKS.c.workspace_id == bindparam("workspace_id"), WEBHOOKS.c.id == bindparam("webhook_id")
    )
)
OLDEST = Statement(select(LOGS.id, LOGS.created_at).where(*OF_WEBHOOK).order_by(LOGS.id).limit(1))
NEWEST = Statement(select(LOGS.id).where(*OF_WEBHOOK).order_by(LOGS.id.desc()).limit(1))
TIME_OF = Statement(select(LOGS.created_at).where(*OF_WEBHOOK, LOGS.id == bindparam("id")))
PAGE = Statement(
    select(
        LOGS.id,
        LOGS.event_type,
        LOGS.success,
        LOGS.http_status,
        LOGS.error_message,
        LOGS.duration_ms,
        LOGS.created_at,
        LOGS.is_test,
    )
    .where(
        *OF_WEBHOOK,
        LOGS.id >= bindparam("first", type_=BigInteger()),
        LOGS.id <= bindparam("newest", type_=BigInteger()),
    )
    .order_by(LOGS.id.desc())
    .limit(bindparam("limit"))
)
NEXT_WEBHOOK = Statement(
    select(LOGS.webhook_id)
    .where(LOGS.workspace_id == bindparam("workspace_id"), LOGS.webhook_id > bindparam("after"))
    .order_by(LOGS.webhook_id)
    .limit(1)
)
# Materialized, the choice is made once; PostgreSQL may otherwise make it anew, and remove more than that.
CHOSEN = (
    select(LOGS.id)
    .where(*OF_WEBHOOK, LOGS.id < bindparam("first", type_=BigInteger()))
    .order_by(LOGS.id)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
    .cte("chosen")
    .prefix_with("MATERIALIZED")
)
TRIM = Statement(
    delete(DELIVERY_LOGS).where(*OF_WEBHOOK, LOGS.id.in_(select(CHOSEN.c.id))).returning(LOGS.id)
)


class Logged(NamedTuple):
    """An entry, and whether an operator asked for it with a test."""

    entry: DeliveryLogEntry
    is_test: bool


class LogPage(NamedTuple):
    logged: list[Logged]
    total: int


async def list_logs(tx: Tx, workspace_id: str, webhook_id: str, limit: int, offset: int) -> LogPage:
    row = await tx.one(LAST_GIVEN, workspace_id=workspace_id, webhook_id=webhook_id)
    if row is None:
        raise not_found("webhook")
    last = cast(int, row[0])
    first = await first_kept(tx, workspace_id, webhook_id, last)
    total = last - first + 1
    if offset >= total:
        return LogPage([], total)
    rows = await tx.all(
        PAGE,
        workspace_id=workspace_id,
        webhook_id=webhook_id,
        first=first,
        newest=last - offset,
        limit=limit,
    )
    return LogPage([logged_of(webhook_id, row) for row in rows], total)


async def first_kept(tx: Tx, workspace_id: str, webhook_id: str, last: int) -> int:
    """The number of the oldest entry that has not expired; where there is none, the one after the last.

    Expired entries may be there still, any number of them, so their end is looked for by halving.
    """
    expired_at = tx.now - DELIVERY_LOG_LIFETIME_US
    mine = {"workspace_id": workspace_id, "webhook_id": webhook_id}
    oldest = await tx.one(OLDEST, **mine)
    if oldest is None:
        return last + 1
    expired, created_at = cast("tuple[int, int]", oldest)
    if created_at > expired_at:
        return expired
    kept = last + 1
    while kept - expired > 1:
        middle = (expired + kept) // 2
        row = await tx.one(TIME_OF, **mine, id=middle)
        # One that is not there was removed meanwhile.
        if row is None or cast(int, row[0]) <= expired_at:
            expired = middle
        else:
            kept = middle
    return kept


async def next_logged_webhook(tx: Tx, workspace_id: str, after: str) -> str | None:
    """In the order of their ids, those that were deleted too."""
    row = await tx.one(NEXT_WEBHOOK, workspace_id=workspace_id, after=after)
    return None if row is None else str(row[0])


async def trim_logs(tx: Tx, workspace_id: str, webhook_id: str, limit: int) -> int:
    """Removes so many expired entries, the oldest first; answers how many it were."""
    mine = {"workspace_id": workspace_id, "webhook_id": webhook_id}
    newest = await tx.one(NEWEST, **mine)
    if newest is None:
        return 0
    first = await first_kept(tx, workspace_id, webhook_id, cast(int, newest[0]))
    return len(await tx.all(TRIM, **mine, first=first, limit=limit))


def logged_of(webhook_id: str, row: Row) -> Logged:
    id, event_type, success, http_status, error_message, duration_ms, created_at, is_test = row
    entry = DeliveryLogEntry(
        id=cast(int, id),
        webhook_id=webhook_id,
        event_type=str(event_type),
        success=bool(success),
        http_status=UNSET if http_status is None else cast(int, http_status),
        error_message=shown_text(cast("str | None", error_message)),
        duration_ms=cast(int, duration_ms),
        created_at=Moment(cast(int, created_at)),
    )
    return Logged(entry, bool(is_test))
