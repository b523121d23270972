"""The reads that every listed resource shares: one by its id, and those that a workspace has one of."""

from sqlalchemy import bindparam, select

from deskwire.model.errors import DeskError, not_found
from deskwire.store import tables
from deskwire.store.kinds import Kind, R
from deskwire.store.records import document, find_document
from deskwire.store.statement import Statement
from deskwire.store.transaction import Tx

FIND_WORKSPACE = Statement(
    select(tables.WORKSPACES.c.document).where(tables.WORKSPACES.c.id == bindparam("workspace_id"))
)
FIND_HOURS = Statement(
    select(tables.BUSINESS_HOURS.c.config).where(
        tables.BUSINESS_HOURS.c.workspace_id == bindparam("workspace_id")
    )
)


async def find(tx: Tx, kind: Kind[R], workspace_id: str, id: str) -> bytes:
    found = await find_document(tx, kind, workspace_id, id)
    if found is None:
        raise not_found(kind.noun)
    return found


async def find_workspace(tx: Tx, workspace_id: str) -> bytes:
    row = await tx.one(FIND_WORKSPACE, workspace_id=workspace_id)
    if row is None:
        raise DeskError("NOT_FOUND", "There is no such workspace.")
    return document(row)


async def find_hours(tx: Tx, workspace_id: str) -> bytes:
    row = await tx.one(FIND_HOURS, workspace_id=workspace_id)
    config = b"null" if row is None else document(row)
    return b'{"business_hours":' + config + b"}"
