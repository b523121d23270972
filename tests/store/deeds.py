"""What the tests of the engines do to a database: small operations of two rows, and what is left of them."""

from sqlalchemy import bindparam, func, insert, select

from deskwire.desk.workspaces import create_workspace
from deskwire.store import tables
from deskwire.store.statement import Statement
from deskwire.store.transaction import Store, Tx

OWNED = Statement(
    select(tables.WORKSPACES.c.id, tables.WORKSPACES.c.name, tables.MEMBERS.c.id).select_from(
        tables.WORKSPACES.outerjoin(
            tables.MEMBERS, tables.MEMBERS.c.workspace_id == tables.WORKSPACES.c.id, full=True
        )
    )
)
COUNT_OWNERS = Statement(
    select(func.count()).select_from(tables.MEMBERS).where(tables.MEMBERS.c.email == bindparam("email"))
)
RENAME = Statement(
    tables.WORKSPACES.update()
    .where(tables.WORKSPACES.c.id == bindparam("workspace_id"))
    .values(name=bindparam("new_name"))
)
INSERT = Statement(insert(tables.WORKSPACES))
EMAIL = "owner@example.com"


class Changed(Exception):
    """An operation changed its mind after it had written."""


async def create(tx: Tx, name: str = "Bicycles") -> str:
    """Two rows in two tables: half of it would show."""
    return (await create_workspace(tx, name, EMAIL)).workspace_id


async def insert_again(tx: Tx, id: str) -> None:
    """Refused by the database itself, after a row was written."""
    await create(tx, "half")
    now = tx.now
    await tx.run(INSERT, id=id, name="", owner_member_id=None, created_at=now, updated_at=now, document=b"{}")


async def create_and_change_mind(tx: Tx) -> str:
    await create(tx, "never mind")
    raise Changed


async def names(tx: Tx) -> dict[str, str]:
    """The names of the workspaces; those without an owner are half a write, which there must not be."""
    found = await tx.all(OWNED)
    assert all(id and owner for id, _, owner in found), "both are written together or not at all"
    return {str(id): str(name) for id, name, _ in found}


async def kept(store: Store) -> set[str]:
    return set(await store.read(names))
