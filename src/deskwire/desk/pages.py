"""A page of a list: the documents of up to `limit` rows, newest first, and where the next page begins."""

from collections.abc import Sequence
from typing import cast

import msgspec

from deskwire.model.cursors import Position
from deskwire.store.kinds import Kind, R
from deskwire.store.records import FIRST
from deskwire.store.statement import Row, Statement
from deskwire.store.transaction import Tx


class Page(msgspec.Struct):
    """`next` is the position of the last row shown, and None when nothing comes after it."""

    documents: list[bytes]
    next: Position | None = None


async def list_page(
    tx: Tx,
    kind: Kind[R],
    workspace_id: str,
    limit: int,
    after: Position | None,
    document: str = "document",
) -> Page:
    return await page_of(tx, kind.pages[document], limit, after, workspace_id=workspace_id)


async def page_of(
    tx: Tx, statement: Statement, limit: int, after: Position | None, **values: str | int
) -> Page:
    """A page of a statement that takes a position and a limit, and answers document, created_at and id."""
    position = after or FIRST
    rows = await tx.all(statement, **values, created_at=position.created_at, id=position.id, limit=limit + 1)
    return cut(rows, limit)


def cut(rows: Sequence[Row], limit: int) -> Page:
    """The page that rows make; one more of them than the limit says that there is more."""
    if len(rows) <= limit:
        return Page(documents(rows))
    shown = rows[:limit]
    return Page(documents(shown), position_of(shown[-1]))


def documents(rows: Sequence[Row]) -> list[bytes]:
    return cast("list[bytes]", [row[0] for row in rows])


def position_of(row: Row) -> Position:
    _, created_at, id = row
    assert isinstance(created_at, int) and isinstance(id, str)
    return Position(created_at=created_at, id=id)
