"""One house for each engine, kept for all tests that only read or write in a workspace of their own."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deskwire.store import postgres
from deskwire.store.attachments import Files, open_files
from deskwire.store.sqlite import SqliteStore
from tests.api.desk import Desk, House
from tests.api.filled import Filled
from tests.engines import FEW_CONNECTIONS, NEW_YEAR, AnyStore, PostgresServer, Run, SetClock


@pytest.fixture(scope="session")
def run() -> Iterator[Run]:
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="session")
def standing_clock() -> SetClock:
    return SetClock()


@pytest.fixture(autouse=True)
def clock(standing_clock: SetClock) -> SetClock:
    """At New Year again, wherever the test before has moved it."""
    standing_clock.now = NEW_YEAR
    return standing_clock


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return open_files(str(tmp_path_factory.mktemp("attachments")))


@pytest.fixture(scope="session")
def house(
    engine: str,
    run: Run,
    standing_clock: SetClock,
    files: Files,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    store: AnyStore
    if engine == "sqlite":
        path = folder / "deskwire.db"
        migrated: Path = request.getfixturevalue("migrated_sqlite")
        shutil.copy(migrated, path)
        store = SqliteStore(path, standing_clock)
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        url = run(server.new_database())
        store = run(postgres.open_postgres(url, standing_clock, FEW_CONNECTIONS))
    yield House(store, files, standing_clock, run, folder)
    run(store.close())


@pytest.fixture
def own_house(
    open_store: Callable[[], AnyStore], files: Files, tmp_path: Path, clock: SetClock, run: Run
) -> House:
    """A house that the test may break."""
    return House(open_store(), files, clock, run, tmp_path)


@pytest.fixture
def desk(house: House) -> Desk:
    return house.open_desk()


@pytest.fixture
def other_desk(house: House) -> Desk:
    """Another workspace in the same house."""
    return house.open_desk()


@pytest.fixture(scope="session")
def filled(house: House) -> Filled:
    """To be read only."""
    return Filled(house.open_desk())
