"""What surrounds a worker in its world: its database, its bell, the way to its receivers, and who listens."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context
from typing import TYPE_CHECKING, TypeVar

from deskwire.model.deliveries import Delivered, Outcome, Refused, Unreachable
from deskwire.model.errors import Unavailable
from deskwire.store.sqlite_transaction import perform
from deskwire.store.transaction import Bell, Tx
from tests.simulation.laws import Broken, Ledger
from tests.simulation.receivers import Answer

if TYPE_CHECKING:
    from tests.simulation.world import World

T = TypeVar("T")


class QuietBell(Bell):
    """Leaves out the looks that would find nothing: wakes at the first one with something to be found."""

    def __init__(self, world: "World") -> None:
        super().__init__()
        self._world = world
        self._is_nudged = False

    async def wait(self, longest_s: float) -> None:
        await super().wait(longest_s * math.ceil(max(1.0, self._world.due_in_s() / longest_s)))

    def nudge(self, after_s: float) -> None:
        """Something was written elsewhere: the next look may find it."""
        if not self._is_nudged:
            self._is_nudged = True
            self._world.loop.call_later(after_s, self._nudged, context=Context())

    def _nudged(self) -> None:
        self._is_nudged = False
        self.ring()


class WorldStore:
    """What one process sees of the database: some milliseconds away, and now and then not there."""

    def __init__(self, world: "World", bell: QuietBell) -> None:
        self.bell = bell
        self._world = world

    async def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        await self._travel()
        outcome = perform(self._world.connection, operation, self._world.clock())
        await asyncio.sleep(0)
        return outcome

    async def write(self, operation: Callable[[Tx], Awaitable[T]], cause: str | None = None) -> T:
        await self._travel()
        outcome = self._world.commit(operation, self.bell)
        if self._world.chance.random() < self._world.lost_answers:
            raise Unavailable("the connection was lost before it was known what became of the commit")
        await self._travel()
        return outcome

    async def _travel(self) -> None:
        await asyncio.sleep(self._world.chance.uniform(0.0001, 0.002))
        if self._world.loop.time() < self._world.away_until_s:
            raise Unavailable("the database is away")


class Receivers:
    """A worker's way to the receivers."""

    def __init__(self, world: "World") -> None:
        self._world = world

    async def send(self, url: str, headers: Mapping[str, str], body: bytes, limit_s: float) -> Outcome:
        world = self._world
        await asyncio.sleep(world.chance.uniform(0.0005, 0.003))
        webhook = world.by_url[url]
        arrival = world.ledger.arrive(webhook.id, headers, body, limit_s)
        answer = webhook.receiver.answer(world.loop.time())
        await asyncio.sleep(min(answer.after_s, max(limit_s, 0.0)))
        arrival.outcome = outcome_of(answer, limit_s)
        arrival.answered_s = world.loop.time()
        return arrival.outcome


def outcome_of(answer: Answer, limit_s: float) -> Outcome:
    duration_ms = int(min(answer.after_s, limit_s) * 1000)
    if answer.after_s >= limit_s:
        return Unreachable(duration_ms, "no answer in time")
    if answer.status is None:
        return Unreachable(duration_ms, "connection refused")
    if 200 <= answer.status <= 299:
        return Delivered(answer.status, duration_ms)
    return Refused(answer.status, duration_ms, f"the receiver answered {answer.status}", answer.retry_after_s)


class Silence:
    """Nobody counts what a worker tells."""

    def attempted(self, *told: object) -> None: ...

    def decided(self, *told: object) -> None: ...

    def stopped(self, *told: object) -> None: ...


class Complaints(logging.Handler):
    """Whatever a worker logs as an error breaks the laws."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(logging.ERROR)
        self._ledger = ledger

    def emit(self, record: logging.LogRecord) -> None:
        reason = record.exc_info[1] if record.exc_info else None
        if isinstance(reason, Broken):
            return
        self._ledger.complain(f"a worker logged: {record.getMessage()}: {reason!r}")
