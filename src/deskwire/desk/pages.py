"""A page of a list: the documents of up to `limit` rows, newest first, and where the next page begins."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
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
    """A page of a statement that takes a position and a limit, and answers documents."""
    position = after or FIRST
    rows = await tx.all(statement, **values, created_at=position.created_at, id=position.id, limit=limit + 1)
    return cut(rows, limit)


def cut(rows: Sequence[Row], limit: int) -> Page:
    """The page that rows of a document each make; one more of them than the limit says that there is more."""
    documents = cast("list[bytes]", [row[0] for row in rows])
    if len(documents) <= limit:
        return Page(documents)
    del documents[limit:]
    return Page(documents, position_of(documents[-1]))


def position_of(document: bytes) -> Position:
    """Every listed document says itself where it stands in its list."""
    place = PLACES.decode(document)
    return Position(created_at=(place.created_at - EPOCH) // MICROSECOND, id=place.id)


class Place(msgspec.Struct):
    id: str
    created_at: datetime


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
PLACES = msgspec.json.Decoder(Place)
