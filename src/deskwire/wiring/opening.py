"""Opens what a process works with: the database of either engine, and the store of attachments."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import asyncpg

from deskwire.model.errors import Unavailable
from deskwire.store.attachments import Files, open_files
from deskwire.store.clock import system_clock
from deskwire.store.migration import migrate_sqlite
from deskwire.store.postgres import AWAY, PostgresStore, open_postgres
from deskwire.store.postgres_pooler import connect
from deskwire.store.schema import postgres_version, what_to_do
from deskwire.store.sqlite import SqliteStore
from deskwire.wiring.settings import Settings


@dataclass(frozen=True)
class OpenHouse:
    store: SqliteStore | PostgresStore
    files: Files


@asynccontextmanager
async def open_house(settings: Settings) -> AsyncIterator[OpenHouse]:
    """A database that is ready for this version; see `prepare`."""
    store = await open_store(settings)
    try:
        yield OpenHouse(store, open_files(settings.attachments))
    finally:
        await store.close()


async def open_store(settings: Settings) -> SqliteStore | PostgresStore:
    if settings.is_postgresql:
        return await open_postgres(settings.database, system_clock)
    return SqliteStore(sqlite_path(settings), system_clock)


async def prepare(settings: Settings) -> None:
    """An embedded database is brought to this version; one that others share must have been before."""
    if not settings.is_postgresql:
        migrate_sqlite(sqlite_path(settings))
    elif (problem := what_to_do(await version_of(settings.database))) is not None:
        raise Unavailable(problem)


async def version_of(postgres_url: str) -> str | None:
    try:
        connection = await connect(postgres_url)
        try:
            return await postgres_version(connection)
        finally:
            await connection.close()
    except (*AWAY, asyncpg.PostgresError, ValueError) as error:
        raise Unavailable(f"PostgreSQL cannot be reached: {error or type(error).__name__}") from error


def sqlite_path(settings: Settings) -> Path:
    return Path(unquote(urlsplit(settings.database).path.removeprefix("/")))
