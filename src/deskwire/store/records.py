"""Writing a record with all that follows from it, and reading records and documents back.

Nothing else writes a resource's row, so its columns and its documents cannot drift apart.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import asdict

from deskwire.model.cursors import Position
from deskwire.model.moments import Moment, encode_moment
from deskwire.store.kinds import Kind, R
from deskwire.store.statement import Row, Value
from deskwire.store.transaction import Tx

FIRST = Position(created_at=2**62, id="ffffffff-ffff-ffff-ffff-ffffffffffff")

ENCODER = msgspec.json.Encoder(enc_hook=encode_moment)


async def put(
    tx: Tx, kind: Kind[R], workspace_id: str, record: R, *, shown: R | None = None, **beside: Value
) -> None:
    await tx.run(kind.upsert, **row_of(kind, workspace_id, record, shown=shown, **beside))


def render(kind: Kind[R], record: R) -> bytes:
    """The document of a record."""
    return ENCODER.encode(kind.documents["document"](record))


async def put_all(tx: Tx, kind: Kind[R], workspace_id: str, records: Iterable[R]) -> None:
    await tx.many(kind.upsert, [row_of(kind, workspace_id, record) for record in records])


def row_of(
    kind: Kind[R], workspace_id: str, record: R, *, shown: R | None = None, **beside: Value
) -> dict[str, Value]:
    """The row of a record; `shown` is the record as the API may see it, where that is not the same."""
    # More than the columns; a statement takes what it names.
    row: dict[str, Value] = asdict(record)
    row["workspace_id"] = workspace_id
    row["updated_at"] = record.updated_at if record.updated_at is not None else record.created_at
    row["visible"] = record.visible()
    for column, show in kind.documents.items():
        row[column] = ENCODER.encode(show(record if shown is None else shown))
    for column, derive in kind.derived.items():
        row[column] = derive(record)
    row.update(beside)
    return row


async def load(tx: Tx, kind: Kind[R], workspace_id: str, id: str, **more: Any) -> R | None:
    """The record as it is kept, shown or not; what other tables keep of it is given as `more`."""
    row = await tx.one(kind.load, workspace_id=workspace_id, id=id)
    return None if row is None else from_row(kind, row, **more)


def from_row(kind: Kind[R], row: Row, **more: Any) -> R:
    values: dict[str, Any] = dict(zip(kind.columns, row, strict=True))
    for name in kind.moments:
        if values[name] is not None:
            values[name] = Moment(values[name])
    for name in kind.flags:
        values[name] = bool(values[name])
    return kind.record(**values, **more)


async def find_document(tx: Tx, kind: Kind[R], workspace_id: str, id: str) -> bytes | None:
    row = await tx.one(kind.find, workspace_id=workspace_id, id=id)
    return None if row is None else document(row)


def document(row: Row) -> bytes:
    """The first column of a row, which holds the bytes that the API answers."""
    found = row[0]
    assert isinstance(found, bytes)
    return found
