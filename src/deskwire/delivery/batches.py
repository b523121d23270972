"""Work that is done for many at once: what is asked while a batch is under way makes the next one."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
A = TypeVar("A")
B = TypeVar("B")


class Batches(Generic[K, A, B]):
    """One batch for each key at a time; `work` answers for each of those asked, in their order."""

    def __init__(self, work: Callable[[K, list[A]], Awaitable[Sequence[B]]]) -> None:
        self._work = work
        self._waiting: dict[K, list[tuple[A, asyncio.Future[B]]]] = {}
        self._working: dict[K, asyncio.Task[None]] = {}

    async def ask(self, key: K, asked: A) -> B:
        answer: asyncio.Future[B] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append((asked, answer))
        if key not in self._working:
            self._working[key] = asyncio.create_task(self._work_through(key))
        return await answer

    async def finish(self, limit_s: float) -> None:
        """What was asked before is done; what takes longer is given up."""
        working = list(self._working.values())
        if working:
            _, late = await asyncio.wait(working, timeout=limit_s)
            for task in late:
                task.cancel()
            await asyncio.wait(working)

    async def _work_through(self, key: K) -> None:
        try:
            while batch := self._waiting.pop(key, []):
                await self._do(key, batch)
        finally:
            del self._working[key]

    async def _do(self, key: K, batch: list[tuple[A, "asyncio.Future[B]"]]) -> None:
        try:
            answers = await self._work(key, [asked for asked, _ in batch])
        except asyncio.CancelledError:
            for _, answer in batch:
                answer.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - whoever awaits an answer meets it there
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(error)
            return
        for (_, answer), answered in zip(batch, answers, strict=True):
            if not answer.done():
                answer.set_result(answered)
