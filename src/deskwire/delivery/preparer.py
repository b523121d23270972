"""Looks up what to send: for all of a webhook that are about to be sent, at once."""

from collections.abc import Sequence

from deskwire.delivery.batches import Batches
from deskwire.delivery.database import Database
from deskwire.desk.delivering.claiming import Claim
from deskwire.desk.delivering.preparing import Prepared, prepare


class Preparer:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._batches: Batches[tuple[str, str], Claim, Prepared] = Batches(self._read)
        self.finish = self._batches.finish

    async def prepare(self, claim: Claim) -> Prepared:
        return await self._batches.ask((claim.workspace_id, claim.webhook_id), claim)

    async def _read(self, key: tuple[str, str], claims: list[Claim]) -> Sequence[Prepared]:
        return await self._database.read(lambda tx: prepare(tx, *key, claims))
