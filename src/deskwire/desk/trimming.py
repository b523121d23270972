"""Removing what has expired, in steps so small that nobody waits for one."""

from collections.abc import Awaitable, Callable
from functools import partial

from sqlalchemy import BigInteger, Table, bindparam, delete, select

from deskwire.desk.delivery_logs import next_logged_webhook, trim_logs
from deskwire.desk.idempotency import trim_answers
from deskwire.model.ids import first_id_at
from deskwire.model.limits import EVENT_LIFETIME_US, NOTICE_LIFETIME_US, TRIMMED_AT_ONCE
from deskwire.model.moments import Moment
from deskwire.store.statement import Statement
from deskwire.store.tables import EVENTS, NOTICES
from deskwire.store.transaction import Store, Tx
from deskwire.store.whole import START

# An id is no more exact than that; among those of one millisecond, the time beside it decides.
MILLISECOND_US = 1_000

# Removes up to as many rows of a workspace as it is told; answers how many it were.
Step = Callable[[Tx, str, int], Awaitable[int]]


def trim_by_id(table: Table, time: str) -> Statement:
    """The oldest rows: their ids begin with the time, so that takes no index of its own."""
    # Materialized, the choice is made once; PostgreSQL may otherwise make it anew, and remove more than that.
    chosen = (
        select(table.c.id)
        .where(
            table.c.workspace_id == bindparam("workspace_id"),
            table.c.id < bindparam("before"),
            table.c[time] <= bindparam("expired_at", type_=BigInteger()),
        )
        .order_by(table.c.id)
        .limit(bindparam("limit"))
        .with_for_update(skip_locked=True)
        .cte("chosen")
        .prefix_with("MATERIALIZED")
    )
    return Statement(
        delete(table)
        .where(table.c.workspace_id == bindparam("workspace_id"), table.c.id.in_(select(chosen.c.id)))
        .returning(table.c.id)
    )


TRIM_EVENTS = trim_by_id(EVENTS, "accepted_at")
TRIM_NOTICES = trim_by_id(NOTICES, "created_at")


async def trim_workspace(store: Store, workspace_id: str, pause: Callable[[], Awaitable[None]]) -> int:
    """Removes all that has expired, pausing after each step; answers how many rows it were."""
    removed = 0
    for step in (trim_events, trim_notices, trim_answers):
        removed += await repeat(store, workspace_id, step, pause)
    after = START
    while True:
        webhook_id = await store.read(partial(next_logged_webhook, workspace_id=workspace_id, after=after))
        if webhook_id is None:
            return removed
        removed += await repeat(store, workspace_id, partial(trim_logs_of, webhook_id), pause)
        after = webhook_id


async def trim_events(tx: Tx, workspace_id: str, limit: int) -> int:
    return await trim(tx, TRIM_EVENTS, workspace_id, EVENT_LIFETIME_US, limit)


async def trim_notices(tx: Tx, workspace_id: str, limit: int) -> int:
    return await trim(tx, TRIM_NOTICES, workspace_id, NOTICE_LIFETIME_US, limit)


async def trim(tx: Tx, statement: Statement, workspace_id: str, lifetime_us: int, limit: int) -> int:
    expired_at = Moment(tx.now - lifetime_us)
    rows = await tx.all(
        statement,
        workspace_id=workspace_id,
        before=first_id_at(Moment(expired_at + MILLISECOND_US)),
        expired_at=expired_at,
        limit=limit,
    )
    return len(rows)


async def trim_logs_of(webhook_id: str, tx: Tx, workspace_id: str, limit: int) -> int:
    return await trim_logs(tx, workspace_id, webhook_id, limit)


async def repeat(store: Store, workspace_id: str, step: Step, pause: Callable[[], Awaitable[None]]) -> int:
    removed = 0
    while True:
        count = await store.write(lambda tx: step(tx, workspace_id, TRIMMED_AT_ONCE))
        removed += count
        await pause()
        if count < TRIMMED_AT_ONCE:
            return removed
