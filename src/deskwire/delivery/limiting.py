"""Waiting no longer than a limit, and a little longer where this process stood still when it was reached."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def within(limit_s: float, work: Awaitable[T]) -> T:
    """Raises TimeoutError, as `asyncio.timeout` does.

    A process that was stopped may come to its timers before it reads what has arrived meanwhile; the limit
    lets it do that first, since nobody else is to blame for what was not taken.
    """
    async with asyncio.timeout(None) as timeout:
        limit = Limit(timeout, limit_s)
        try:
            return await work
        finally:
            limit.lift()


class Limit:
    def __init__(self, timeout: asyncio.Timeout, limit_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._timeout = timeout
        self._limit_s = limit_s
        self._ends_at = self._loop.time() + limit_s
        self._timer = self._loop.call_at(self._ends_at, self._extend)

    def lift(self) -> None:
        self._timer.cancel()

    def _extend(self) -> None:
        """Once, by as much as this comes late: nobody could use that time. At most by the limit again."""
        late_s = self._loop.time() - self._ends_at
        self._timer = self._loop.call_later(min(late_s, self._limit_s), self._end)

    def _end(self) -> None:
        self._timeout.reschedule(self._loop.time())
