"""Ending work that would go on for ever."""

import asyncio
from collections.abc import Coroutine


async def run_until(stop: asyncio.Event, work: Coroutine[object, None, None], *, grace_s: float) -> None:
    """Once `stop` is set, the work has so much time to end by itself, and is then cancelled."""
    task = asyncio.create_task(work)
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([task, stopping], return_when=asyncio.FIRST_COMPLETED)
        if grace_s and not task.done():
            await asyncio.wait([task], timeout=grace_s)
    finally:
        stopping.cancel()
        task.cancel()
        await asyncio.wait([task])
    if not task.cancelled():
        task.result()
