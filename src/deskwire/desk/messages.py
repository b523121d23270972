"""Reading the messages of a channel."""

from sqlalchemy import and_, bindparam, select, tuple_

from deskwire.desk.pages import Page, page_of
from deskwire.desk.reading import find
from deskwire.model.cursors import Position
from deskwire.model.errors import not_found
from deskwire.store import kinds
from deskwire.store.records import document
from deskwire.store.statement import Statement
from deskwire.store.tables import CHANNELS, MESSAGES
from deskwire.store.transaction import Tx

WINDOW = (
    select(MESSAGES.c.document)
    .where(
        MESSAGES.c.workspace_id == bindparam("workspace_id"),
        MESSAGES.c.channel_id == bindparam("channel_id"),
        MESSAGES.c.visible,
        MESSAGES.c.created_at > bindparam("since"),
        MESSAGES.c.created_at <= bindparam("until"),
    )
    .order_by(MESSAGES.c.created_at.desc(), MESSAGES.c.id.desc())
    .limit(bindparam("limit"))
)
# SQLite compares a position with every row, which the first page can do without.
FIRST_PAGE = Statement(WINDOW)
FURTHER_PAGE = Statement(
    WINDOW.where(
        tuple_(MESSAGES.c.created_at, MESSAGES.c.id) < tuple_(bindparam("created_at"), bindparam("id"))
    )
)

# What is in a deleted channel is as absent as the channel.
FIND = Statement(
    select(MESSAGES.c.document)
    .join(
        CHANNELS,
        and_(CHANNELS.c.workspace_id == MESSAGES.c.workspace_id, CHANNELS.c.id == MESSAGES.c.channel_id),
    )
    .where(
        MESSAGES.c.workspace_id == bindparam("workspace_id"),
        MESSAGES.c.id == bindparam("id"),
        MESSAGES.c.visible,
        CHANNELS.c.visible,
    )
)


async def list_messages(
    tx: Tx,
    workspace_id: str,
    channel_id: str,
    *,
    since: int,
    until: int,
    limit: int,
    after: Position | None,
) -> Page:
    await find(tx, kinds.CHANNELS, workspace_id, channel_id)
    if after is not None:
        # SQLite enters the index at `until`, so a page further down has to say that it begins there.
        until = min(until, after.created_at)
    return await page_of(
        tx,
        FIRST_PAGE if after is None else FURTHER_PAGE,
        limit,
        after,
        workspace_id=workspace_id,
        channel_id=channel_id,
        since=since,
        until=until,
    )


async def find_message(tx: Tx, workspace_id: str, id: str) -> bytes:
    row = await tx.one(FIND, workspace_id=workspace_id, id=id)
    if row is None:
        raise not_found("message")
    return document(row)
