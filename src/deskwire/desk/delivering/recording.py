"""What came of deliveries: the log, what follows for each of them, and for their webhook."""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, cast

from msgspec.structs import replace
from sqlalchemy import BigInteger, Boolean, bindparam, delete, insert, null, select, update

from deskwire.desk.delivering.claiming import Claim
from deskwire.desk.notices import post_notice
from deskwire.desk.webhook_rows import lock_webhook, put_health
from deskwire.model import deliveries
from deskwire.model.deliveries import Delivered, Discarded, Failed, Outcome, Requeued, asked_wait_s, horizon
from deskwire.model.events import EventKind
from deskwire.model.moments import Moment
from deskwire.model.webhooks import WebhookRecord, after_failed_cycle, after_success, is_worth_a_notice
from deskwire.store.statement import Among, Statement, Value
from deskwire.store.tables import DELIVERIES, DELIVERY_LOGS
from deskwire.store.transaction import Tx

DUE = DELIVERIES.c
THESE = (
    DUE.workspace_id == bindparam("workspace_id"),
    DUE.webhook_id == bindparam("webhook_id"),
    Among(DUE.event_id, "event_ids"),
)
THIS = (*THESE[:2], DUE.event_id == bindparam("mine"))
LOCK = Statement(select(DUE.event_id, DUE.fence).where(*THESE).order_by(DUE.event_id).with_for_update())
REMOVE = Statement(delete(DELIVERIES).where(*THESE))
# What is written down takes a new number: should it be said again, since nobody heard that it was written, it
# is known by its old one.
MARK_TRIED = Statement(update(DELIVERIES).where(*THESE).values(untried=False, fence=DUE.fence + 1))
PUT_BACK = Statement(
    update(DELIVERIES)
    .where(*THIS)
    .values(
        due_at=bindparam("due_at", type_=BigInteger()),
        held=bindparam("held", type_=Boolean()),
        counts=bindparam("counts", type_=Boolean()),
        untried=bindparam("untried", type_=Boolean()),
        cycles=bindparam("cycles", type_=BigInteger()),
        holder=null(),
        fence=DUE.fence + 1,
    )
)
LOG = Statement(insert(DELIVERY_LOGS))


class Attempt(NamedTuple):
    """One request, when it ended, and how."""

    kind: EventKind
    ended_at: Moment
    outcome: Outcome


class TriedInVain(NamedTuple):
    """An attempt failed, and the cycle goes on."""

    claim: Claim
    attempt: Attempt


class Ended(NamedTuple):
    """The cycle is over, with this as its last attempt; `jitter` is from 0 to 1."""

    claim: Claim
    attempt: Attempt
    jitter: float


class PutAside(NamedTuple):
    """It is to be held, as its webhook is not active."""

    claim: Claim


class GivenUp(NamedTuple):
    claim: Claim


Result = TriedInVain | Ended | PutAside | GivenUp


class Verdict(Enum):
    """What became of a delivery. After `GOES_ON` its claim has the next number."""

    DELIVERED = "delivered"
    GOES_ON = "goes on"
    REQUEUED = "requeued"
    HELD = "held"
    DISCARDED = "discarded"
    LATE = "late"


class Recorded(NamedTuple):
    """A verdict for each result, and the webhook if it has just stopped."""

    verdicts: list[Verdict]
    stopped: WebhookRecord | None


async def record(tx: Tx, workspace_id: str, webhook_id: str, results: Sequence[Result]) -> Recorded:
    """The results of deliveries of one webhook, in the order in which they ended."""
    before = await lock_webhook(tx, workspace_id, webhook_id)
    ids = [result.claim.event_id for result in results]
    rows = await tx.all(LOCK, workspace_id=workspace_id, webhook_id=webhook_id, event_ids=ids)
    book = Book(tx.now, before, {str(id): cast(int, fence) for id, fence in rows})
    verdicts = [book.enter(result) for result in results]
    await book.write(tx, workspace_id, webhook_id)
    stopped = None
    if before is not None and book.webhook is not None and book.webhook != before:
        stopped = book.webhook if book.webhook.status == "error" != before.status else None
        if is_worth_a_notice(before, book.webhook, tx.now):
            await post_notice(tx, workspace_id, book.webhook)
            book.webhook = replace(book.webhook, noticed_at=tx.now)
        await put_health(tx, workspace_id, book.webhook)
    return Recorded(verdicts, stopped)


class Book:
    """The results of one transaction, gathered before they are written."""

    def __init__(self, now: Moment, webhook: WebhookRecord | None, fences: dict[str, int]) -> None:
        self.webhook = webhook
        self._now = now
        self._fences = fences
        self._removed: list[str] = []
        self._tried: list[str] = []
        self._put_back: list[dict[str, Value]] = []
        self._logged: list[dict[str, Value]] = []

    def enter(self, result: Result) -> Verdict:
        claim = result.claim
        if self._fences.get(claim.event_id) != claim.fence:
            return Verdict.LATE
        if self.webhook is None:
            return self._remove(claim, Verdict.DISCARDED)
        match result:
            case GivenUp():
                return self._remove(claim, Verdict.DISCARDED)
            case PutAside():
                return self._put_aside(self.webhook, claim)
            case TriedInVain(attempt=attempt):
                self._log(self.webhook, claim, attempt)
                self._tried.append(claim.event_id)
                return Verdict.GOES_ON
            case Ended(attempt=attempt, jitter=jitter):
                self._log(self.webhook, claim, attempt)
                return self._end(self.webhook, claim, attempt, jitter)

    async def write(self, tx: Tx, workspace_id: str, webhook_id: str) -> None:
        mine = {"workspace_id": workspace_id, "webhook_id": webhook_id}
        if self._removed:
            await tx.run(REMOVE, **mine, event_ids=self._removed)
        if self._tried:
            await tx.run(MARK_TRIED, **mine, event_ids=self._tried)
        if self._put_back:
            await tx.many(PUT_BACK, [{**mine, **row} for row in self._put_back])
        if self._logged:
            await tx.many(LOG, [{**mine, **row} for row in self._logged])

    def _put_aside(self, webhook: WebhookRecord, claim: Claim) -> Verdict:
        """One that was activated meanwhile resumed what was held then, and nothing would resume this."""
        if webhook.status != "active":
            return self._hold(claim, claim.counts, claim.untried, claim.cycles)
        self._return(claim, self._now, False, claim.counts, claim.untried, claim.cycles)
        return Verdict.REQUEUED

    def _end(self, webhook: WebhookRecord, claim: Claim, attempt: Attempt, jitter: float) -> Verdict:
        match attempt.outcome:
            case Delivered():
                self.webhook = after_success(self.webhook or webhook, attempt.ended_at)
                return self._remove(claim, Verdict.DELIVERED)
            case failed:
                return self._fail(webhook, claim, attempt, failed, jitter)

    def _fail(
        self, webhook: WebhookRecord, claim: Claim, attempt: Attempt, failed: Failed, jitter: float
    ) -> Verdict:
        cycles = claim.cycles + 1
        self.webhook = webhook = after_failed_cycle(
            self.webhook or webhook, attempt.ended_at, failed.error, counts=claim.counts
        )
        if webhook.status != "active":
            return self._hold(claim, counts=False, untried=False, cycles=cycles)
        match deliveries.after_failed_cycle(
            cycles, claim.accepted_at, self._now, jitter, asked_wait_s(failed)
        ):
            case Requeued(due_at):
                self._return(claim, due_at, held=False, counts=False, untried=False, cycles=cycles)
                return Verdict.REQUEUED
            case Discarded():
                return self._remove(claim, Verdict.DISCARDED)

    def _remove(self, claim: Claim, verdict: Verdict) -> Verdict:
        self._removed.append(claim.event_id)
        return verdict

    def _hold(self, claim: Claim, counts: bool, untried: bool, cycles: int) -> Verdict:
        self._return(claim, horizon(claim.accepted_at), True, counts, untried, cycles)
        return Verdict.HELD

    def _return(
        self, claim: Claim, due_at: Moment, held: bool, counts: bool, untried: bool, cycles: int
    ) -> None:
        self._put_back.append(
            {
                "mine": claim.event_id,
                "due_at": due_at,
                "held": held,
                "counts": counts,
                "untried": untried,
                "cycles": cycles,
            }
        )

    def _log(self, webhook: WebhookRecord, claim: Claim, attempt: Attempt) -> None:
        self.webhook = webhook = replace(webhook, last_log_id=webhook.last_log_id + 1)
        self._logged.append(log_row(webhook.last_log_id, claim.event_id, attempt))


def log_row(id: int, event_id: str | None, attempt: Attempt, *, is_test: bool = False) -> dict[str, Value]:
    outcome = attempt.outcome
    return {
        "id": id,
        "event_id": event_id,
        "event_type": attempt.kind,
        "success": isinstance(outcome, Delivered),
        "http_status": getattr(outcome, "http_status", None),
        "error_message": getattr(outcome, "error", None),
        "duration_ms": outcome.duration_ms,
        "is_test": is_test,
        "created_at": attempt.ended_at,
    }
