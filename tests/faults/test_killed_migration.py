"""A migration killed at one statement after another: nothing of it is there, and the next start ends it."""

import asyncio
import itertools
import shutil
import signal
import time
from contextlib import closing
from pathlib import Path

import apsw
import asyncpg
import pytest

from deskwire.store.migration import migrate_postgres, migrate_sqlite
from deskwire.store.migration_script import script
from deskwire.store.schema import SCHEMA, postgres_version, sqlite_file_version
from tests.engines import PostgresServer
from tests.faults.report import Report
from tests.store.processes import running, start
from tests.store.rows import count_postgres, count_sqlite, fill_postgres, fill_sqlite

OLD = "0001"
PROGRAM = ("-m", "tests.faults.migrating")
MANY = [pytest.mark.stress, pytest.mark.timeout(900)]


def finish_by_two_at_once(target: str) -> None:
    both = [start(*PROGRAM, target, "0") for _ in range(2)]
    ends = [process.communicate(timeout=60) for process in both]
    assert [(process.returncode, error) for process, (_, error) in zip(both, ends, strict=True)] == [
        (0, ""),
        (0, ""),
    ]


@pytest.mark.parametrize("every", [15, pytest.param(1, marks=MANY)])
def test_a_migration_killed_at_any_statement_is_ended_by_the_next_on_sqlite(
    tmp_path: Path, report: Report, every: int
) -> None:
    old, path = tmp_path / "old.db", tmp_path / "deskwire.db"
    with closing(apsw.Connection(str(old))) as connection:
        connection.pragma("journal_mode", "wal")
        connection.execute(script("sqlite", None, OLD)).fetchall()
        fill_sqlite(connection)
        counts = count_sqlite(connection)
    kills, finished_s = 0, []
    for death in itertools.count(1, every):
        shutil.copy(old, path)
        with running(*PROGRAM, str(path), str(death)) as process:
            code = process.wait(60)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        kills += 1
        assert sqlite_file_version(path) == OLD
        assert rows_of(path) == counts
        began_at = time.monotonic()
        if kills == 1:
            finish_by_two_at_once(str(path))
        else:
            assert migrate_sqlite(path)
        finished_s.append(time.monotonic() - began_at)
        assert sqlite_file_version(path) == SCHEMA
        assert counts.items() <= rows_of(path).items()
        for beside in ("-wal", "-shm"):
            path.with_name(path.name + beside).unlink(missing_ok=True)
    assert kills > 2
    report(fired=kills, lost=0, ended_after=max(finished_s))


def rows_of(path: Path) -> dict[str, int]:
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.pragma("integrity_check") == "ok"
        return count_sqlite(connection)


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=MANY)])
def test_a_migration_killed_at_any_statement_is_ended_by_the_next_on_postgresql(
    postgres_server: PostgresServer, report: Report, every: int
) -> None:
    statements = script("postgresql", OLD).count(";\n")
    kills, finished_s = 0, []
    for death in range(1, statements, every):
        url = asyncio.run(postgres_server.new_database("template0"))
        counts = asyncio.run(settle(url))
        kill_in_its_pause(url, death)
        kills += 1
        assert asyncio.run(look(url)) == (OLD, counts)
        began_at = time.monotonic()
        if kills == 1:
            finish_by_two_at_once(url)
        else:
            assert asyncio.run(migrate_postgres(url))
        finished_s.append(time.monotonic() - began_at)
        version, after = asyncio.run(look(url))
        assert version == SCHEMA and counts.items() <= after.items()
    assert kills > 2
    report(fired=kills, lost=0, ended_after=max(finished_s))


async def settle(url: str) -> dict[str, int]:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(script("postgresql", None, OLD))
        await fill_postgres(connection)
        return await count_postgres(connection)
    finally:
        await connection.close()


def kill_in_its_pause(url: str, death: int) -> None:
    with running(*PROGRAM, url, str(death)) as process:
        give_up_at = time.monotonic() + 60
        while not asyncio.run(pauses(url)):
            assert process.poll() is None and time.monotonic() < give_up_at
        process.kill()
        assert process.wait(60) == -signal.SIGKILL


async def pauses(url: str) -> bool:
    connection = await asyncpg.connect(url)
    try:
        found = await connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND wait_event = 'PgSleep'"
        )
        return bool(found)
    finally:
        await connection.close()


async def look(url: str) -> tuple[str | None, dict[str, int]]:
    connection = await asyncpg.connect(url)
    try:
        return await postgres_version(connection), await count_postgres(connection)
    finally:
        await connection.close()
