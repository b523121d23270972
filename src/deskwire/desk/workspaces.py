"""Making a workspace with its owner, and listing the workspaces of a database."""

from typing import NamedTuple, cast

from sqlalchemy import select

from deskwire.desk.identity import new_id
from deskwire.desk.reading import FIND_WORKSPACE
from deskwire.model.errors import DeskError
from deskwire.model.moments import Moment
from deskwire.model.people import MemberRecord, Workspace, WorkspaceRecord, show_workspace
from deskwire.store import kinds
from deskwire.store.records import ENCODER, put
from deskwire.store.statement import Statement, upsert
from deskwire.store.tables import WORKSPACES
from deskwire.store.transaction import Tx

PUT = upsert(WORKSPACES, "name", "created_at", "updated_at", "document")
PUT_OWNER = upsert(WORKSPACES)
LIST = Statement(
    select(WORKSPACES.c.id, WORKSPACES.c.name, WORKSPACES.c.created_at).order_by(
        WORKSPACES.c.created_at, WORKSPACES.c.id
    )
)


class NewWorkspace(NamedTuple):
    workspace_id: str
    owner_member_id: str


async def create_workspace(
    tx: Tx, name: str, owner_email: str, workspace_id: str | None = None
) -> NewWorkspace:
    """A workspace that moves here may keep its id."""
    new = NewWorkspace(workspace_id or new_id(), new_id())
    if await tx.one(FIND_WORKSPACE, workspace_id=new.workspace_id) is not None:
        raise DeskError("CONFLICT", f"There is a workspace {new.workspace_id} already.")
    record = WorkspaceRecord(id=new.workspace_id, name=name, created_at=tx.now)
    await tx.run(PUT_OWNER, **row_of(record, owner_member_id=new.owner_member_id))
    owner = MemberRecord(
        id=new.owner_member_id,
        created_at=tx.now,
        email=owner_email,
        name=owner_email.partition("@")[0],
        role="owner",
    )
    await put(tx, kinds.MEMBERS, new.workspace_id, owner)
    return new


async def list_workspaces(tx: Tx) -> list[Workspace]:
    """All of them, the oldest first."""
    return [
        Workspace(id=str(id), name=str(name), created_at=Moment(cast(int, created_at)))
        for id, name, created_at in await tx.all(LIST)
    ]


async def put_workspace(tx: Tx, record: WorkspaceRecord) -> None:
    await tx.run(PUT, **row_of(record))


def row_of(record: WorkspaceRecord, **beside: str) -> dict[str, str | int | bytes]:
    return {
        "id": record.id,
        "name": record.name,
        "created_at": record.created_at,
        "updated_at": record.changed_at(),
        "document": ENCODER.encode(show_workspace(record)),
        **beside,
    }
