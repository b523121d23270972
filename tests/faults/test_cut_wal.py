"""A copy of a database whose log is cut off somewhere: it opens, and holds all up to one of the writes."""

import asyncio
import random
import shutil
from itertools import pairwise
from pathlib import Path
from typing import cast

import apsw
import msgspec
import pytest

from deskwire.desk.checking import check
from deskwire.store.clock import system_clock
from deskwire.store.sqlite import SqliteStore
from tests.faults.desk import FaultyDesk
from tests.faults.report import Report
from tests.system.conftest import Hire
from tests.system.writers import REPLIES

WRITES = 40
MANY = [pytest.mark.stress, pytest.mark.timeout(900)]


@pytest.mark.parametrize("cuts", [20, pytest.param(200, marks=MANY)])
def test_a_cut_log_leaves_a_prefix_of_what_was_acknowledged(
    hire: Hire, tmp_path: Path, report: Report, cuts: int
) -> None:
    desk = FaultyDesk(hire("sqlite"), "--no-delivery")
    database = desk.operator.folder / "data" / "deskwire.db"
    log = database.with_name("deskwire.db-wal")
    log_bytes = []
    with desk.client() as client:
        for number in range(WRITES):
            assert client.post(REPLIES, {"content_type": "text", "content": f"{number}"}).status == 201
            log_bytes.append(log.stat().st_size)
    desk.kill()
    assert all(before < after for before, after in pairwise(log_bytes)), "the log began anew meanwhile"
    copy = tmp_path / "deskwire.db"
    found = []
    for at in offsets(log_bytes[-1], cuts):
        shutil.copy(database, copy)
        copy.with_name("deskwire.db-shm").unlink(missing_ok=True)
        copy.with_name("deskwire.db-wal").write_bytes(log.read_bytes()[:at])
        kept = numbers(copy)
        assert kept == list(range(len(kept)))
        assert len(kept) >= sum(size <= at for size in log_bytes)
        assert asyncio.run(differences(copy)) == []
        found.append(len(kept))
    assert found[-1] == WRITES and found == sorted(found) and len(set(found)) > 2
    report(cuts=cuts, writes=WRITES, fewest_kept=found[0], lost_before_the_cut=0)


class Kept(msgspec.Struct):
    content: str


def offsets(size: int, number: int) -> list[int]:
    """At both ends, and anywhere between."""
    return sorted([0, size, *(random.randrange(size) for _ in range(number - 2))])


def numbers(path: Path) -> list[int]:
    """Of the replies, in their order; the copy is as whole as SQLite can tell."""
    connection = apsw.Connection(str(path))
    try:
        assert connection.pragma("integrity_check") == "ok"
        rows = connection.execute("SELECT document FROM messages ORDER BY seq").fetchall()
    finally:
        connection.close()
    return [int(msgspec.json.decode(cast(bytes, row[0]), type=Kept).content) for row in rows]


async def differences(path: Path) -> list[str]:
    store = SqliteStore(path, system_clock)
    try:
        return [line async for line in check(store, lambda done, total: None)]
    finally:
        await store.close()
