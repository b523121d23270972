"""Migrations on both engines: from nothing, from every earlier schema with rows in it, at once, cut short."""

import asyncio
import shutil
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeVar

import apsw
import asyncpg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy.schema import CreateIndex, CreateTable

from deskwire.model.errors import Unavailable
from deskwire.store import migration, migration_script, schema
from deskwire.store.clock import system_clock
from deskwire.store.migration import migrate_postgres, migrate_sqlite
from deskwire.store.migration_script import script
from deskwire.store.schema import SCHEMA, sqlite_file_version, what_to_do
from deskwire.store.sqlite import SqliteStore
from deskwire.store.statement import POSTGRES, SQLITE
from deskwire.store.tables import METADATA
from tests.engines import TEMPLATE, PostgresServer, Run
from tests.store.catalogues import Catalogue, postgres_catalogue, sqlite_catalogue
from tests.store.processes import running, start
from tests.store.rows import count_postgres, count_sqlite, fill_postgres, fill_sqlite

T = TypeVar("T")

EMPTY = "template0"
BESIDE_METADATA = {
    "sqlite": {"alembic_version", "contact_rows", "message_rows", "contact_terms", "message_terms"},
    "postgres": {"alembic_version", "contact_terms", "message_terms"},
}

MADE_UP = '''"""{sentence}"""

from alembic import op
import sqlalchemy as sa

revision = "{revision}"
down_revision = "{before}"


def upgrade() -> None:
    op.add_column("teams", sa.Column("made_up_{revision}", sa.BigInteger(), nullable=True))
    {more}
    op.create_table("made_up_{revision}", sa.Column("id", sa.BigInteger(), primary_key=True))
'''
LONG = """if op.get_context().dialect.name == "sqlite":
        op.execute(
            "CREATE TABLE long AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n "
            "WHERE x < 1000000000) SELECT sum(x) FROM n"
        )
    else:
        op.execute("SELECT pg_sleep(2)")"""


def revisions(folder: Path = migration_script.MIGRATIONS) -> list[str]:
    config = Config()
    config.set_main_option("script_location", str(folder))
    config.set_main_option("path_separator", "os")
    found = ScriptDirectory.from_config(config).walk_revisions()
    return [one.revision for one in found][::-1]


@contextmanager
def sqlite_connection(path: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(path))
    try:
        yield connection
    finally:
        connection.close()


def ask_sqlite(path: Path, question: Callable[[apsw.Connection], T]) -> T:
    with sqlite_connection(path) as connection:
        return question(connection)


@asynccontextmanager
async def postgres_connection(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def ask_postgres(url: str, question: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
    async with postgres_connection(url) as connection:
        return await question(connection)


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Lets the program have further revisions; `long` ones take so long that they can be cut short."""

    def make(*further: str, more: str = "") -> Path:
        folder = tmp_path / f"migrations-{len(list(tmp_path.iterdir()))}"
        shutil.copytree(migration_script.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        before = SCHEMA
        for revision in further:
            (folder / "versions" / f"{revision}_made_up.py").write_text(
                MADE_UP.format(sentence="Made up.", revision=revision, before=before, more=more)
            )
            before = revision
        monkeypatch.setattr(migration_script, "MIGRATIONS", folder)
        for module in (migration, schema):
            monkeypatch.setattr(module, "SCHEMA", before)
        return folder

    return make


def test_the_program_speaks_the_newest_schema() -> None:
    assert revisions()[-1] == SCHEMA


def test_an_empty_sqlite_database_is_migrated_once(tmp_path: Path) -> None:
    path = tmp_path / "deskwire.db"
    assert migrate_sqlite(path) is True
    before = ask_sqlite(path, sqlite_catalogue)
    assert migrate_sqlite(path) is False
    assert ask_sqlite(path, sqlite_catalogue) == before
    assert sqlite_file_version(path) == SCHEMA


def test_an_empty_postgresql_database_is_migrated_once(run: Run, postgres_server: PostgresServer) -> None:
    async def migrate() -> None:
        url = await postgres_server.new_database(EMPTY)
        assert await migrate_postgres(url) is True
        before = await ask_postgres(url, postgres_catalogue)
        assert await migrate_postgres(url) is False
        assert await ask_postgres(url, postgres_catalogue) == before

    run(migrate())


def check_one_migrates(call: str, target: str) -> None:
    program = (
        f"import asyncio, sys\nfrom pathlib import Path\nfrom {migration.__name__} import *\nprint({call})"
    )
    processes = [start("-c", program, target) for _ in range(4)]
    ends = [process.communicate(timeout=60) for process in processes]
    assert [error for _, error in ends] == [""] * 4
    assert sorted(out.strip() for out, _ in ends) == ["False", "False", "False", "True"]


def test_of_four_processes_one_migrates_a_sqlite_database(tmp_path: Path) -> None:
    check_one_migrates("migrate_sqlite(Path(sys.argv[1]))", str(tmp_path / "data" / "deskwire.db"))


def test_of_four_processes_one_migrates_a_postgresql_database(
    run: Run, postgres_server: PostgresServer
) -> None:
    check_one_migrates("asyncio.run(migrate_postgres(sys.argv[1]))", run(postgres_server.new_database(EMPTY)))


def test_a_server_of_another_isolation_level_is_migrated_by_many_at_once(
    run: Run, postgres_server: PostgresServer
) -> None:
    async def migrate() -> None:
        url = await postgres_server.new_database(EMPTY)
        async with postgres_connection(url) as connection:
            database = await connection.fetchval("SELECT current_database()")
            await connection.execute(
                f"ALTER DATABASE {database} SET default_transaction_isolation = 'serializable'"
            )
        done = await asyncio.gather(*(migrate_postgres(url) for _ in range(4)))
        assert sorted(done) == [False, False, False, True]

    run(migrate())


def declared_sqlite() -> Catalogue:
    with sqlite_connection(Path(":memory:")) as connection:
        for table in METADATA.sorted_tables:
            connection.execute(str(CreateTable(table).compile(dialect=SQLITE)))
            for index in table.indexes:
                connection.execute(str(CreateIndex(index).compile(dialect=SQLITE)))
        return sqlite_catalogue(connection)


async def declared_postgres(url: str) -> Catalogue:
    async with postgres_connection(url) as connection:
        for table in METADATA.sorted_tables:
            await connection.execute(str(CreateTable(table).compile(dialect=POSTGRES)))
            for index in table.indexes:
                await connection.execute(str(CreateIndex(index).compile(dialect=POSTGRES)))
        return await postgres_catalogue(connection)


def test_the_migrations_make_the_tables_that_are_declared_on_sqlite(migrated_sqlite: Path) -> None:
    made = ask_sqlite(migrated_sqlite, sqlite_catalogue)
    assert BESIDE_METADATA["sqlite"] == made.keys() - METADATA.tables.keys()
    assert {table: made.get(table) for table in METADATA.tables} == declared_sqlite()


def test_the_migrations_make_the_tables_that_are_declared_on_postgresql(
    run: Run, postgres_server: PostgresServer
) -> None:
    async def compare() -> None:
        made = await ask_postgres(await postgres_server.new_database(), postgres_catalogue)
        assert BESIDE_METADATA["postgres"] == made.keys() - METADATA.tables.keys()
        declared = await declared_postgres(await postgres_server.new_database(EMPTY))
        assert {table: made.get(table) for table in METADATA.tables} == declared

    run(compare())


def check_upward_on_sqlite(path: Path, before: str | None, revision: str) -> None:
    with sqlite_connection(path) as connection:
        if before is not None:
            connection.execute(script("sqlite", None, before)).fetchall()
        fill_sqlite(connection)
        counts = count_sqlite(connection)
        connection.execute(script("sqlite", before, revision)).fetchall()
        after = count_sqlite(connection)
        assert {table: after.get(table, count) for table, count in counts.items()} == counts
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.pragma("integrity_check") == "ok"
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(revision,)]


async def check_upward_on_postgres(url: str, before: str | None, revision: str) -> None:
    async with postgres_connection(url) as connection:
        if before is not None:
            await connection.execute(script("postgresql", None, before))
        await fill_postgres(connection)
        counts = await count_postgres(connection)
        await connection.execute(script("postgresql", before, revision))
        after = await count_postgres(connection)
        assert {table: after.get(table, count) for table, count in counts.items()} == counts
        assert await connection.fetchval("SELECT version_num FROM alembic_version") == revision


def steps() -> list[tuple[str | None, str]]:
    """Every revision and the one before it."""
    all = revisions()
    return list(zip([None, *all], all, strict=False))


@pytest.mark.parametrize(("before", "revision"), steps())
def test_every_revision_takes_the_rows_of_the_one_before_along_on_sqlite(
    tmp_path: Path, before: str | None, revision: str
) -> None:
    check_upward_on_sqlite(tmp_path / "deskwire.db", before, revision)


@pytest.mark.parametrize(("before", "revision"), steps())
def test_every_revision_takes_the_rows_of_the_one_before_along_on_postgresql(
    run: Run, postgres_server: PostgresServer, before: str | None, revision: str
) -> None:
    run(check_upward_on_postgres(run(postgres_server.new_database(EMPTY)), before, revision))


def test_the_next_revision_will_be_tried_with_rows_in_every_table(
    run: Run, postgres_server: PostgresServer, tmp_path: Path, made_up: Callable[..., Path]
) -> None:
    made_up("9999")
    path = tmp_path / "deskwire.db"
    check_upward_on_sqlite(path, SCHEMA, "9999")
    tables = METADATA.tables.keys() | {"contact_terms", "message_terms"}
    assert tables <= {table for table, count in ask_sqlite(path, count_sqlite).items() if count}
    url = run(postgres_server.new_database(EMPTY))
    run(check_upward_on_postgres(url, SCHEMA, "9999"))
    assert tables <= {table for table, count in run(ask_postgres(url, count_postgres)).items() if count}


def test_several_revisions_are_caught_up_with_at_once(
    run: Run, postgres_server: PostgresServer, tmp_path: Path, made_up: Callable[..., Path]
) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    urls = [run(postgres_server.new_database(template)) for template in (TEMPLATE, EMPTY)]
    migrate_sqlite(old)
    made_up("9998", "9999")
    for path in (old, new):
        assert migrate_sqlite(path)
        assert {"made_up_9998", "made_up_9999"} <= ask_sqlite(path, sqlite_catalogue).keys()
        assert sqlite_file_version(path) == "9999"
        assert not migrate_sqlite(path)
    for url in urls:
        assert run(migrate_postgres(url))
        assert {"made_up_9998", "made_up_9999"} <= run(ask_postgres(url, postgres_catalogue)).keys()
        assert not run(migrate_postgres(url))


MIGRATING = """
import asyncio, sys
from pathlib import Path
from deskwire.store import migration, migration_script
migration_script.MIGRATIONS, migration.SCHEMA = Path(sys.argv[1]), "9999"
if sys.argv[2].startswith("postgresql"):
    asyncio.run(migration.migrate_postgres(sys.argv[2]))
else:
    migration.migrate_sqlite(Path(sys.argv[2]))
"""


def kill_migrating(folder: Path, target: str, is_in_the_middle: Callable[[], bool]) -> None:
    with running("-c", MIGRATING, str(folder), target) as process:
        give_up_at = time.monotonic() + 30
        while not is_in_the_middle():
            assert process.poll() is None and time.monotonic() < give_up_at
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()


def test_a_killed_migration_leaves_the_old_schema_on_sqlite(
    tmp_path: Path, made_up: Callable[..., Path]
) -> None:
    path = tmp_path / "deskwire.db"
    migrate_sqlite(path)
    ask_sqlite(path, fill_sqlite)
    catalogue, counts = ask_sqlite(path, sqlite_catalogue), ask_sqlite(path, count_sqlite)

    def is_locked() -> bool:
        with sqlite_connection(path) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except apsw.BusyError:
                return True
            connection.execute("ROLLBACK")
        return False

    kill_migrating(made_up("9999", more=LONG), str(path), is_locked)
    assert ask_sqlite(path, sqlite_catalogue) == catalogue
    assert ask_sqlite(path, count_sqlite) == counts
    assert sqlite_file_version(path) == SCHEMA
    made_up("9999")
    assert migrate_sqlite(path)
    assert "made_up_9999" in ask_sqlite(path, sqlite_catalogue)


def test_a_killed_migration_leaves_the_old_schema_on_postgresql(
    run: Run, postgres_server: PostgresServer, made_up: Callable[..., Path]
) -> None:
    url = run(postgres_server.new_database())
    run(ask_postgres(url, fill_postgres))
    catalogue = run(ask_postgres(url, postgres_catalogue))

    async def sleeps(connection: asyncpg.Connection) -> bool:
        found = await connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND wait_event = 'PgSleep'"
        )
        return bool(found)

    kill_migrating(made_up("9999", more=LONG), url, lambda: run(ask_postgres(url, sleeps)))
    assert run(ask_postgres(url, postgres_catalogue)) == catalogue
    made_up("9999")
    assert run(migrate_postgres(url)), "it waits until the server has noticed that nobody is there any more"
    assert "made_up_9999" in run(ask_postgres(url, postgres_catalogue))


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (f"{SCHEMA}-newer", "is newer than this version's"),
        ("0000", "is none of Deskwire's"),
    ],
)
def test_a_schema_that_this_program_does_not_know_is_refused_and_left_alone(
    run: Run, postgres_server: PostgresServer, tmp_path: Path, version: str, words: str
) -> None:
    path, url = tmp_path / "deskwire.db", run(postgres_server.new_database())
    migrate_sqlite(path)
    mark = f"UPDATE alembic_version SET version_num = '{version}'"
    ask_sqlite(path, lambda connection: connection.execute(mark))
    run(ask_postgres(url, lambda connection: connection.execute(mark)))
    before = ask_sqlite(path, sqlite_catalogue), run(ask_postgres(url, postgres_catalogue))
    with pytest.raises(Unavailable, match=words):
        migrate_sqlite(path)
    with pytest.raises(Unavailable, match=words):
        run(migrate_postgres(url))
    with pytest.raises(Unavailable, match=version):
        SqliteStore(path, system_clock)
    assert (ask_sqlite(path, sqlite_catalogue), run(ask_postgres(url, postgres_catalogue))) == before
    assert sqlite_file_version(path) == version


def test_an_operator_reads_what_to_do() -> None:
    assert what_to_do(SCHEMA) is None
    assert what_to_do(None) == (
        f"the database's schema is empty, this version needs {SCHEMA}: run `deskwire migrate` first"
    )
    assert what_to_do("0000") == (
        f"the database's schema is 0000, this version needs {SCHEMA}: run `deskwire migrate` first"
    )
    assert what_to_do("9999") == (
        f"the database's schema 9999 is newer than this version's {SCHEMA}: install a newer Deskwire"
    )
