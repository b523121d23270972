"""Whether a database answers, and with which version of the schema."""

from sqlalchemy import column, select, table

from deskwire.store.statement import Statement
from deskwire.store.transaction import Tx

FIND_VERSION = Statement(select(column("version_num")).select_from(table("alembic_version")))


async def schema_version(tx: Tx) -> str | None:
    row = await tx.one(FIND_VERSION)
    return None if row is None else str(row[0])
