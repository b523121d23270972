"""The embedded engine: SQLite through apsw, readers in the event loop, writes committed in groups.

One connection writes. What arrives while a commit is under way waits, then runs, operation after operation,
each in a savepoint, inside one transaction; only the COMMIT goes to a thread, then every caller is answered.
"""

import asyncio
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import apsw

from deskwire.model.errors import Unavailable
from deskwire.model.moments import Moment
from deskwire.model.text import Parts
from deskwire.store import sqlite_search
from deskwire.store.clock import Clock
from deskwire.store.schema import reason
from deskwire.store.search import Entry, Subject
from deskwire.store.statement import Row, Statement, Value
from deskwire.store.transaction import Tx

T = TypeVar("T")

GROUP_OPERATIONS = 256
LOCK_WAIT_S = 5.0
LOCK_RETRY_S = 0.005
FILE_LOOK_S = 0.5
WRITER_CACHE_KIB = 16 * 1024
READER_CACHE_KIB = 16 * 1024
ASIDE_THREADS = 2

AWAY = (
    apsw.BusyError,
    apsw.LockedError,
    apsw.FullError,
    apsw.IOError,
    apsw.CantOpenError,
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.ReadOnlyError,
    apsw.ProtocolError,
    apsw.NoMemError,
)


class SqliteTx:
    """A transaction whose methods never suspend, so an operation runs from start to end in one go."""

    def __init__(self, connection: apsw.Connection, now: Moment) -> None:
        self._connection = connection
        self.now = now

    async def one(self, statement: Statement, **values: Value) -> Row | None:
        text = statement.sqlite
        for row in self._connection.execute(text.sql, text.values(values)):
            return cast(Row, row)
        return None

    async def all(self, statement: Statement, **values: Value) -> Sequence[Row]:
        text = statement.sqlite
        return cast(Sequence[Row], self._connection.execute(text.sql, text.values(values)).fetchall())

    async def run(self, statement: Statement, **values: Value) -> None:
        text = statement.sqlite
        self._connection.execute(text.sql, text.values(values))

    async def many(self, statement: Statement, rows: Iterable[Mapping[str, Value]]) -> None:
        text = statement.sqlite
        self._connection.executemany(text.sql, [text.values(row) for row in rows])

    async def index(self, subject: Subject, workspace_id: str, entries: Sequence[Entry]) -> None:
        sqlite_search.index(self._connection, subject, workspace_id, entries)

    async def candidates(
        self, subject: Subject, workspace_id: str, terms: Parts, limit: int
    ) -> Sequence[str]:
        return sqlite_search.candidates(self._connection, subject, workspace_id, terms, limit)


@dataclass
class Waiting(Generic[T]):
    """An operation that waits for its group, and where its caller is answered."""

    operation: Callable[[Tx], Awaitable[T]]
    answer: asyncio.Future[T]
    outcome: T | None = None
    failure: BaseException | None = None


@dataclass
class Figures:
    """What the metrics tell of the writer."""

    groups: int = 0
    operations: int = 0


class SqliteStore:
    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self.figures = Figures()
        self._clock = clock
        self._queue: deque[Waiting[Any]] = deque()
        self._draining: asyncio.Task[None] | None = None
        self._committer = ThreadPoolExecutor(1, "commit")
        self._aside = ThreadPoolExecutor(ASIDE_THREADS, "aside")
        self._idle_asides: list[apsw.Connection] = []
        self._next_look = 0.0
        self._is_reading = False
        try:
            self._open()
        except apsw.Error as error:
            raise self._away(error) from error

    @property
    def waiting(self) -> int:
        return len(self._queue)

    async def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        self._look()
        try:
            self._begin_reading()
            return await operation(SqliteTx(self._reader, self._clock()))
        except AWAY as error:
            raise self._away(error) from error

    def _begin_reading(self) -> None:
        """All reads of one turn of the loop see one moment, which spares each of them SQLite's file locks.

        Nothing that they could have heard of is younger: who asks in this turn asked before it began.
        """
        if not self._is_reading:
            self._reader.execute("BEGIN")
            self._is_reading = True
            asyncio.get_running_loop().call_soon(self._end_reading)

    def _end_reading(self) -> None:
        if self._is_reading:
            self._is_reading = False
            if self._reader.in_transaction:
                self._reader.execute("COMMIT")

    async def read_aside(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        self._look()

        def run() -> T:
            connection = self._idle_asides.pop() if self._idle_asides else self._connect_reader()
            try:
                return run_through(operation(SqliteTx(connection, self._clock())))
            finally:
                self._idle_asides.append(connection)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._aside, run)
        except AWAY as error:
            raise self._away(error) from error

    async def write(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        self._look()
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.append(Waiting(operation, answer))
        if self._draining is None:
            self._draining = asyncio.create_task(self._drain())
        return await answer

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Tx]:
        self._look()
        try:
            connection = self._connect_reader()
            try:
                connection.execute("BEGIN")
                yield SqliteTx(connection, self._clock())
            finally:
                connection.close()
        except AWAY as error:
            raise self._away(error) from error

    async def close(self) -> None:
        if self._draining is not None:
            await self._draining
        self._committer.shutdown()
        self._aside.shutdown()
        self._close_connections()

    async def _drain(self) -> None:
        try:
            while self._queue:
                group: list[Waiting[Any]] = []
                try:
                    await self._begin()
                    self._run_group(group)
                    await asyncio.get_running_loop().run_in_executor(self._committer, self._commit)
                except AWAY as error:
                    self._roll_back()
                    self._fail(group or self._all_waiting(), error)
                else:
                    self.figures.groups += 1
                    self.figures.operations += len(group)
                    answer(group)
        finally:
            self._draining = None

    async def _begin(self) -> None:
        give_up_at = time.monotonic() + LOCK_WAIT_S
        while True:
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                return
            except apsw.BusyError:
                # Another process writes; the loop must not wait for it.
                if time.monotonic() > give_up_at:
                    raise
                await asyncio.sleep(LOCK_RETRY_S)

    def _run_group(self, group: list[Waiting[Any]]) -> None:
        tx = SqliteTx(self._writer, self._clock())
        while self._queue and len(group) < GROUP_OPERATIONS:
            waiting = self._queue.popleft()
            group.append(waiting)
            self._writer.execute("SAVEPOINT operation")
            try:
                waiting.outcome = run_through(waiting.operation(tx))
            except AWAY:
                raise
            except Exception as failure:  # noqa: BLE001 - the caller is told, and meets it there
                waiting.failure = failure
                self._writer.execute("ROLLBACK TO operation")
            self._writer.execute("RELEASE operation")

    def _commit(self) -> None:
        self._writer.execute("COMMIT")

    def _roll_back(self) -> None:
        if self._writer.in_transaction:
            self._writer.execute("ROLLBACK")

    def _all_waiting(self) -> list[Waiting[Any]]:
        everybody = list(self._queue)
        self._queue.clear()
        return everybody

    def _fail(self, group: list[Waiting[Any]], error: apsw.Error) -> None:
        away = self._away(error)
        for waiting in group:
            waiting.failure = away
        answer(group)

    def _open(self) -> None:
        self._writer = self._connect()
        self._writer.pragma("cache_size", -WRITER_CACHE_KIB)
        self._reader = self._connect_reader()
        self._file = identity(self.path)

    def _connect(self) -> apsw.Connection:
        connection = connect(self.path)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.pragma("foreign_keys", True)
        return connection

    def _connect_reader(self) -> apsw.Connection:
        connection = connect(self.path)
        connection.pragma("cache_size", -READER_CACHE_KIB)
        connection.pragma("query_only", True)
        return connection

    def _look(self) -> None:
        """Notice, now and then, a database file that was taken away or put back, and open what is there."""
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + FILE_LOOK_S
        found = identity(self.path)
        if found == self._file:
            return
        self._next_look = 0.0
        if found is None:
            raise Unavailable(f"the database file {self.path} is not there")
        if self._draining is not None:
            raise Unavailable(f"the database file {self.path} was replaced")
        try:
            self._close_connections()
            self._open()
        except apsw.Error as error:
            raise self._away(error) from error
        self._next_look = time.monotonic() + FILE_LOOK_S

    def _away(self, error: apsw.Error) -> Unavailable:
        # What is damaged or full is looked at afresh, so that a mended file is taken up again.
        if isinstance(error, apsw.CorruptError | apsw.NotADBError | apsw.IOError | apsw.CantOpenError):
            self._file = None
            self._next_look = 0.0
        return Unavailable(f"the database {self.path} cannot be used: {reason(error)}")

    def _close_connections(self) -> None:
        self._end_reading()
        for connection in (self._writer, self._reader, *self._idle_asides):
            connection.close(True)
        self._idle_asides.clear()


def connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(
        str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOMUTEX, statementcachesize=512
    )
    # Otherwise a statement is planned anew for other values, which costs more than most statements do.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    return connection


def run_through(awaitable: Awaitable[T]) -> T:
    """Run an operation whose statements never suspend from its start to its end."""
    operation = cast(Coroutine[Any, Any, T], awaitable)
    try:
        operation.send(None)
    except StopIteration as end:
        return cast(T, end.value)
    operation.close()
    raise RuntimeError("an operation waited for something else than its transaction")


def answer(group: list[Waiting[Any]]) -> None:
    for waiting in group:
        if waiting.answer.done():
            continue
        if waiting.failure is not None:
            waiting.answer.set_exception(waiting.failure)
        else:
            waiting.answer.set_result(waiting.outcome)


def identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
