"""Rows for whatever tables a database has, learned from the database itself.

Row number n has the same text, or number, in all its columns, so what refers to something finds it.
"""

import uuid

import apsw
import asyncpg

from tests.store.catalogues import sqlite_tables

ROWS = 20
VERSION_TABLE = "alembic_version"

Counts = dict[str, int]


def text_of(number: int) -> str:
    return str(uuid.UUID(int=number + 1))


def fill_sqlite(connection: apsw.Connection) -> None:
    for table, kind in sqlite_tables(connection):
        if table == VERSION_TABLE or kind == "shadow":
            continue
        if kind == "virtual":
            for number in range(ROWS):
                connection.execute(
                    f"INSERT INTO {table} (rowid, terms) VALUES (?, ?)", (number + 1, "a term or two")
                )
            continue
        columns = connection.execute("SELECT name, type FROM pragma_table_info(?)", (table,)).fetchall()
        for number in range(ROWS):
            values = [sqlite_value(str(declared), number) for _, declared in columns]
            connection.execute(
                f"INSERT INTO {table} ({', '.join(str(name) for name, _ in columns)}) "
                f"VALUES ({', '.join('?' * len(columns))})",
                values,
            )


def sqlite_value(declared: str, number: int) -> str | int | bytes:
    match declared.upper():
        case "TEXT" | "VARCHAR":
            return text_of(number)
        case "BIGINT" | "INTEGER":
            return number + 1
        case "BOOLEAN":
            return number % 2
        case "BLOB":
            return text_of(number).encode()
    raise AssertionError(f"no value is known for a column of type {declared}")


def count_sqlite(connection: apsw.Connection) -> Counts:
    return {
        table: int(str(connection.execute(f"SELECT count(*) FROM {table}").get))
        for table, kind in sqlite_tables(connection)
        if table != VERSION_TABLE and kind != "shadow"
    }


async def fill_postgres(connection: asyncpg.Connection) -> None:
    # Foreign keys are satisfied in the end, whatever the order.
    await connection.execute("SET session_replication_role = replica")
    for table in await postgres_tables(connection):
        columns = await connection.fetch(
            "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute "
            "WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped",
            table,
        )
        for number in range(ROWS):
            values = ", ".join(postgres_value(declared, number) for _, declared in columns)
            await connection.execute(
                f"INSERT INTO {table} ({', '.join(name for name, _ in columns)}) VALUES ({values})"
            )
    await connection.execute("SET session_replication_role = DEFAULT")


def postgres_value(declared: str, number: int) -> str:
    match declared:
        case "uuid" | "text" | "character varying":
            return f"'{text_of(number)}'"
        case "bigint" | "integer":
            return str(number + 1)
        case "boolean":
            return str(number % 2 == 1)
        case "bytea":
            return f"'{text_of(number)}'::bytea"
        case "tsvector":
            return "array_to_tsvector(ARRAY['a', 'term'])"
    raise AssertionError(f"no value is known for a column of type {declared}")


async def count_postgres(connection: asyncpg.Connection) -> Counts:
    return {
        table: await connection.fetchval(f"SELECT count(*) FROM {table}")
        for table in await postgres_tables(connection)
    }


async def postgres_tables(connection: asyncpg.Connection) -> list[str]:
    found = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    return [table for (table,) in found if table != VERSION_TABLE]
