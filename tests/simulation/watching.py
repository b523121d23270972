"""The operations of deliveries, watched: each tells the ledger what it did, once it is committed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import deskwire.desk.notices
import deskwire.desk.outbox
from deskwire.delivery import recorder, worker
from deskwire.desk.delivering import claiming, recording
from deskwire.desk.delivering.claiming import Claim
from deskwire.desk.delivering.recording import Recorded, Result
from deskwire.store.transaction import Tx
from tests.simulation.laws import Ledger
from tests.simulation.virtual_loop import PROCESS


@contextmanager
def watched(ledger: Ledger, new_id: Callable[[], str]) -> Iterator[None]:
    """The operations of deliveries tell the ledger what they did; ids are the world's."""
    claim, release = claiming.claim, claiming.release
    renew, redate = claiming.renew, claiming.redate
    record = recording.record

    async def watched_claim(
        tx: Tx, holder: str, workspace_id: str, webhook_id: str, event_ids: Sequence[str]
    ) -> list[Claim]:
        claims = await claim(tx, holder, workspace_id, webhook_id, event_ids)
        ledger.claimed(claims, tx.now, PROCESS.get())
        return claims

    async def watched_release(
        tx: Tx, holder: str, workspace_id: str, webhook_id: str, event_ids: Sequence[str]
    ) -> None:
        await release(tx, holder, workspace_id, webhook_id, event_ids)
        ledger.released(webhook_id, event_ids, tx.now, PROCESS.get())

    async def watched_renew(tx: Tx, holder: str, claims: Sequence[Claim]) -> list[Claim]:
        renewed = await renew(tx, holder, claims)
        for each in claims:
            ledger.renewed(each, each in renewed, tx.now, PROCESS.get())
        return renewed

    async def watched_redate(tx: Tx, *, was_seen: bool) -> None:
        await redate(tx, was_seen=was_seen)
        ledger.redated(tx.now)

    async def watched_record(
        tx: Tx, workspace_id: str, webhook_id: str, results: Sequence[Result]
    ) -> Recorded:
        recorded = await record(tx, workspace_id, webhook_id, results)
        ledger.recorded(webhook_id, results, recorded.verdicts, tx.now, PROCESS.get())
        return recorded

    replaced: list[tuple[object, str, object]] = [
        (worker, "claim", watched_claim),
        (worker, "release", watched_release),
        (worker, "renew", watched_renew),
        (worker, "redate", watched_redate),
        (recorder, "record", watched_record),
        *((module, "new_id", new_id) for module in (worker, deskwire.desk.outbox, deskwire.desk.notices)),
    ]
    kept = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    for module, name, ours in replaced:
        setattr(module, name, ours)
    try:
        yield
    finally:
        for module, name, theirs in kept:
            setattr(module, name, theirs)
