"""An embedded database that is taken away, exchanged, damaged or out of space while the program runs.

Each is answered by Unavailable, and by itself all is well again when the database is.
"""

import asyncio
import shutil
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import apsw
import pytest

from deskwire.desk.tokens import create_token, list_tokens
from deskwire.model.errors import Unavailable
from deskwire.store import sqlite, sqlite_file
from deskwire.store.clock import system_clock
from deskwire.store.sqlite import SqliteStore
from deskwire.store.transaction import Tx
from tests.engines import Run
from tests.store.deeds import create, kept, names
from tests.store.places import common_folder, filled, give, small_disk, unprivileged
from tests.store.processes import locked

__all__ = ["common_folder", "small_disk"]

Open = Callable[[], SqliteStore]


@pytest.fixture(autouse=True)
def look_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "FILE_LOOK_S", 0)


async def fill(store: SqliteStore, number: int = 50) -> set[str]:
    return set(await asyncio.gather(*(store.write(create) for _ in range(number))))


async def check_unavailable(store: SqliteStore, *words: str) -> None:
    for call in (store.read(names), store.write(create), store.read_aside(names)):
        with pytest.raises(Unavailable) as refused:
            await call
        assert str(store.path) in str(refused.value)
        for word in words:
            assert word in str(refused.value)


async def check_works(store: SqliteStore, expected: set[str]) -> None:
    """For the store itself, for who reads aside, and for whoever opens the file anew."""
    assert await kept(store) == expected
    new = await store.write(create)
    assert await kept(store) == expected | {new}
    assert set(await store.read_aside(names)) == expected | {new}
    fresh = SqliteStore(store.path, system_clock)
    assert await kept(fresh) == expected | {new}
    await fresh.close()
    check_sound(store.path)


def check_sound(path: Path) -> None:
    connection = apsw.Connection(str(path))
    assert connection.pragma("integrity_check") == "ok"
    connection.close()


def beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def good_copy(path: Path, copy: Path) -> Path:
    connection = apsw.Connection(str(path))
    connection.execute("VACUUM INTO ?", (str(copy),))
    connection.close()
    return copy


def test_a_file_that_is_taken_away_is_missed_until_it_is_put_back(
    run: Run, sqlite_store: SqliteStore, tmp_path: Path
) -> None:
    async def use() -> None:
        ids = await fill(sqlite_store)
        away = tmp_path / "away.db"
        sqlite_store.path.rename(away)
        await check_unavailable(sqlite_store, "is not there")
        away.rename(sqlite_store.path)
        await check_works(sqlite_store, ids)

    run(use())


def test_a_copy_of_a_file_that_was_removed_takes_its_place(
    run: Run, sqlite_store: SqliteStore, tmp_path: Path
) -> None:
    async def use() -> None:
        ids = await fill(sqlite_store)
        copy = good_copy(sqlite_store.path, tmp_path / "copy.db")
        await fill(sqlite_store)
        sqlite_store.path.unlink()
        await check_unavailable(sqlite_store, "is not there")
        copy.rename(sqlite_store.path)
        await check_works(sqlite_store, ids)

    run(use())


def test_the_log_of_a_database_is_not_applied_to_the_one_that_takes_its_place(
    run: Run, open_sqlite: Open, tmp_path: Path
) -> None:
    async def use() -> None:
        first, second = open_sqlite(), open_sqlite()
        old, new = await fill(first), await fill(second, 7)
        await second.close()
        assert beside(first.path, "-wal").stat().st_size > 0
        away = tmp_path / "away.db"
        first.path.rename(away)
        second.path.rename(first.path)
        await check_works(first, new)
        moved = SqliteStore(away, system_clock)
        assert await kept(moved) == old, "what was in the log has come along"
        await moved.close()

    run(use())


def test_a_database_that_comes_with_a_log_of_its_own_keeps_it(
    run: Run, open_sqlite: Open, tmp_path: Path
) -> None:
    async def use() -> None:
        first, second = open_sqlite(), open_sqlite()
        await fill(first)
        new = await fill(second, 7)
        assert beside(second.path, "-wal").stat().st_size > 0
        for ending in ("-wal", ""):
            shutil.copy(beside(second.path, ending), tmp_path / "copy")
            (tmp_path / "copy").rename(beside(first.path, ending))
        await check_works(first, new)

    run(use())


def test_every_process_that_shares_an_exchanged_database_takes_the_new_one(
    run: Run, sqlite_store: SqliteStore, open_sqlite: Open
) -> None:
    async def use() -> None:
        sharing = SqliteStore(sqlite_store.path, system_clock)
        await fill(sqlite_store)
        await fill(sharing)
        other = open_sqlite()
        new = await fill(other, 7)
        await other.close()
        other.path.rename(sqlite_store.path)
        new |= {await sqlite_store.write(create)}
        new |= {await sharing.write(create)}
        assert await kept(sqlite_store) == await kept(sharing) == new
        await sharing.close()
        await check_works(sqlite_store, new)

    run(use())


def test_a_write_is_not_acknowledged_when_the_file_went_while_it_was_written(
    run: Run, sqlite_store: SqliteStore, tmp_path: Path
) -> None:
    async def use() -> None:
        ids = await fill(sqlite_store)
        goes_on = threading.Event()
        sqlite_store._groups._committer.submit(goes_on.wait, 10)
        writing = asyncio.create_task(sqlite_store.write(create))
        await asyncio.sleep(0.01)
        copy = good_copy(sqlite_store.path, tmp_path / "copy.db")
        copy.rename(sqlite_store.path)
        goes_on.set()
        with pytest.raises(Unavailable, match="was taken away while it was written to"):
            await writing
        await check_works(sqlite_store, ids)

    run(use())


def test_a_connection_that_was_in_use_aside_is_not_used_for_the_new_database(
    run: Run, open_sqlite: Open
) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    async def dawdle(tx: Tx) -> set[str]:
        found = set(await names(tx))
        begun.set()
        goes_on.wait(10)
        return found

    async def use() -> None:
        first, second = open_sqlite(), open_sqlite()
        old, new = await fill(first), await fill(second, 7)
        await second.close()
        reading = asyncio.create_task(first.read_aside(dawdle))
        async with first.snapshot() as tx:
            assert set(await names(tx)) == old
            await asyncio.to_thread(begun.wait, 10)
            second.path.rename(first.path)
            assert await kept(first) == new
            assert set(await names(tx)) == old
            goes_on.set()
            assert await reading == old
        for _ in range(3):
            assert set(await first.read_aside(names)) == new
        await check_works(first, new)

    run(use())


def test_reads_aside_may_come_at_once_and_find_few_connections(run: Run, sqlite_store: SqliteStore) -> None:
    async def use() -> None:
        ids = await fill(sqlite_store)
        for _ in range(20):
            found = await asyncio.gather(*(sqlite_store.read_aside(names) for _ in range(10)))
            assert all(set(each) == ids for each in found)
        assert len(sqlite_store._idle_asides) <= sqlite.ASIDE_THREADS

    run(use())


@pytest.mark.parametrize("endings", [["-wal"], ["-shm"], ["-wal", "-shm"]])
def test_nothing_is_lost_when_the_files_beside_the_database_are_removed(
    run: Run, sqlite_store: SqliteStore, endings: list[str]
) -> None:
    async def use() -> None:
        ids = await fill(sqlite_store)
        for ending in endings:
            beside(sqlite_store.path, ending).unlink()
        ids |= await fill(sqlite_store, 1)
        await check_works(sqlite_store, ids)

    run(use())


def overwrite_middle(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096 * 2)
        file.write(b"\xa5" * (path.stat().st_size - 4096 * 3))


def destroy_header(path: Path) -> None:
    # While it is in the log, too, it does no harm.
    connection = apsw.Connection(str(path))
    connection.execute("SELECT count(*) FROM workspaces").fetchall()
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()
    with path.open("r+b") as file:
        file.write(b"\xa5" * 100)


def cut_off(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(4096 * 3)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def mend_in_place(path: Path, copy: Path) -> None:
    path.write_bytes(copy.read_bytes())


def mend_by_another_file(path: Path, copy: Path) -> None:
    copy.rename(path)


Damage = Callable[[Path], None]
Mend = Callable[[Path, Path], None]


@pytest.fixture
def small_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read comes from the file, not from memory."""
    monkeypatch.setattr(sqlite_file, "CACHE_KIB", 1)


@pytest.mark.usefixtures("small_caches")
@pytest.mark.parametrize("mend", [mend_in_place, mend_by_another_file])
@pytest.mark.parametrize("damage", [overwrite_middle, destroy_header, cut_off, empty])
def test_a_damaged_file_is_mended_by_a_good_copy(
    run: Run, open_sqlite: Open, tmp_path: Path, damage: Damage, mend: Mend
) -> None:
    async def use() -> None:
        store = open_sqlite()
        ids = await fill(store, 300)
        copy = good_copy(store.path, tmp_path / "copy.db")
        await fill(store, 50)
        damage(store.path)
        await wait_for(store, is_refused)
        await check_refuses_to_write(store)
        mend(store.path, copy)
        await check_works(store, ids)

    run(use())


async def wait_for(store: SqliteStore, state: Callable[[SqliteStore], Awaitable[bool]]) -> None:
    for _ in range(100):
        if await state(store):
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{state.__name__} did not come")


async def is_refused(store: SqliteStore) -> bool:
    """Some pages may still be whole."""
    try:
        async with store.snapshot() as tx:
            await names(tx)
        await store.read_aside(names)
        await store.read(names)
    except Unavailable:
        return True
    return False


async def check_refuses_to_write(store: SqliteStore) -> None:
    for _ in range(3):
        began = time.monotonic()
        with pytest.raises(Unavailable, match=str(store.path)):
            await store.write(create)
        assert time.monotonic() - began < 0.5


@pytest.mark.usefixtures("small_caches")
def test_what_is_whole_of_a_damaged_file_is_read_and_nothing_is_written(
    run: Run, sqlite_store: SqliteStore
) -> None:
    async def issue(tx: Tx) -> None:
        (workspace_id,) = list(await names(tx))[:1]
        for _ in range(50):
            await create_token(tx, workspace_id, "token", ["workspaces:read"], None)

    async def use() -> None:
        ids = await fill(sqlite_store)
        await sqlite_store.write(issue)
        whole = good_copy(sqlite_store.path, sqlite_store.path.with_name("whole.db"))
        connection = apsw.Connection(str(sqlite_store.path))
        pages = connection.execute("SELECT pageno FROM dbstat WHERE name = 'tokens'").fetchall()
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        connection.close()
        with sqlite_store.path.open("r+b") as file:
            for (page,) in pages:
                file.seek((int(str(page)) - 1) * 4096)
                file.write(b"\xa5" * 4096)
        with pytest.raises(Unavailable, match="the file is damaged"):
            await sqlite_store.read(lambda tx: list_tokens(tx, None))
        assert await kept(sqlite_store) == ids
        with pytest.raises(Unavailable, match="is damaged; put a good copy in its place"):
            await sqlite_store.write(create)
        mend_in_place(sqlite_store.path, whole)
        await check_works(sqlite_store, ids)
        assert len(await sqlite_store.read(lambda tx: list_tokens(tx, None))) == 50

    run(use())


def test_a_full_disk_stops_writes_alone(run: Run, small_disk: Path, migrated_sqlite: Path) -> None:
    async def use() -> None:
        path = small_disk / "deskwire.db"
        shutil.copy(migrated_sqlite, path)
        store = SqliteStore(path, system_clock)
        ids = await fill(store)
        with filled(small_disk):
            refused = 0
            for _ in range(100):
                began = time.monotonic()
                answer = (await asyncio.gather(store.write(create), return_exceptions=True))[0]
                if isinstance(answer, str):
                    ids |= {answer}
                else:
                    assert isinstance(answer, Unavailable) and "the disk is full" in str(answer)
                    refused += 1
                assert time.monotonic() - began < 1
                assert await kept(store) == ids
                assert set(await store.read_aside(names)) == ids
            assert refused > 0
        await check_works(store, ids)
        await store.close()

    run(use())


def test_a_disk_that_is_full_in_the_middle_of_an_operation_keeps_nothing_of_its_group(
    run: Run, small_disk: Path, migrated_sqlite: Path
) -> None:
    async def create_many(tx: Tx) -> None:
        for _ in range(20_000):
            await create(tx)

    async def use() -> None:
        path = small_disk / "deskwire.db"
        shutil.copy(migrated_sqlite, path)
        store = SqliteStore(path, system_clock)
        ids = await fill(store)
        answers = await asyncio.gather(store.write(create), store.write(create_many), return_exceptions=True)
        assert isinstance(answers[1], Unavailable)
        ids |= {answer for answer in answers if isinstance(answer, str)}
        await check_works(store, ids)
        await store.close()

    run(use())


def test_an_exchanged_file_that_may_not_be_used_is_used_when_it_may(
    run: Run, common_folder: Path, migrated_sqlite: Path
) -> None:
    path, new = common_folder / "deskwire.db", common_folder / "new.db"
    for each in (path, new):
        shutil.copy(migrated_sqlite, each)
        give(each)

    async def use() -> None:
        with unprivileged():
            store = SqliteStore(path, system_clock)
            await fill(store)
            new.chmod(0o444)
            new.rename(path)
            await check_unavailable(store, "must be able to write")
            path.chmod(0o644)
            await check_works(store, set())
            await store.close()

    run(use())


def test_an_exchanged_file_that_is_locked_is_used_when_it_is_free(run: Run, open_sqlite: Open) -> None:
    async def use() -> None:
        first, second = open_sqlite(), open_sqlite()
        await fill(first)
        new = await fill(second, 7)
        await second.close()
        with locked(second.path, "PRAGMA locking_mode = exclusive", "BEGIN IMMEDIATE", "DELETE FROM tokens"):
            second.path.rename(first.path)
            await check_unavailable(first, "another process has locked it")
        for ending in ("-wal", "-shm"):
            # The other process was killed, and what it left was of another name.
            beside(second.path, ending).unlink(missing_ok=True)
        await check_works(first, new)

    run(use())


def test_a_file_that_is_exchanged_for_something_else_is_not_used(
    run: Run, sqlite_store: SqliteStore, tmp_path: Path
) -> None:
    async def use() -> None:
        ids = await fill(sqlite_store)
        away = tmp_path / "away.db"
        sqlite_store.path.rename(away)
        apsw.Connection(str(sqlite_store.path)).execute("CREATE TABLE other (id)")
        await check_unavailable(sqlite_store, "schema is empty")
        sqlite_store.path.unlink()
        sqlite_store.path.mkdir()
        await check_unavailable(sqlite_store, "is a folder")
        sqlite_store.path.rmdir()
        await check_unavailable(sqlite_store, "is not there")
        away.rename(sqlite_store.path)
        await check_works(sqlite_store, ids)

    run(use())


def test_a_failing_rollback_costs_a_reopening_and_leaves_nobody_waiting(
    run: Run, sqlite_store: SqliteStore
) -> None:
    async def break_off(tx: Tx) -> None:
        sqlite_store._groups.connection.close(True)

    async def use() -> None:
        ids = await fill(sqlite_store)
        answers = await asyncio.wait_for(
            asyncio.gather(sqlite_store.write(create), sqlite_store.write(break_off), return_exceptions=True),
            5,
        )
        assert all(isinstance(answer, Unavailable) for answer in answers)
        await check_works(sqlite_store, ids)

    run(use())


def test_a_snapshot_is_of_the_moment_when_it_was_opened(run: Run, sqlite_store: SqliteStore) -> None:
    async def use() -> None:
        ids = await fill(sqlite_store)
        async with sqlite_store.snapshot() as tx:
            await sqlite_store.write(create)
            assert set(await names(tx)) == ids

    run(use())
