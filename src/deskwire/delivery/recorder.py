"""Writes down what came of deliveries: all that ended while the last batch was written, at once."""

import asyncio
from typing import NamedTuple

from deskwire.delivery.database import Database
from deskwire.delivery.observing import Observer
from deskwire.desk.delivering.recording import Recorded, Result, Verdict, record
from deskwire.store.transaction import Tx


class Entry(NamedTuple):
    """A result, and where its verdict is awaited."""

    result: Result
    verdict: "asyncio.Future[Verdict]"


class Recorder:
    def __init__(self, database: Database, observer: Observer) -> None:
        self._database = database
        self._observer = observer
        self._waiting: dict[tuple[str, str], list[Entry]] = {}
        self._writing: dict[tuple[str, str], asyncio.Task[None]] = {}

    async def record(self, result: Result) -> Verdict:
        claim = result.claim
        key = claim.workspace_id, claim.webhook_id
        entry = Entry(result, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(key, []).append(entry)
        if key not in self._writing:
            self._writing[key] = asyncio.create_task(self._write(key))
        return await entry.verdict

    async def finish(self) -> None:
        """Everything that was said before is written down."""
        while self._writing:
            await asyncio.wait(list(self._writing.values()))

    def give_up(self) -> None:
        for task in self._writing.values():
            task.cancel()

    async def _write(self, key: tuple[str, str]) -> None:
        try:
            while entries := self._waiting.pop(key, []):
                await self._write_batch(key, entries)
        finally:
            del self._writing[key]

    async def _write_batch(self, key: tuple[str, str], entries: list[Entry]) -> None:
        workspace_id, webhook_id = key
        results = [entry.result for entry in entries]

        async def write(tx: Tx) -> Recorded:
            return await record(tx, workspace_id, webhook_id, results)

        try:
            recorded = await self._database.write(write)
        except asyncio.CancelledError:
            for entry in entries:
                entry.verdict.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - whoever awaits a verdict meets it there
            for entry in entries:
                if not entry.verdict.done():
                    entry.verdict.set_exception(error)
            return
        for entry, verdict in zip(entries, recorded.verdicts, strict=True):
            if not entry.verdict.done():
                entry.verdict.set_result(verdict)
        if recorded.stopped is not None:
            self._observer.stopped(workspace_id, recorded.stopped)
