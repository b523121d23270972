"""Bringing a database to this version: Alembic writes the script, the bare drivers run it at once."""

import io
from pathlib import Path

import apsw
import asyncpg
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory

from deskwire.model.errors import Unavailable
from deskwire.store.postgres import AWAY, CONNECT_TIMEOUT_S
from deskwire.store.schema import SCHEMA, postgres_version, sqlite_version

SQLITE_LOCK_WAIT_MS = 30_000
# Two processes that migrate at once meet at this advisory lock; the number has no other meaning.
POSTGRES_LOCK = 0x6465736B77697265
MIGRATIONS = Path(__file__).parent / "migrations"


def script(dialect: str, version: str | None) -> str:
    """The statements that lead from a version of the schema to this one."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    directory = ScriptDirectory.from_config(config)
    written = io.StringIO()
    with EnvironmentContext(
        config,
        directory,
        fn=lambda current, _context: directory._upgrade_revs("head", current),
        as_sql=True,
        starting_rev=version,
        destination_rev="head",
    ) as environment:
        environment.configure(
            dialect_name=dialect,
            output_buffer=written,
            dialect_opts={"paramstyle": "named"},
            transactional_ddl=False,
        )
        environment.run_migrations()
    return written.getvalue()


def migrate_sqlite(path: Path) -> bool:
    """True when there was something to do."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = apsw.Connection(str(path))
        connection.set_busy_timeout(SQLITE_LOCK_WAIT_MS)
        try:
            connection.pragma("journal_mode", "wal")
            connection.execute("BEGIN IMMEDIATE")
            version = sqlite_version(connection)
            if version != SCHEMA:
                connection.execute(script("sqlite", version)).fetchall()
            connection.execute("COMMIT")
        finally:
            connection.close(True)
    except (apsw.Error, OSError) as error:
        raise Unavailable(f"the database {path} cannot be migrated: {error}") from error
    return version != SCHEMA


async def migrate_postgres(url: str) -> bool:
    """True when there was something to do."""
    try:
        connection = await asyncpg.connect(url, timeout=CONNECT_TIMEOUT_S)
        try:
            async with connection.transaction():
                await connection.execute("SELECT pg_advisory_xact_lock($1)", POSTGRES_LOCK)
                version = await postgres_version(connection)
                if version != SCHEMA:
                    await connection.execute(script("postgresql", version))
        finally:
            await connection.close()
    except (*AWAY, asyncpg.PostgresError, ValueError) as error:
        raise Unavailable(f"PostgreSQL cannot be migrated: {error or type(error).__name__}") from error
    return version != SCHEMA
