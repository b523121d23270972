"""The list of workflows, which all come at once."""

from sqlalchemy import bindparam, select

from deskwire.store import tables
from deskwire.store.records import document
from deskwire.store.statement import Statement
from deskwire.store.transaction import Tx

LIST = Statement(
    select(tables.WORKFLOWS.c.document)
    .where(tables.WORKFLOWS.c.workspace_id == bindparam("workspace_id"), tables.WORKFLOWS.c.visible)
    .order_by(tables.WORKFLOWS.c.created_at.desc(), tables.WORKFLOWS.c.id.desc())
)


async def list_workflows(tx: Tx, workspace_id: str) -> list[bytes]:
    return [document(row) for row in await tx.all(LIST, workspace_id=workspace_id)]
