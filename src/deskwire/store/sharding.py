"""Spreading the tables over the machines of a PostgreSQL with Citus: each workspace is on one of them."""

from collections.abc import Iterator
from typing import NamedTuple

import asyncpg

from deskwire.model.errors import Unavailable
from deskwire.store.migration import POSTGRES_LOCK
from deskwire.store.postgres import AWAY, ISOLATION, reason
from deskwire.store.postgres_pooler import connect
from deskwire.store.search import Subject
from deskwire.store.tables import METADATA, TOKENS, WORKSPACES

CITUS = "pg_dist_partition"
ALONE = "none"


class Placement(NamedTuple):
    """A table and the column whose value decides where a row is; without one it is on every machine."""

    table: str
    column: str | None


def placements() -> Iterator[Placement]:
    """Every table but Alembic's, which stays where migrations run; what is referred to comes first."""
    yield Placement(WORKSPACES.name, "id")
    for table in METADATA.sorted_tables:
        if table is not WORKSPACES:
            # A token is looked for by its hash, before anybody knows its workspace.
            yield Placement(table.name, None if table is TOKENS else "workspace_id")
    for subject in Subject:
        yield Placement(f"{subject.value}_terms", "workspace_id")


async def distribute(url: str) -> list[str]:
    """The tables that were not distributed before; all of them become so, or none."""
    try:
        connection = await connect(url)
        try:
            async with connection.transaction(isolation=ISOLATION):
                await connection.execute("SELECT pg_advisory_xact_lock($1)", POSTGRES_LOCK)
                await refuse_without_citus(connection)
                return [each.table for each in placements() if await place(connection, each)]
        finally:
            await connection.close()
    except (*AWAY, asyncpg.PostgresError, ValueError) as error:
        raise Unavailable(f"PostgreSQL cannot be distributed: {reason(error)}") from error


async def refuse_without_citus(connection: asyncpg.Connection) -> None:
    if await connection.fetchval("SELECT to_regclass($1)", CITUS) is None:
        raise Unavailable(
            "the database has no Citus, so its tables cannot be distributed: "
            "run `CREATE EXTENSION citus` in it, where Citus is installed"
        )
    # Tables that refer to each other are distributed in one transaction only over one connection a machine.
    await connection.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")


async def place(connection: asyncpg.Connection, placement: Placement) -> bool:
    """False where the table had been placed before."""
    table, column = placement
    if await connection.fetchval(f"SELECT 1 FROM {CITUS} WHERE logicalrelid = $1::text::regclass", table):
        return False
    if column is None:
        await connection.execute("SELECT create_reference_table($1::text::regclass)", table)
        return True
    beside = ALONE if table == WORKSPACES.name else WORKSPACES.name
    await connection.execute(
        "SELECT create_distributed_table($1::text::regclass, $2, colocate_with => $3)", table, column, beside
    )
    return True
