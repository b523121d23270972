"""The embedded engine: SQLite through apsw, readers in the event loop, writes committed in groups."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import apsw

from deskwire.model.errors import Unavailable
from deskwire.store.clock import Clock
from deskwire.store.search import Subject
from deskwire.store.sqlite_file import (
    AWAY,
    DAMAGED,
    REOPENING,
    Presence,
    Signature,
    alone_in,
    check_schema,
    identity,
    open_reader,
    open_writer,
    presence,
    remove_left_behind,
    settle,
    signature,
    unavailable,
)
from deskwire.store.sqlite_groups import Figures, Groups
from deskwire.store.sqlite_pieces import arrange
from deskwire.store.sqlite_transaction import SqliteTx, perform
from deskwire.store.transaction import Bell, Tally, Tx

T = TypeVar("T")

LOCK_WAIT_S = 5.0
# In ordinary use nothing keeps a reader out, so whoever does so does it for longer than is worth waiting.
READ_LOCK_WAIT_S = 0.5
READ_LOCK_RETRY_S = 0.02
OPEN_WAIT_S = 0.25
FILE_LOOK_S = 0.5
ASIDE_THREADS = 2
READER_CACHE_KIB = 64 * 1024


class SqliteStore:
    def __init__(self, path: Path, clock: Clock, *, lock_wait_s: float = LOCK_WAIT_S) -> None:
        self.path = path
        self._clock = clock
        self._lock_wait_s = lock_wait_s
        self._aside = ThreadPoolExecutor(ASIDE_THREADS, "aside")
        self._opened = Presence(None, None)
        self._idle_asides: list[apsw.Connection] = []
        self._next_look = 0.0
        self._is_reading = False
        self._must_reopen = self._is_settled = False
        self._is_settled = False
        self._noted_damage: Signature | None = None
        self._damage: Signature | None = None
        self._is_closed = False
        try:
            writer = self._open(lock_wait_s)
        except AWAY as error:
            raise unavailable(path, error) from error
        self._groups = Groups(writer, clock, lock_wait_s, self._check_committed, self._away)

    @property
    def figures(self) -> Figures:
        return self._groups.figures

    @property
    def bell(self) -> Bell:
        return self._groups.bell

    @property
    def tally(self) -> Tally:
        return self._groups.tally

    @property
    def waiting(self) -> int:
        return self._groups.waiting

    async def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        give_up_at = 0.0
        while True:
            try:
                return self._read(operation)
            except apsw.BusyError as error:
                give_up_at = give_up_at or time.monotonic() + READ_LOCK_WAIT_S
                if time.monotonic() > give_up_at:
                    raise self._away(error) from error
                await asyncio.sleep(READ_LOCK_RETRY_S)

    async def read_aside(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        self._look()
        idle = self._idle_asides

        def run() -> T:
            try:
                connection = idle.pop()
            except IndexError:
                connection = open_reader(self.path, self._lock_wait_s)
            try:
                return perform(connection, operation, self._clock())
            finally:
                # Of connections to a database that was exchanged meanwhile this list is not used any more.
                idle.append(connection)

        return await self._run_aside(run)

    async def write(self, operation: Callable[[Tx], Awaitable[T]], cause: str | None = None) -> T:
        if self._damage is not None:
            self._next_look = 0.0
        self._look()
        if self._damage is not None:
            raise Unavailable(f"the database {self.path} is damaged; put a good copy in its place")
        return await self._groups.write(operation, cause)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Tx]:
        self._look()
        try:
            connection = open_reader(self.path, OPEN_WAIT_S)
            try:
                connection.execute("BEGIN")
                # BEGIN alone does not yet settle which moment it is.
                check_schema(self.path, connection)
                yield SqliteTx(connection, self._clock())
            finally:
                connection.close(True)
        except AWAY as error:
            raise self._away(error) from error

    async def analyse(self) -> None:
        """The planner goes by figures that no import changes, but it leaves large pieces of an index."""
        for subject in Subject:
            await self._arrange(subject)
            while await self._groups.write(partial(merge, subject=subject), None):
                pass

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = self._must_reopen = True
        self._next_look = 0.0
        await self._groups.finish()
        self._aside.shutdown()
        self._close_connections()

    async def _arrange(self, subject: Subject) -> None:
        self._look()

        def run() -> None:
            connection = open_writer(self.path, self._lock_wait_s)
            try:
                arrange(connection, subject)
            finally:
                connection.close(True)

        await self._run_aside(run)

    async def _run_aside(self, job: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._aside, job)
        except AWAY as error:
            raise self._away(error) from error

    def _read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        self._look()
        try:
            self._begin_reading()
            return perform(self._reader, operation, self._clock())
        except apsw.BusyError:
            raise
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
            try:
                if self._reader.in_transaction:
                    self._reader.execute("COMMIT")
            except apsw.Error:
                self._must_reopen = True

    def _look(self) -> None:
        """Notice, now and then, a database that was taken away or mended, and open what is there."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + FILE_LOOK_S
        found = presence(self.path)
        is_mended = self._damage is not None and self._damage != signature(self.path)
        if found == self._opened and not self._must_reopen and not is_mended:
            return
        self._next_look = 0.0
        if self._is_closed:
            raise Unavailable(f"the database {self.path} is closed")
        if found.database is None:
            raise Unavailable(f"the database file {self.path} is not there")
        if self._groups.is_busy:
            raise Unavailable(f"the database file {self.path} is about to be opened anew")
        self._reopen(found)
        self._next_look = now + FILE_LOOK_S

    def _reopen(self, found: Presence) -> None:
        self._must_reopen = True
        is_damaged = self._noted_damage is not None and self._noted_damage == signature(self.path)
        is_mended = self._noted_damage is not None and not is_damaged
        is_another = found.database != self._opened.database or (is_mended and not self._is_settled)
        self._close_connections()
        self._damage = signature(self.path) if is_damaged else None
        try:
            with alone_in(self.path.parent):
                if is_another:
                    remove_left_behind(self.path, self._opened.wal)
                    self._opened = Presence(found.database, None)
                self._groups.connection = self._open(OPEN_WAIT_S)
        except OSError as error:
            raise unavailable(self.path, error) from error
        except AWAY as error:
            raise self._away(error) from error

    def _open(self, wait_s: float) -> apsw.Connection:
        database = identity(self.path)
        writer = open_writer(self.path, wait_s)
        try:
            self._reader = open_reader(self.path, wait_s)
            # Lists are read at random, and what is not found here is fetched again for each request.
            self._reader.pragma("cache_size", -READER_CACHE_KIB)
        except BaseException:
            writer.close(True)
            raise
        # From here on the loop does not wait for a lock.
        for connection in (writer, self._reader):
            connection.set_busy_timeout(0)
        self._opened = Presence(database, presence(self.path).wal)
        self._must_reopen = False
        self._noted_damage = None
        return writer

    def _close_connections(self) -> None:
        self._end_reading()
        idle, self._idle_asides = self._idle_asides, []
        for connection in (self._reader, *idle):
            connection.close(True)
        self._is_settled = settle(self._groups.connection) or self._is_settled
        self._groups.connection.close(True)

    def _check_committed(self) -> None:
        if presence(self.path) != self._opened:
            self._next_look = 0.0
            raise Unavailable(f"the database file {self.path} was taken away while it was written to")

    def _away(self, error: apsw.Error) -> Unavailable:
        if isinstance(error, REOPENING):
            self._must_reopen = True
            self._next_look = 0.0
        if isinstance(error, DAMAGED):
            self._note_damage()
        return unavailable(self.path, error)

    def _note_damage(self) -> None:
        """Empties the log, lest it be applied to the good copy that is put in the damaged file's place."""
        if not self._groups.is_busy:
            self._end_reading()
            self._is_settled = settle(self._groups.connection) or self._is_settled
        self._noted_damage = signature(self.path)


async def merge(tx: Tx, subject: Subject) -> bool:
    assert isinstance(tx, SqliteTx)
    return await tx.merge(subject)
