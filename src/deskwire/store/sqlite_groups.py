"""Writes on SQLite, committed in groups: one flush of the disk for all that came during the last one.

What arrives while a commit is under way waits, then runs, operation after operation, inside one transaction;
only the COMMIT goes to a thread, then every caller is answered. Between operations the loop has its turn, so
that reads need not wait, and what it brings joins the group: those who were answered a moment ago ask again
at once, and would otherwise be a group of their own, that waits while this one is committed. Savepoints cost
more than most statements, so operations have none, until one fails that has written something: then the
group is taken back and runs anew, each operation in a savepoint of its own.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import apsw

from deskwire.model.moments import Moment
from deskwire.store.clock import Clock
from deskwire.store.sqlite_file import AWAY
from deskwire.store.sqlite_search import Later
from deskwire.store.sqlite_transaction import perform
from deskwire.store.transaction import Bell, Tally, Tx

T = TypeVar("T")

GROUP_OPERATIONS = 256
# Other processes cannot write meanwhile.
GROUP_S = 0.01
# Operations run for so long before the loop has its turn.
TURN_S = 0.0005
# A request needs two turns to come from its connection to the queue.
IDLE_TURNS = 2
# After a group that had to run twice; failures seldom come alone.
GROUPS_APART = 64
LOCK_RETRY_S = 0.001
BEGINNING = Moment(0)


@dataclass
class Waiting(Generic[T]):
    """An operation that waits for its group, and where its caller is answered."""

    operation: Callable[[Tx], Awaitable[T]]
    answer: asyncio.Future[T]
    cause: str | None = None
    now: Moment = BEGINNING
    outcome: T | None = None
    failure: Exception | None = None

    def settle(self, failure: BaseException | None) -> None:
        """Tells the caller, and forgets it: the frames of a failure know this, and would be in a circle."""
        answer, outcome = self.answer, self.outcome
        del self.answer, self.outcome, self.failure
        if answer.done():
            return
        match failure:
            case None:
                answer.set_result(cast(T, outcome))
            case asyncio.CancelledError():
                answer.cancel()
            case _:
                answer.set_exception(failure)


@dataclass
class Figures:
    """What the metrics tell of the writer."""

    groups: int = 0
    operations: int = 0


class Groups:
    """`has_committed` is called in the committing thread; what `put_in_words` makes of an error is raised."""

    def __init__(
        self,
        connection: apsw.Connection,
        clock: Clock,
        lock_wait_s: float,
        has_committed: Callable[[], None],
        put_in_words: Callable[[apsw.Error], Exception],
    ) -> None:
        self.connection = connection
        self.figures = Figures()
        self.bell = Bell()
        self.tally = Tally()
        self._clock = clock
        self._lock_wait_s = lock_wait_s
        self._has_committed = has_committed
        self._put_in_words = put_in_words
        self._queue: deque[Waiting[Any]] = deque()
        self._groups_apart = 0
        self._draining: asyncio.Task[None] | None = None
        self._committer = ThreadPoolExecutor(1, "commit")

    @property
    def waiting(self) -> int:
        return len(self._queue)

    @property
    def is_busy(self) -> bool:
        """Whether the connection is in use, be it by the committing thread."""
        return self._draining is not None

    async def write(self, operation: Callable[[Tx], Awaitable[T]], cause: str | None) -> T:
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.append(Waiting(operation, answer, cause))
        if self._draining is None:
            self._draining = asyncio.create_task(self._drain())
        try:
            return await answer
        finally:
            # Whoever no longer waits wants nothing to be done that has not begun.
            answer.cancel()
            # A failure would be in a circle with this frame, and the request with it.
            del answer

    async def finish(self) -> None:
        """Answers everybody who waits; nobody may come after."""
        if self._draining is not None:
            await asyncio.wait([self._draining])
        self._committer.shutdown()

    async def _drain(self) -> None:
        try:
            while self._queue:
                await self._commit_group()
        finally:
            self._draining = None

    async def _commit_group(self) -> None:
        group: list[Waiting[Any]] = []
        later = Later()
        try:
            await self._begin()
            # One that is alone may be long, and is not run twice.
            apart = self._groups_apart > 0 or len(self._queue) == 1
            self._groups_apart = max(0, self._groups_apart - 1)
            if not await self._run(group, later, apart=apart):
                later = self._take_back(group)
                self._groups_apart = GROUPS_APART
                await self._begin()
                await self._run(group, later, apart=True)
            later.write(self.connection)
            await self._commit()
        except BaseException as error:
            # Whoever waits is told, whatever it is, and meets it there.
            failure = self._put_in_words(error) if isinstance(error, apsw.Error) else error
            self._roll_back()
            fail(group or self._everybody(), failure)
            if not isinstance(error, Exception):
                fail(self._everybody(), failure)
                raise
            # It may be the error itself, which knows this frame.
            del failure
        else:
            self.figures.groups += 1
            self.figures.operations += len(group)
            answer(group)
            self.tally.add(later.events)
            if later.rings:
                self.bell.ring()

    async def _begin(self) -> None:
        give_up_at = time.monotonic() + self._lock_wait_s
        while True:
            try:
                self.connection.execute("BEGIN IMMEDIATE")
                return
            except apsw.BusyError:
                # Another process writes; the loop must not wait for it.
                if time.monotonic() > give_up_at:
                    raise
                await asyncio.sleep(LOCK_RETRY_S)

    async def _run(self, group: list[Waiting[Any]], later: Later, *, apart: bool) -> bool:
        """False when one failed whose writes cannot be told from the others'."""
        end_at = time.monotonic() + GROUP_S
        idle_turns = 0
        while idle_turns < IDLE_TURNS:
            idle_turns = 0 if self._queue else idle_turns + 1
            if not self._run_for_a_turn(group, later, end_at, apart=apart):
                return False
            if len(group) >= GROUP_OPERATIONS or time.monotonic() > end_at:
                break
            await asyncio.sleep(0)
        return True

    def _run_for_a_turn(self, group: list[Waiting[Any]], later: Later, end_at: float, *, apart: bool) -> bool:
        end_at = min(end_at, time.monotonic() + TURN_S)
        while self._queue and len(group) < GROUP_OPERATIONS:
            waiting = self._queue.popleft()
            if waiting.answer.done():
                continue
            waiting.now = self._moment_after(group)
            group.append(waiting)
            if apart:
                self._run_apart(waiting, later)
            elif not self._run_among(waiting, later):
                return False
            if time.monotonic() > end_at:
                break
        return True

    def _moment_after(self, group: list[Waiting[Any]]) -> Moment:
        """No two operations share one: a receiver tells two changes of a thing apart by their moments."""
        now = self._clock()
        return max(now, Moment(group[-1].now + 1)) if group else now

    def _run_apart(self, waiting: Waiting[Any], later: Later) -> None:
        mark = later.mark()
        self.connection.execute("SAVEPOINT operation")
        self._perform(waiting, later)
        if waiting.failure is not None:
            self.connection.execute("ROLLBACK TO operation")
            later.forget(mark)
        self.connection.execute("RELEASE operation")

    def _run_among(self, waiting: Waiting[Any], later: Later) -> bool:
        mark, changes = later.mark(), self.connection.total_changes()
        self._perform(waiting, later)
        return waiting.failure is None or (later.mark(), self.connection.total_changes()) == (mark, changes)

    def _perform(self, waiting: Waiting[Any], later: Later) -> None:
        waiting.outcome = waiting.failure = None
        try:
            waiting.outcome = perform(self.connection, waiting.operation, waiting.now, later, waiting.cause)
        except AWAY:
            raise
        except Exception as failure:  # noqa: BLE001 - the caller is told, and meets it there
            waiting.failure = failure

    def _take_back(self, group: list[Waiting[Any]]) -> Later:
        self.connection.execute("ROLLBACK")
        self._queue.extendleft(reversed(group))
        group.clear()
        return Later()

    async def _commit(self) -> None:
        commit = asyncio.get_running_loop().run_in_executor(self._committer, self._commit_in_thread)
        try:
            await asyncio.shield(commit)
        except asyncio.CancelledError:
            # It cannot be stopped, and nobody else may use the connection meanwhile.
            await asyncio.wait([commit])
            raise

    def _commit_in_thread(self) -> None:
        self.connection.execute("COMMIT")
        self._has_committed()

    def _roll_back(self) -> None:
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
        except apsw.Error as error:
            self._put_in_words(error)

    def _everybody(self) -> list[Waiting[Any]]:
        everybody = list(self._queue)
        self._queue.clear()
        return everybody


def answer(group: list[Waiting[Any]]) -> None:
    for waiting in group:
        waiting.settle(waiting.failure)


def fail(group: list[Waiting[Any]], failure: BaseException) -> None:
    for waiting in group:
        waiting.settle(failure)
