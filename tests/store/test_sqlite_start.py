"""What somebody reads who starts on an embedded database that cannot be used."""

import shutil
from pathlib import Path

import apsw
import pytest

from deskwire.model.errors import Unavailable
from deskwire.store.clock import system_clock
from deskwire.store.migration import migrate_sqlite
from deskwire.store.sqlite import SqliteStore
from tests.engines import Run
from tests.store.deeds import create, kept
from tests.store.places import common_folder, filled, give, small_disk, unprivileged
from tests.store.processes import locked, start

__all__ = ["common_folder", "small_disk"]


def refusal(path: Path) -> str:
    """What both the migration and the store say, in one line that names the file."""
    lines = []
    for begin in (
        lambda: migrate_sqlite(path, lock_wait_s=0.1),
        lambda: SqliteStore(path, system_clock, lock_wait_s=0.1),
    ):
        with pytest.raises(Unavailable) as refused:
            begin()
        lines.append(str(refused.value))
        assert str(path) in lines[-1] or str(path.parent) in lines[-1]
        assert "\n" not in lines[-1]
    return " / ".join(lines)


def test_a_missing_folder_is_made(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "data" / "of" / "the desk" / "deskwire.db"
    assert migrate_sqlite(path)

    async def use() -> None:
        store = SqliteStore(path, system_clock)
        assert {await store.write(create)} == await kept(store)
        await store.close()

    run(use())


def test_a_folder_in_the_place_of_the_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "deskwire.db"
    path.mkdir()
    assert refusal(path).count("it is a folder, not a file") == 2


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    assert "exists" in refusal(tmp_path / "data" / "deskwire.db")


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "deskwire.db"
    path.write_bytes(b"Dear diary, " * 1000)
    assert refusal(path).count("is no SQLite database") == 2
    assert path.read_bytes() == b"Dear diary, " * 1000


def test_a_database_that_another_process_holds_is_named(tmp_path: Path) -> None:
    path = tmp_path / "deskwire.db"
    migrate_sqlite(path)
    exclusively = ("PRAGMA locking_mode = exclusive", "BEGIN IMMEDIATE", "DELETE FROM tokens")
    with locked(path, *exclusively):
        assert refusal(path).count("another process has locked it") == 2
    assert not migrate_sqlite(path)


def test_a_database_without_the_schema_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "deskwire.db"
    apsw.Connection(str(path)).execute("CREATE TABLE other (id)")
    with pytest.raises(Unavailable, match=r"deskwire\.db: the database's schema is empty.*deskwire migrate"):
        SqliteStore(path, system_clock)


def test_a_file_that_is_not_there_is_not_made_by_opening_it(tmp_path: Path) -> None:
    path = tmp_path / "deskwire.db"
    with pytest.raises(Unavailable, match=r"deskwire\.db cannot be used: it is not there"):
        SqliteStore(path, system_clock)
    assert not path.exists()


def test_a_folder_that_may_not_be_written_to_is_named(common_folder: Path) -> None:
    common_folder.chmod(0o555)
    with unprivileged():
        with pytest.raises(Unavailable, match=r"deskwire\.db cannot be used: permission denied"):
            migrate_sqlite(common_folder / "deskwire.db")
        with pytest.raises(Unavailable, match=r"[Pp]ermission denied.*data"):
            migrate_sqlite(common_folder / "data" / "deskwire.db")


@pytest.mark.parametrize("mode", [0o000, 0o444])
def test_a_file_that_may_not_be_read_or_written_is_named(
    common_folder: Path, migrated_sqlite: Path, mode: int
) -> None:
    path = common_folder / "deskwire.db"
    shutil.copy(migrated_sqlite, path)
    give(path)
    path.chmod(mode)
    with (
        unprivileged(),
        pytest.raises(Unavailable, match=r"deskwire\.db cannot be used: .*must be able to write"),
    ):
        SqliteStore(path, system_clock)
    path.chmod(0o644)
    with unprivileged():
        SqliteStore(path, system_clock)._close_connections()


def test_a_full_disk_is_named(small_disk: Path) -> None:
    path = small_disk / "deskwire.db"
    with (
        filled(small_disk),
        pytest.raises(Unavailable, match=r"deskwire\.db cannot be used: the disk is full"),
    ):
        migrate_sqlite(path)
    assert migrate_sqlite(path)


def test_processes_that_come_and_go_do_not_keep_each_other_out(
    run: Run, migrated_sqlite: Path, tmp_path: Path
) -> None:
    path = tmp_path / "deskwire.db"
    shutil.copy(migrated_sqlite, path)
    program = "; ".join(
        (
            "import asyncio, sys, pathlib",
            "from deskwire.store.sqlite import SqliteStore",
            "from deskwire.store.clock import system_clock",
            "path = pathlib.Path(sys.argv[1])",
            "[asyncio.run(SqliteStore(path, system_clock).close()) for _ in range(50)]",
        )
    )
    processes = [start("-c", program, str(path)) for _ in range(3)]
    assert [process.communicate(timeout=60)[1] for process in processes] == [""] * 3
