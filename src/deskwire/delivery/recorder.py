"""Writes down what came of deliveries: all of a webhook that ended while the last batch was written."""

from collections.abc import Sequence

from deskwire.delivery.batches import Batches
from deskwire.delivery.database import Database
from deskwire.delivery.observing import Observer
from deskwire.desk.delivering.recording import Recorded, Result, Verdict, record
from deskwire.store.transaction import Tx


class Recorder:
    def __init__(self, database: Database, observer: Observer) -> None:
        self._database = database
        self._observer = observer
        self._batches: Batches[tuple[str, str], Result, Verdict] = Batches(self._write)
        self.finish = self._batches.finish

    async def record(self, result: Result) -> Verdict:
        claim = result.claim
        return await self._batches.ask((claim.workspace_id, claim.webhook_id), result)

    async def _write(self, key: tuple[str, str], results: list[Result]) -> Sequence[Verdict]:
        workspace_id, webhook_id = key

        async def write(tx: Tx) -> Recorded:
            return await record(tx, workspace_id, webhook_id, results)

        recorded = await self._database.write(write)
        if recorded.stopped is not None:
            self._observer.stopped(workspace_id, recorded.stopped)
        return recorded.verdicts
