"""Writes on SQLite in groups: everybody gets their own answer, and what is answered is on disk."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from deskwire.model.errors import Unavailable
from deskwire.model.text import Parts
from deskwire.store import sqlite, sqlite_groups
from deskwire.store.clock import system_clock
from deskwire.store.search import Entry, Subject
from deskwire.store.sqlite import SqliteStore
from deskwire.store.transaction import Tx
from tests.engines import Run
from tests.store.deeds import (
    COUNT_OWNERS,
    EMAIL,
    Changed,
    create,
    create_and_change_mind,
    insert_again,
    kept,
    names,
)
from tests.store.processes import locked, running

LONG_S = 60


@pytest.fixture(autouse=True)
def patient_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, only what a test is about ends a group."""
    monkeypatch.setattr(sqlite_groups, "GROUP_S", LONG_S)


@contextmanager
def disk_at_rest(store: SqliteStore) -> Iterator[None]:
    """No commit gets through until the block is left."""
    goes_on = threading.Event()

    def wait() -> None:
        assert goes_on.wait(LONG_S)

    waiting = store._groups._committer.submit(wait)
    try:
        yield
    finally:
        goes_on.set()
        waiting.result(LONG_S)


async def turns(number: int = 10) -> None:
    """Lets the loop do what is ready to be done."""
    for _ in range(number):
        await asyncio.sleep(0)


def named(name: str) -> Callable[[Tx], Awaitable[str]]:
    return lambda tx: create(tx, name)


def test_many_writers_each_get_their_own_answer(run: Run, sqlite_store: SqliteStore) -> None:
    async def write() -> None:
        ids = await asyncio.gather(*(sqlite_store.write(named(f"number {n}")) for n in range(1000)))
        assert await sqlite_store.read(names) == {id: f"number {n}" for n, id in enumerate(ids)}
        assert sqlite_store.figures.operations == 1000
        assert sqlite_store.figures.groups < 200

    run(write())


def test_an_operation_that_raises_undoes_itself_alone(run: Run, sqlite_store: SqliteStore) -> None:
    async def write() -> None:
        operations = [create_and_change_mind if n % 3 == 1 else create for n in range(30)]
        with disk_at_rest(sqlite_store):
            tasks = [asyncio.create_task(sqlite_store.write(operation)) for operation in operations]
            await turns()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        for n, answer in enumerate(answers):
            assert isinstance(answer, Changed if n % 3 == 1 else str)
        assert await kept(sqlite_store) == {answer for answer in answers if isinstance(answer, str)}

    run(write())


def test_an_operation_that_fails_without_a_trace_makes_nobody_run_twice(
    run: Run, sqlite_store: SqliteStore
) -> None:
    begun: list[str] = []

    async def begin(tx: Tx, name: str, *, fail_before: bool = False, fail_after: bool = False) -> str:
        begun.append(name)
        if fail_before:
            raise Changed
        id = await create(tx, name)
        if fail_after:
            raise Changed
        return id

    async def write(spoils: bool) -> None:
        begun.clear()
        with disk_at_rest(sqlite_store):
            tasks = [
                asyncio.create_task(sqlite_store.write(lambda tx: begin(tx, "first"))),
                asyncio.create_task(
                    sqlite_store.write(
                        lambda tx: begin(tx, "second", fail_before=not spoils, fail_after=spoils)
                    )
                ),
                asyncio.create_task(sqlite_store.write(lambda tx: begin(tx, "third"))),
            ]
            await turns()
        first, second, third = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(second, Changed)
        assert {first, third} <= set(await sqlite_store.read(names))

    run(write(spoils=False))
    assert begun == ["first", "second", "third"]
    run(write(spoils=True))
    assert begun == ["first", "second", "first", "second", "third"]
    # For a while each has a savepoint from the start.
    run(write(spoils=True))
    assert begun == ["first", "second", "third"]
    assert sqlite_store.figures.operations == 9


def test_an_operation_sees_what_those_before_it_in_its_group_wrote(
    run: Run, sqlite_store: SqliteStore
) -> None:
    async def count(tx: Tx) -> object:
        row = await tx.one(COUNT_OWNERS, email=EMAIL)
        assert row is not None
        return row[0]

    async def write() -> None:
        with disk_at_rest(sqlite_store):
            first = asyncio.create_task(sqlite_store.write(create))
            second = asyncio.create_task(sqlite_store.write(count))
            await turns()
            assert sqlite_store.waiting == 0
        await first
        assert await second == 1

    run(write())


WORKSPACE = "01a1fd25-0000-7000-8000-000000000abc"
THINGS = ["01a1fd25-0000-7000-8000-00000000000a", "01a1fd25-0000-7000-8000-00000000000b"]


def test_what_a_group_says_for_the_index_is_written_once_and_without_what_was_undone(
    run: Run, sqlite_store: SqliteStore
) -> None:
    async def say(tx: Tx, thing: str, *terms: str) -> None:
        await tx.index(Subject.MESSAGES, WORKSPACE, [Entry(thing, tx.now, " ".join(terms))])

    async def say_and_fail(tx: Tx) -> None:
        await say(tx, THINGS[1], "word")
        raise Changed

    async def write() -> tuple[object, ...]:
        return await asyncio.gather(
            sqlite_store.write(lambda tx: say(tx, THINGS[0], "first")),
            sqlite_store.write(say_and_fail),
            sqlite_store.write(lambda tx: say(tx, THINGS[0], "word")),
            return_exceptions=True,
        )

    async def find(term: str) -> list[str]:
        parts = Parts((term,), ())
        return list(await sqlite_store.read(lambda tx: tx.candidates(Subject.MESSAGES, WORKSPACE, parts, 10)))

    assert [type(outcome) for outcome in run(write())] == [type(None), Changed, type(None)]
    assert sqlite_store.figures.groups == 1
    assert run(find("word")) == [THINGS[0]]
    assert run(find("first")) == []


def test_a_read_waits_for_no_commit_and_sees_nothing_of_it(run: Run, sqlite_store: SqliteStore) -> None:
    async def write() -> None:
        before = await sqlite_store.write(create)
        with disk_at_rest(sqlite_store):
            writing = asyncio.create_task(sqlite_store.write(create))
            await turns()
            assert await kept(sqlite_store) == {before}
            assert set(await sqlite_store.read_aside(names)) == {before}
            async with sqlite_store.snapshot() as tx:
                assert set(await names(tx)) == {before}
            assert not writing.done()
        after = await writing
        assert await kept(sqlite_store) == {before, after}

    run(write())


def test_what_comes_during_a_commit_is_committed_at_once_after_it(
    run: Run, sqlite_store: SqliteStore
) -> None:
    async def write() -> None:
        with disk_at_rest(sqlite_store):
            tasks = [asyncio.create_task(sqlite_store.write(create))]
            await turns()
            tasks += [asyncio.create_task(sqlite_store.write(create)) for _ in range(100)]
            await turns()
            assert sqlite_store.waiting == 100
        await asyncio.gather(*tasks)
        assert sqlite_store.figures.groups == 2

    run(write())


def test_who_asks_again_when_answered_joins_those_who_have_waited(
    run: Run, sqlite_store: SqliteStore
) -> None:
    async def write_twice() -> None:
        await sqlite_store.write(create)
        await sqlite_store.write(create)

    async def write() -> None:
        with disk_at_rest(sqlite_store):
            tasks = [asyncio.create_task(write_twice()) for _ in range(10)]
            await turns()
            tasks += [asyncio.create_task(write_once()) for _ in range(10)]
            await turns()
        await asyncio.gather(*tasks)
        assert sqlite_store.figures.operations == 30
        assert sqlite_store.figures.groups == 2

    async def write_once() -> None:
        await sqlite_store.write(create)

    run(write())


def test_reads_have_their_turn_between_the_operations_of_a_group(
    run: Run, sqlite_store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_groups, "TURN_S", 0)
    done: list[str] = []

    async def note(tx: Tx) -> None:
        await create(tx)
        done.append("write")

    async def read() -> None:
        for _ in range(20):
            assert await kept(sqlite_store) == set(), "nothing is committed yet"
            done.append("read")
            await asyncio.sleep(0)

    async def write() -> None:
        await asyncio.gather(*(sqlite_store.write(note) for _ in range(40)), read())
        assert sqlite_store.figures.groups == 1

    run(write())
    begin = done.index("write")
    assert done[begin : begin + 20].count("read") >= 9


def test_a_group_has_so_many_operations_and_no_more(
    run: Run, sqlite_store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_groups, "GROUP_OPERATIONS", 10)

    async def write() -> None:
        await asyncio.gather(*(sqlite_store.write(create) for _ in range(95)))
        assert sqlite_store.figures.groups == 10

    run(write())


def test_a_group_of_long_operations_ends_early(
    run: Run, sqlite_store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_groups, "GROUP_S", 0)

    async def write() -> None:
        await asyncio.gather(*(sqlite_store.write(create) for _ in range(5)))
        assert sqlite_store.figures.groups == 5

    run(write())


def test_what_is_answered_is_there_for_another_connection(run: Run, sqlite_store: SqliteStore) -> None:
    async def write() -> None:
        id = await sqlite_store.write(create)
        other = apsw.Connection(str(sqlite_store.path))
        assert other.execute("SELECT id FROM workspaces").get == id
        assert other.pragma("synchronous") == 2
        other.close()

    run(write())


def test_a_caller_that_gives_up_before_its_turn_has_nothing_done(run: Run, sqlite_store: SqliteStore) -> None:
    async def write() -> None:
        with disk_at_rest(sqlite_store):
            under_way = asyncio.create_task(sqlite_store.write(create))
            await turns()
            given_up = asyncio.create_task(sqlite_store.write(create))
            beside = asyncio.create_task(sqlite_store.write(create))
            await turns()
            given_up.cancel()
            await turns()
        ids = {await under_way, await beside}
        assert await kept(sqlite_store) == ids
        assert given_up.cancelled()

    run(write())


def test_a_caller_that_gives_up_during_its_commit_harms_nobody(run: Run, sqlite_store: SqliteStore) -> None:
    async def write() -> None:
        with disk_at_rest(sqlite_store):
            given_up = asyncio.create_task(sqlite_store.write(create))
            beside = asyncio.create_task(sqlite_store.write(create))
            await turns()
            given_up.cancel()
            await turns()
        assert await beside in await kept(sqlite_store)
        assert len(await kept(sqlite_store)) == 2
        assert await sqlite_store.write(create)

    run(write())


def test_an_operation_that_waits_for_something_else_is_refused_alone(
    run: Run, sqlite_store: SqliteStore
) -> None:
    async def dawdle(tx: Tx) -> None:
        await create(tx)
        await asyncio.sleep(0.001)

    async def nest(tx: Tx) -> None:
        await sqlite_store.write(create)

    async def write() -> None:
        answers = await asyncio.gather(
            sqlite_store.write(create),
            sqlite_store.write(dawdle),
            sqlite_store.write(nest),
            sqlite_store.write(create),
            return_exceptions=True,
        )
        good = {answer for answer in answers if isinstance(answer, str)}
        assert len(good) == 2
        assert await kept(sqlite_store) == good
        for refused in (answers[1], answers[2]):
            assert isinstance(refused, RuntimeError)
            assert "waited for something else than its transaction" in str(refused)
        with pytest.raises(RuntimeError, match="waited for something else"):
            await sqlite_store.read(lambda tx: asyncio.sleep(1))

    run(write())


def test_another_process_that_writes_is_waited_for_without_stopping_the_loop(
    run: Run, sqlite_store: SqliteStore
) -> None:
    async def write() -> None:
        with locked(sqlite_store.path, "BEGIN IMMEDIATE"):
            writing = asyncio.create_task(sqlite_store.write(create))
            for _ in range(50):
                began = time.monotonic()
                await asyncio.sleep(0.002)
                assert await kept(sqlite_store) == set()
                assert time.monotonic() - began < 0.5
            assert not writing.done()
        assert {await writing} == await kept(sqlite_store)

    run(write())


def test_who_waits_too_long_for_another_process_is_told_and_can_try_again(
    run: Run, sqlite_store: SqliteStore
) -> None:
    path = sqlite_store.path

    async def write() -> None:
        store = SqliteStore(path, system_clock, lock_wait_s=0.1)
        try:
            with locked(path, "BEGIN IMMEDIATE"):
                answers = await asyncio.gather(
                    *(store.write(create) for _ in range(3)), return_exceptions=True
                )
                for answer in answers:
                    assert isinstance(answer, Unavailable)
                    assert str(path) in str(answer) and "another process has locked it" in str(answer)
            assert await store.write(create) in await kept(store)
        finally:
            await store.close()

    run(write())
    assert sqlite.LOCK_WAIT_S == 5.0


def test_closing_answers_everybody_who_waits(run: Run, sqlite_store: SqliteStore) -> None:
    async def write() -> None:
        with disk_at_rest(sqlite_store):
            tasks = [asyncio.create_task(sqlite_store.write(create))]
            await turns()
            tasks += [asyncio.create_task(sqlite_store.write(create)) for _ in range(300)]
            await turns()
            closing = asyncio.create_task(sqlite_store.close())
            await turns()
        await closing
        ids = set(await asyncio.gather(*tasks))
        for call in (sqlite_store.write(create), sqlite_store.read(names), sqlite_store.read_aside(names)):
            with pytest.raises(Unavailable, match="is closed"):
                await call
        again = SqliteStore(sqlite_store.path, system_clock)
        assert await kept(again) == ids
        await again.close()
        assert not sqlite_store.path.with_name(sqlite_store.path.name + "-wal").exists()

    run(write())


def test_an_error_that_nobody_thought_of_reaches_everybody_in_the_group(
    run: Run, sqlite_store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    async def write() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(sqlite_store._groups, "_commit_in_thread", fail)
            answers = await asyncio.gather(
                *(sqlite_store.write(create) for _ in range(5)), return_exceptions=True
            )
        assert [type(answer) for answer in answers] == [ZeroDivisionError] * 5
        assert await kept(sqlite_store) == set()
        assert {await sqlite_store.write(create)} == await kept(sqlite_store)

    run(write())


def test_when_the_loop_ends_nobody_is_left_waiting(run: Run, sqlite_store: SqliteStore) -> None:
    goes_on = threading.Event()

    def wait() -> None:
        assert goes_on.wait(LONG_S)

    async def write() -> None:
        sqlite_store._groups._has_committed = wait
        tasks = [asyncio.create_task(sqlite_store.write(create)) for _ in range(3)]
        await turns()
        tasks.append(asyncio.create_task(sqlite_store.write(create)))
        await turns()
        draining = sqlite_store._groups._draining
        assert draining is not None
        draining.cancel()
        await turns()
        assert not any(task.done() for task in tasks), "the committing thread has the connection"
        goes_on.set()
        done, pending = await asyncio.wait(tasks, timeout=5)
        assert not pending
        assert len(done) == 4
        assert {await sqlite_store.write(create)} <= await kept(sqlite_store)

    run(write())


def test_a_statement_that_is_refused_fails_its_operation_alone(run: Run, sqlite_store: SqliteStore) -> None:
    async def write() -> None:
        there = await sqlite_store.write(create)

        answers = await asyncio.gather(
            sqlite_store.write(create),
            sqlite_store.write(lambda tx: insert_again(tx, there)),
            return_exceptions=True,
        )
        assert isinstance(answers[1], apsw.ConstraintError)
        assert await kept(sqlite_store) == {there, answers[0]}

    run(write())


def kill_while_writing(path: Path, writes: int) -> set[str]:
    """The ids of the writes that were answered before the process was killed."""
    with running("-m", "tests.store.writing", str(path)) as process:
        assert process.stdout
        answered = [process.stdout.readline() for _ in range(writes)]
        os.kill(process.pid, signal.SIGKILL)
        # The last line may have been cut off.
        answered += [line for line in process.stdout if line.endswith("\n")]
        assert process.wait() == -signal.SIGKILL
    return {line.strip() for line in answered}


def check_after_kill(run: Run, path: Path, writes: int) -> None:
    async def check(answered: set[str]) -> None:
        store = SqliteStore(path, system_clock)
        assert answered <= await kept(store)
        await store.write(create)
        await store.close()

    run(check(kill_while_writing(path, writes)))
    connection = apsw.Connection(str(path))
    assert connection.pragma("integrity_check") == "ok"
    connection.close()


def test_what_was_answered_before_a_kill_is_there_and_no_half_of_a_write(
    run: Run, sqlite_store: SqliteStore
) -> None:
    for writes in (1, 400):
        check_after_kill(run, sqlite_store.path, writes)


@pytest.mark.stress
def test_what_was_answered_before_any_of_many_kills_is_there(run: Run, sqlite_store: SqliteStore) -> None:
    for attempt in range(40):
        check_after_kill(run, sqlite_store.path, 1 + attempt * 37)
