"""Bringing a database to this version: a script is written for it, and the bare drivers run it at once."""

import importlib
import time
from pathlib import Path

import apsw
import asyncpg

from deskwire.model.errors import Unavailable
from deskwire.store import sqlite_figures
from deskwire.store.postgres import AWAY, ISOLATION, reason
from deskwire.store.postgres_pooler import connect
from deskwire.store.schema import SCHEMA, postgres_version, refuse_newer, sqlite_version
from deskwire.store.sqlite_file import unavailable

SQLITE_LOCK_WAIT_S = 30.0
SQLITE_LOCK_RETRY_S = 0.02
# Two processes that migrate at once meet at this advisory lock; the number has no other meaning.
POSTGRES_LOCK = 0x6465736B77697265
SQLITE_DIALECT = "sqlite"
POSTGRES_DIALECT = "postgresql"


def migrate_sqlite(path: Path, lock_wait_s: float = SQLITE_LOCK_WAIT_S) -> bool:
    """True when there was something to do; otherwise it waits for nobody who writes just then."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return upgrade_sqlite(path, time.monotonic() + lock_wait_s)
    except (apsw.Error, OSError) as error:
        raise unavailable(path, error) from error


async def migrate_postgres(url: str) -> bool:
    """True when there was something to do."""
    try:
        connection = await connect(url)
        try:
            # Whoever waited for the lock has to see what was committed meanwhile.
            async with connection.transaction(isolation=ISOLATION):
                await connection.execute("SELECT pg_advisory_xact_lock($1)", POSTGRES_LOCK)
                statements = way(POSTGRES_DIALECT, await postgres_version(connection))
                if statements is not None:
                    await connection.execute(statements)
        finally:
            await connection.close()
    except (*AWAY, asyncpg.PostgresError, ValueError) as error:
        raise Unavailable(f"PostgreSQL cannot be migrated: {reason(error)}") from error
    return statements is not None


def upgrade_sqlite(path: Path, give_up_at: float) -> bool:
    while True:
        connection = apsw.Connection(str(path))
        try:
            if sqlite_version(connection) == SCHEMA:
                return False
            connection.pragma("journal_mode", "wal")
            connection.execute("BEGIN IMMEDIATE")
            statements = way(SQLITE_DIALECT, sqlite_version(connection))
            if statements is not None:
                # Some of the statements answer rows, and what follows such a one runs when they are fetched.
                connection.execute(statements).fetchall()
                sqlite_figures.assume(connection)
            connection.execute("COMMIT")
            return statements is not None
        except apsw.BusyError:
            # SQLite itself does not wait where two processes turn to the write-ahead log at once.
            if time.monotonic() > give_up_at:
                raise
        finally:
            connection.close(True)
        time.sleep(SQLITE_LOCK_RETRY_S)


def way(dialect: str, version: str | None) -> str | None:
    """The statements that lead here, and None from here."""
    if version == SCHEMA:
        return None
    refuse_newer(version)
    # Alembic is slow to load, and most starts find a database that is ready.
    migration_script = importlib.import_module("deskwire.store.migration_script")
    try:
        return str(migration_script.script(dialect, version))
    except migration_script.UnknownVersion as error:
        raise Unavailable(f"the database's schema {version} is none of Deskwire's: {error}") from error
