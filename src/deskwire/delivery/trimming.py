"""Removes what has expired, hour by hour and workspace by workspace, so gently that nobody notices."""

import asyncio
import logging

from deskwire.delivery.stopping import run_until
from deskwire.desk.trimming import trim_workspace
from deskwire.desk.workspaces import list_workspaces
from deskwire.model.errors import Unavailable
from deskwire.model.limits import DELIVERY_BACK_OFF_MAX_S, TRIM_EVERY_S, TRIM_FIRST_S, TRIM_PAUSE_S
from deskwire.store.transaction import Store

logger = logging.getLogger("deskwire.trimming")


class Trimming:
    """Any number of processes may do it at once: each leaves alone what another one is about to remove."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def run(self, stop: asyncio.Event) -> None:
        await run_until(stop, self._trim_again_and_again(), grace_s=0)

    async def _trim_again_and_again(self) -> None:
        wait_s = TRIM_FIRST_S
        while True:
            await asyncio.sleep(wait_s)
            try:
                await self.trim()
                wait_s = TRIM_EVERY_S
            except Unavailable:
                # Whoever sends speaks of it.
                wait_s = DELIVERY_BACK_OFF_MAX_S
            except Exception:
                logger.exception("removing what has expired failed; it is tried again in an hour")
                wait_s = TRIM_EVERY_S

    async def trim(self) -> int:
        """All workspaces, once; answers how many rows went."""
        removed = 0
        for workspace in await self._store.read(list_workspaces):
            removed += await trim_workspace(self._store, workspace.id, pause)
        return removed


async def pause() -> None:
    await asyncio.sleep(TRIM_PAUSE_S)
