"""A PostgreSQL that stops, starts, refuses and interrupts: Unavailable, soon, and well again by itself."""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest
from sqlalchemy import bindparam, select, text
from sqlalchemy.sql.functions import func

from deskwire.model.errors import Unavailable
from deskwire.store import postgres, tables
from deskwire.store.clock import system_clock
from deskwire.store.postgres import PostgresStore, open_postgres
from deskwire.store.statement import Statement
from deskwire.store.transaction import Tx
from tests.engines import FEW_CONNECTIONS, Run
from tests.store.deeds import RENAME, create, insert_again, kept, names
from tests.store.servers import DATABASE, Server, server

__all__ = ["server"]

SOON_S = 5
GUEST = "guest"

SLEEP = Statement(select(func.pg_sleep(bindparam("seconds"))))
OWN_PID = Statement(select(func.pg_backend_pid()))
EVERYTHING = Statement(select(text("*")).select_from(tables.WORKSPACES))
BY_ID = Statement(select(tables.WORKSPACES.c.name).where(tables.WORKSPACES.c.id == bindparam("workspace_id")))


@asynccontextmanager
async def opened(url: str, connections: int = FEW_CONNECTIONS) -> AsyncIterator[PostgresStore]:
    store = await open_postgres(url, system_clock, connections)
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
def guest(server: Server) -> str:
    """The URL of a role that limits apply to, as they do not to the superuser."""
    server.execute(
        f"DROP OWNED BY {GUEST}"
        if server.execute(f"SELECT 1 FROM pg_roles WHERE rolname = '{GUEST}'")[0]
        else "",
        f"DROP ROLE IF EXISTS {GUEST}",
        f"CREATE ROLE {GUEST} LOGIN PASSWORD 'right'",
        f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {GUEST}",
    )
    return server.url().replace("//postgres:@", f"//{GUEST}:right@")


async def soon(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """What it answers or raises, which has to be soon."""
    began = time.monotonic()
    answer = (await asyncio.gather(coroutine, return_exceptions=True))[0]
    assert time.monotonic() - began < SOON_S
    return answer


async def sleep(tx: Tx) -> None:
    await tx.all(SLEEP, seconds=30)


def test_a_server_that_crashes_under_load_is_found_again(run: Run, server: Server) -> None:
    async def use() -> None:
        async with opened(server.url(), 10) as store:
            before = await kept(store)
            written: set[str] = set()
            failures: list[Unavailable] = []
            ends = asyncio.Event()

            async def work() -> None:
                while not ends.is_set():
                    for answer in (await soon(store.write(create)), await soon(store.read(names))):
                        match answer:
                            case str():
                                written.add(answer)
                            case Unavailable():
                                failures.append(answer)
                                await asyncio.sleep(0.01)
                            case _:
                                assert isinstance(answer, dict), repr(answer)

            workers = [asyncio.create_task(work()) for _ in range(20)]
            await asyncio.sleep(0.3)
            await asyncio.to_thread(server.stop_immediately)
            await asyncio.sleep(0.3)
            acknowledged_before = set(written)
            await asyncio.to_thread(server.start)
            await asyncio.sleep(0.5)
            ends.set()
            await asyncio.gather(*workers)
            assert acknowledged_before and failures and len(written) > len(acknowledged_before)
            found = await kept(store)
            # Of a write whose answer was lost nobody knows, but it is whole.
            assert before | written <= found
            assert len(found - before - written) <= 20

    run(use())


def test_a_server_that_is_not_there_is_named_at_start(run: Run, server: Server) -> None:
    async def start() -> None:
        server.stop_immediately()
        try:
            answer = await soon(open_postgres(server.url(), system_clock))
        finally:
            server.start()
        assert isinstance(answer, Unavailable)
        assert str(answer).startswith("PostgreSQL cannot be reached: ")
        assert "\n" not in str(answer)

    run(start())


def test_a_server_that_never_answers_is_given_up_at_start(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "CONNECT_TIMEOUT_S", 0.2)

    async def start() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            answer = await soon(open_postgres(f"postgresql://desk@127.0.0.1:{port}/desk", system_clock))
        assert isinstance(answer, Unavailable)
        assert "TimeoutError" in str(answer)

    run(start())
    assert CONNECT_TIMEOUT_AS_SHIPPED_S < SOON_S


CONNECT_TIMEOUT_AS_SHIPPED_S = postgres.CONNECT_TIMEOUT_S


def test_a_wrong_password_is_named_and_not_repeated(run: Run, server: Server, guest: str) -> None:
    server.allow(f"local all {GUEST} scram-sha-256")

    async def start() -> None:
        async with opened(guest):
            pass
        answer = await soon(open_postgres(guest.replace("right", "wrong"), system_clock))
        assert isinstance(answer, Unavailable)
        assert f'password authentication failed for user "{GUEST}"' in str(answer)
        assert "wrong" not in str(answer)

    run(start())


def test_a_missing_database_is_named(run: Run, server: Server) -> None:
    async def start() -> None:
        answer = await soon(open_postgres(server.url("elsewhere"), system_clock))
        assert isinstance(answer, Unavailable)
        assert 'database "elsewhere" does not exist' in str(answer)

    run(start())


def test_an_address_that_cannot_be_read_is_named(run: Run) -> None:
    answer = run(soon(open_postgres("postgresql://desk@host:port/desk", system_clock)))
    assert isinstance(answer, Unavailable)


def test_the_servers_connection_limit_is_met_with_unavailable(run: Run, server: Server, guest: str) -> None:
    server.execute(f"ALTER ROLE {GUEST} CONNECTION LIMIT 1")

    async def use() -> None:
        async with opened(guest) as store:
            sleeping = asyncio.create_task(store.read(sleep))
            await asyncio.sleep(0.05)
            answer = await soon(store.read(names))
            assert isinstance(answer, Unavailable)
            assert "too many connections" in str(answer)
            sleeping.cancel()
            await asyncio.wait([sleeping])
            await store.read(names)
            await store.write(create)

    run(use())


def test_who_waits_too_long_for_a_connection_is_told(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert postgres.ACQUIRE_TIMEOUT_S < SOON_S
    monkeypatch.setattr(postgres, "ACQUIRE_TIMEOUT_S", 0.1)

    async def use() -> None:
        async with opened(server.url()) as store:
            sleeping = [asyncio.create_task(store.read(sleep)) for _ in range(FEW_CONNECTIONS)]
            await asyncio.sleep(0.1)
            assert isinstance(await soon(store.read(names)), Unavailable)
            for task in sleeping:
                task.cancel()
            await asyncio.wait(sleeping)
            await store.write(create)

    run(use())


def test_a_statement_that_takes_the_server_too_long_is_unavailable(
    run: Run, server: Server, guest: str
) -> None:
    server.execute(f"ALTER ROLE {GUEST} SET statement_timeout = '50ms'")

    async def use() -> None:
        async with opened(guest) as store:
            for call in (store.read(sleep), store.write(sleep)):
                answer = await soon(call)
                assert isinstance(answer, Unavailable)
                assert "statement timeout" in str(answer)
            await store.write(create)

    run(use())


def test_a_server_that_falls_silent_is_given_up(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "COMMAND_TIMEOUT_S", 0.1)

    async def use() -> None:
        async with opened(server.url()) as store:
            for call in (store.read(sleep), store.write(sleep)):
                assert isinstance(await soon(call), Unavailable)
            await store.write(create)

    run(use())


def test_writes_that_lock_each_other_out_are_run_again(run: Run, server: Server) -> None:
    server.execute(f"ALTER DATABASE {DATABASE} SET deadlock_timeout = '20ms'")
    runs: list[str] = []

    async def rename(tx: Tx, name: str, first: str, second: str, met: asyncio.Barrier) -> None:
        runs.append(name)
        await tx.run(RENAME, workspace_id=first, new_name=name)
        if runs.count(name) == 1:
            await met.wait()
        await tx.run(RENAME, workspace_id=second, new_name=name)

    async def use() -> None:
        met = asyncio.Barrier(2)
        async with opened(server.url()) as store:
            one, other = await store.write(create), await store.write(create)
            await asyncio.gather(
                store.write(lambda tx: rename(tx, "here", one, other, met)),
                store.write(lambda tx: rename(tx, "there", other, one, met)),
            )
            assert sorted(set(runs)) == ["here", "there"] and len(runs) == 3
            found = await store.read(names)
            assert found[one] == found[other] == runs[-1], "the one that was run again came last"

    run(use())


@pytest.mark.parametrize("conflict", [asyncpg.SerializationError, asyncpg.DeadlockDetectedError])
def test_a_write_that_always_meets_another_is_given_up(
    run: Run, server: Server, conflict: type[Exception]
) -> None:
    runs = 0

    async def collide(tx: Tx) -> None:
        nonlocal runs
        runs += 1
        await create(tx)
        raise conflict("met another")

    async def use() -> None:
        async with opened(server.url()) as store:
            before = await kept(store)
            answer = await soon(store.write(collide))
            assert isinstance(answer, Unavailable)
            assert runs == postgres.ATTEMPTS
            assert await kept(store) == before

    run(use())


def test_a_connection_that_is_ended_in_the_middle_of_a_write_leaves_nothing_half_done(
    run: Run, server: Server
) -> None:
    runs = 0

    async def die(tx: Tx) -> None:
        nonlocal runs
        runs += 1
        await create(tx)
        end(server, await own_pid(tx))
        await create(tx)

    async def use() -> None:
        async with opened(server.url()) as store:
            before = await kept(store)
            assert isinstance(await soon(store.write(die)), Unavailable)
            assert runs == 1
            assert await kept(store) == before
            await store.write(create)

    run(use())


def test_a_read_whose_connection_is_ended_is_answered_over_another(run: Run, server: Server) -> None:
    runs = 0

    async def die_once(tx: Tx) -> dict[str, str]:
        nonlocal runs
        runs += 1
        if runs == 1:
            end(server, await own_pid(tx))
        return await names(tx)

    async def use() -> None:
        async with opened(server.url()) as store:
            assert set(await store.read(die_once)) == await kept(store)
            assert runs == 2

    run(use())


@pytest.mark.parametrize("deed", ["read", "write"])
def test_connections_that_were_ended_while_idle_cost_nobody_anything(
    run: Run, server: Server, deed: str
) -> None:
    async def use() -> None:
        async with opened(server.url()) as store:
            await asyncio.gather(*(store.read(names) for _ in range(FEW_CONNECTIONS)))
            assert store.pool.get_idle_size() == FEW_CONNECTIONS
            # The loop stands still meanwhile and has not heard of it when it goes on.
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            )
            if deed == "read":
                await store.read(names)
            else:
                assert await store.write(create) in await kept(store)

    run(use())


async def own_pid(tx: Tx) -> int:
    row = await tx.one(OWN_PID)
    assert row is not None and isinstance(row[0], int)
    return row[0]


def end(server: Server, pid: int) -> None:
    server.execute(f"SELECT pg_terminate_backend({pid}, 5000)")


def test_a_request_that_is_cancelled_in_a_query_leaves_the_pool_whole(run: Run, server: Server) -> None:
    async def create_and_sleep(tx: Tx) -> None:
        await create(tx)
        await sleep(tx)

    async def use() -> None:
        async with opened(server.url()) as store:
            before = await kept(store)
            calls: list[Callable[[], Awaitable[None]]] = [
                lambda: store.read(sleep),
                lambda: store.write(create_and_sleep),
            ]
            for call in calls * FEW_CONNECTIONS:
                task = asyncio.ensure_future(call())
                await asyncio.sleep(0.05)
                task.cancel()
                await asyncio.wait([task], timeout=SOON_S)
                assert task.cancelled()
            assert store.pool.get_idle_size() == store.pool.get_size()
            assert await kept(store) == before
            await asyncio.gather(*(store.write(create) for _ in range(10)))
            assert len(await kept(store)) == len(before) + 10
        assert server.execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE query LIKE '%pg_sleep(%' AND state = 'active' AND pid <> pg_backend_pid()"
        ) == ["0"]

    run(use())


def test_two_loops_share_a_database(server: Server) -> None:
    written: list[set[str]] = []

    async def write() -> None:
        async with opened(server.url()) as store:
            ids = await asyncio.gather(*(store.write(create) for _ in range(50)))
            written.append(set(ids))
            assert set(ids) <= await kept(store)

    threads = [threading.Thread(target=lambda: asyncio.run(write())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(ids) for ids in written] == [50, 50]


def test_a_mistake_is_not_taken_for_an_outage(run: Run, server: Server) -> None:
    async def misname(tx: Tx) -> None:
        await tx.one(BY_ID, workspace_id="no id")

    async def misfit(tx: Tx) -> None:
        await tx.one(SLEEP, seconds="soon")

    async def hurry(tx: Tx) -> None:
        for answer in await asyncio.gather(names(tx), names(tx), return_exceptions=True):
            if isinstance(answer, BaseException):
                raise answer

    async def use() -> None:
        async with opened(server.url()) as store:
            there = await store.write(create)
            before = await kept(store)
            with pytest.raises(asyncpg.DataError):
                await store.read(misname)
            with pytest.raises(asyncpg.DataError, match="invalid input for query argument"):
                await store.write(misfit)
            with pytest.raises(asyncpg.InterfaceError, match="another operation is in progress"):
                await store.read(hurry)
            with pytest.raises(asyncpg.UniqueViolationError):
                await store.write(lambda tx: insert_again(tx, there))
            assert await kept(store) == before

    run(use())


def test_a_migration_under_a_running_program_costs_it_nothing(run: Run, server: Server) -> None:
    async def read_all(tx: Tx) -> int:
        return len((await tx.all(EVERYTHING))[0])

    async def use() -> None:
        async with opened(server.url(), 1) as store:
            await store.write(create)
            width = await store.write(read_all)
            assert await store.read(read_all) == width
            server.execute("ALTER TABLE workspaces ADD COLUMN more text")
            try:
                assert await store.write(read_all) == width + 1
                assert await store.read(read_all) == width + 1
            finally:
                server.execute("ALTER TABLE workspaces DROP COLUMN more")

    run(use())


def test_a_snapshot_is_of_the_moment_when_it_was_opened(run: Run, server: Server) -> None:
    async def use() -> None:
        async with opened(server.url()) as store:
            before = await kept(store)
            async with store.snapshot() as tx:
                await store.write(create)
                assert set(await names(tx)) == before

    run(use())


def test_a_store_whose_server_is_gone_is_closed_all_the_same(run: Run, server: Server) -> None:
    async def use() -> None:
        store = await open_postgres(server.url(), system_clock)
        await store.write(create)
        server.stop_immediately()
        try:
            assert await soon(store.close()) is None
            assert isinstance(await soon(store.read(names)), Unavailable)
        finally:
            server.start()

    run(use())
