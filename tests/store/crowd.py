"""A database with enough rows in every table that a planner has something to choose between.

Row n of a table has n in the first column of its key and few distinct values in what it refers to.
"""

import uuid
from collections.abc import Sequence

import apsw
import asyncpg
from sqlalchemy import BigInteger, Boolean, Column, Integer, LargeBinary, Table
from sqlalchemy.sql.expression import FromClause

from deskwire.store import tables
from deskwire.store.search import Entry, Subject
from deskwire.store.transaction import Tx

WORKSPACES = (str(uuid.UUID(int=1 << 64)), str(uuid.UUID(int=2 << 64)))
ROWS = 1_000
FEW = 25

Cell = str | int | bytes | bool


def rows(table: Table) -> list[tuple[Cell, ...]]:
    if table in (tables.WORKSPACES, tables.BUSINESS_HOURS):
        return [tuple(cell(column, 0, workspace) for column in table.columns) for workspace in WORKSPACES]
    return [
        tuple(cell(column, n, workspace) for column in table.columns)
        for at, workspace in enumerate(WORKSPACES)
        for n in range(at * ROWS, (at + 1) * ROWS)
    ]


def cell(column: "Column[object]", n: int, workspace: str) -> Cell:
    if column.name == "workspace_id" or (column.table is tables.WORKSPACES and column.name == "id"):
        return workspace
    if column.type is tables.IdType:
        return str(uuid.UUID(int=n if column.name in ("id", owner(column.table)) else n % FEW))
    match column.type:
        case Boolean():
            return n % 10 != 3
        case BigInteger() | Integer():
            return n * 1_000
        case LargeBinary():
            return b"{%d}" % n
    return f"text {n}"


def owner(table: FromClause) -> str:
    """What a row belongs to, of which no other row is."""
    return next(one.name for one in table.primary_key if one.name != "workspace_id")


def fill_sqlite(connection: apsw.Connection) -> None:
    with connection:
        for table in tables.METADATA.sorted_tables:
            connection.executemany(
                f"INSERT INTO {table.name} ({', '.join(table.c.keys())}) "
                f"VALUES ({', '.join('?' * len(table.c))})",
                rows(table),
            )


async def fill_postgres(connection: asyncpg.Connection) -> None:
    await connection.execute("SET session_replication_role = replica")
    for table in tables.METADATA.sorted_tables:
        await connection.copy_records_to_table(table.name, records=rows(table), columns=list(table.c.keys()))
    await connection.execute("SET session_replication_role = DEFAULT")


def entries(first: int) -> Sequence[Entry]:
    return [Entry(str(uuid.UUID(int=n)), n, f"wcommon w{n} p{n % FEW}") for n in range(first, first + ROWS)]


async def index(tx: Tx) -> None:
    for at, workspace in enumerate(WORKSPACES):
        for subject in Subject:
            await tx.index(subject, workspace, entries(at * ROWS))
