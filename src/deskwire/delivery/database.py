"""A worker's way to the database: few transactions at once, and patience while it is away."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from deskwire.model.errors import Unavailable
from deskwire.model.limits import (
    DELIVERY_BACK_OFF_FIRST_S,
    DELIVERY_BACK_OFF_MAX_S,
    DELIVERY_READS_AT_ONCE,
    DELIVERY_WRITES_AT_ONCE,
)
from deskwire.store.transaction import Store, Tx

T = TypeVar("T")

logger = logging.getLogger("deskwire.delivery")


class Database:
    def __init__(self, store: Store) -> None:
        self.bell = store.bell
        self._store = store
        # What is to be sent next does not wait until everything that was sent is written down.
        self._reads = asyncio.Semaphore(DELIVERY_READS_AT_ONCE)
        self._writes = asyncio.Semaphore(DELIVERY_WRITES_AT_ONCE)
        self._is_away = False

    async def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        return await self._insist(self._reads, lambda: self._store.read(operation))

    async def write(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        return await self._insist(self._writes, lambda: self._store.write(operation))

    async def _insist(self, gate: asyncio.Semaphore, attempt: Callable[[], Awaitable[T]]) -> T:
        """Tries until the database is there; whoever cannot wait so long cancels."""
        pause_s = DELIVERY_BACK_OFF_FIRST_S
        while True:
            try:
                async with gate:
                    outcome = await attempt()
            except Unavailable as error:
                self._note_away(error)
            else:
                self._note_back()
                return outcome
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, DELIVERY_BACK_OFF_MAX_S)

    def _note_away(self, error: Unavailable) -> None:
        if not self._is_away:
            self._is_away = True
            logger.warning("deliveries wait for the database: %s", error)

    def _note_back(self) -> None:
        if self._is_away:
            self._is_away = False
            logger.warning("the database is back; deliveries go on")
