"""Which version of the schema a database has, and whether this program can work with it."""

from pathlib import Path

import apsw
import asyncpg

from deskwire.model.errors import Unavailable

SCHEMA = "0005"
LOCK_WAIT_MS = 1_000


def sqlite_version(connection: apsw.Connection) -> str | None:
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").get is None:
        return None
    version = connection.execute("SELECT version_num FROM alembic_version").get
    return None if version is None else str(version)


def has_schema(connection: apsw.Connection) -> bool:
    try:
        return sqlite_version(connection) == SCHEMA
    except apsw.Error:
        return False


async def postgres_version(connection: asyncpg.Connection) -> str | None:
    if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
        return None
    version = await connection.fetchval("SELECT version_num FROM alembic_version")
    return None if version is None else str(version)


def sqlite_file_version(path: Path) -> str | None:
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(LOCK_WAIT_MS)
        try:
            return sqlite_version(connection)
        finally:
            connection.close(True)
    except apsw.Error as error:
        raise Unavailable(f"the database {path} cannot be read: {error}") from error


def refuse_newer(version: str | None) -> None:
    """Raises Unavailable for a schema that a later version of this program made."""
    if version is not None and version > SCHEMA:
        raise Unavailable(what_to_do(version))


def what_to_do(version: str | None) -> str | None:
    """A sentence for the operator when the schema is not the one that this program speaks."""
    if version == SCHEMA:
        return None
    if version is None or version < SCHEMA:
        return (
            f"the database's schema is {version or 'empty'}, this version needs {SCHEMA}: "
            "run `deskwire migrate` first"
        )
    return f"the database's schema {version} is newer than this version's {SCHEMA}: install a newer Deskwire"
