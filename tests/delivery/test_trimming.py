"""The trimming that delivering processes do, beside everything else that goes on."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from sqlalchemy import bindparam, func, insert, select

from deskwire.delivery import trimming
from deskwire.delivery.trimming import Trimming
from deskwire.desk.workspaces import create_workspace
from deskwire.model.errors import Unavailable
from deskwire.model.ids import first_id_at
from deskwire.model.limits import EVENT_LIFETIME_US, TRIMMED_AT_ONCE
from deskwire.model.moments import Moment
from deskwire.store.statement import Statement
from deskwire.store.tables import EVENTS
from deskwire.store.transaction import Store, Tx
from tests.engines import NEW_YEAR, AnyStore, Run

T = TypeVar("T")
SECOND_US = 1_000_000
INSERT = Statement(insert(EVENTS))
COUNT = Statement(select(func.count()).where(EVENTS.c.workspace_id == bindparam("workspace_id")))
EXPIRED = 2 * TRIMMED_AT_ONCE + 7


def event(workspace_id: str, number: int, accepted_at: int) -> dict[str, Any]:
    return {
        "workspace_id": workspace_id,
        "id": first_id_at(Moment(accepted_at))[:24] + f"{number:012x}",
        "kind": "contact.updated",
        "subject_id": workspace_id,
        "accepted_at": accepted_at,
        "body": b"{}",
        "cause": None,
    }


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trimming, "TRIM_FIRST_S", 0.0)
    monkeypatch.setattr(trimming, "TRIM_PAUSE_S", 0.001)


@pytest.fixture
def workspaces(run: Run, store: AnyStore) -> list[str]:
    """Two, each with many events that have expired and one that has not."""

    async def fill(tx: Tx) -> list[str]:
        made = [(await create_workspace(tx, name, f"{name}@acme.test")).workspace_id for name in ("a", "b")]
        for id in made:
            old = NEW_YEAR - EVENT_LIFETIME_US - SECOND_US
            await tx.many(INSERT, [event(id, number, old) for number in range(EXPIRED)])
            await tx.run(INSERT, **event(id, EXPIRED, NEW_YEAR))
        return made

    return run(store.write(fill))


async def counts(store: Store, workspaces: list[str]) -> list[object]:
    found = []
    for id in workspaces:
        row = await store.read(lambda tx, id=id: tx.one(COUNT, workspace_id=id))  # type: ignore[misc]
        assert row is not None
        found.append(row[0])
    return found


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await condition():  # noqa: ASYNC110 - what it waits for is in a database
            await asyncio.sleep(0.01)


def test_several_processes_trim_at_once_while_others_read_and_write(
    run: Run, store: AnyStore, workspaces: list[str]
) -> None:
    removed: list[int] = []

    async def trim() -> None:
        removed.append(await Trimming(store).trim())

    async def write() -> int:
        for number in range(50):
            row = event(workspaces[0], EXPIRED + 1 + number, NEW_YEAR)
            await store.write(lambda tx, row=row: tx.run(INSERT, **row))  # type: ignore[misc]
            assert (await counts(store, workspaces))[0] != 0
        return 50

    async def all_at_once() -> None:
        await asyncio.gather(trim(), trim(), trim(), write())
        # What one left to another that was at it is gone with the next round.
        await trim()

    run(all_at_once())
    assert sum(removed) == 2 * EXPIRED
    assert run(counts(store, workspaces)) == [1 + 50, 1]


def test_it_begins_by_itself_and_stops_at_once(run: Run, store: AnyStore, workspaces: list[str]) -> None:
    async def begin_and_stop() -> None:
        stop = asyncio.Event()
        running = asyncio.create_task(Trimming(store).run(stop))

        async def is_done() -> bool:
            return await counts(store, workspaces) == [1, 1]

        await until(is_done)
        stop.set()
        async with asyncio.timeout(5):
            await running

    run(begin_and_stop())


def test_it_stops_in_the_middle_too(
    run: Run, store: AnyStore, workspaces: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trimming, "TRIM_PAUSE_S", 3600.0)

    async def begin_and_stop() -> None:
        stop = asyncio.Event()
        running = asyncio.create_task(Trimming(store).run(stop))

        async def has_begun() -> bool:
            return await counts(store, workspaces) != [EXPIRED + 1] * 2

        await until(has_begun)
        stop.set()
        async with asyncio.timeout(5):
            await running
        assert await counts(store, workspaces) == [EXPIRED + 1 - TRIMMED_AT_ONCE, EXPIRED + 1]

    run(begin_and_stop())


class Failing:
    """A store whose first reads fail."""

    def __init__(self, store: Store, failures: list[Exception]) -> None:
        self._store, self._failures = store, failures

    async def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        if self._failures:
            raise self._failures.pop()
        return await self._store.read(operation)

    async def write(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        return await self._store.write(operation)


def test_a_database_that_is_away_and_a_mistake_do_not_end_it(
    run: Run,
    store: AnyStore,
    workspaces: list[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for name in ("TRIM_EVERY_S", "DELIVERY_BACK_OFF_MAX_S"):
        monkeypatch.setattr(trimming, name, 0.01)
    failing = Failing(store, [KeyError("a mistake"), Unavailable("away"), Unavailable("away")])

    async def begin_and_stop() -> None:
        stop = asyncio.Event()
        running = asyncio.create_task(Trimming(failing).run(stop))  # type: ignore[arg-type]

        async def is_done() -> bool:
            return await counts(store, workspaces) == [1, 1]

        await until(is_done)
        stop.set()
        await running

    run(begin_and_stop())
    assert caplog.text.count("removing what has expired failed") == 1
