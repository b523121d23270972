"""The laws of deliveries, in numbers of their own: what may be sent, when, and what it changes.

The ledger is told of every transaction that was committed and of every request that reached a receiver. It
keeps its own simple books of webhooks and deliveries, and compares them with the tables.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import apsw
import msgspec

from deskwire.desk.delivering.claiming import Claim
from deskwire.desk.delivering.recording import Attempt, Ended, GivenUp, PutAside, Result, TriedInVain, Verdict
from deskwire.model.deliveries import Delivered, Outcome, Refused
from deskwire.model.moments import Moment
from deskwire.model.signatures import is_signature
from tests.simulation.virtual_loop import PROCESS, Process

WORKSPACE = "00000000-0000-7000-8000-00000000beef"
SECOND = 1_000_000
DAY = 24 * 3600 * SECOND
LEASE = 30 * SECOND
REQUEUE_WAITS_S = (10, 30, 60, 120, 300, 600, 1800)
JITTER = 0.1
# What a few milliseconds to the database and to the receiver add up to.
SLACK_S = 1.0
# By then, what is due has been sent for, unless its receiver keeps others waiting.
PROMPT_S = 5.0
LEISURELY = ("hanging", "slow", "flaky")

State = Literal["waiting", "held", "claimed"]


class Broken(AssertionError):
    """A law was broken."""


@dataclass
class Arrival:
    """A request that reached a receiver."""

    at_s: float
    outcome: Outcome | None = None
    answered_s: float = 0.0


@dataclass
class Delivery:
    """What is known of an event on its way to a webhook."""

    accepted_at: Moment
    state: State
    due_at: int
    due_since_s: float = 0.0
    counts: bool = True
    cycles: int = 0
    fence: int = 0
    process: Process | None = None
    claimed_s: float = 0.0
    arrivals: list[Arrival] = field(default_factory=list)


@dataclass
class Health:
    """What is known of a webhook."""

    filters: tuple[str, ...]
    temper: str
    status: str = "active"
    changed_s: float = 0.0
    is_there: bool = True
    failures: int = 0
    last_delivered_at: int | None = None
    last_failed: bool = False
    log: list[tuple[str, bool, int | None]] = field(default_factory=list)
    noticed: list[int] = field(default_factory=list)
    first_arrivals: list[str] = field(default_factory=list)


class Ledger:
    def __init__(
        self,
        connection: apsw.Connection,
        loop: asyncio.AbstractEventLoop,
        clock: Callable[[], Moment],
        is_calm: Callable[[float], bool],
        secret: str,
    ) -> None:
        self.broken: asyncio.Future[None] = loop.create_future()
        self.requests = 0
        self._connection = connection
        self._loop = loop
        self._clock = clock
        self._is_calm = is_calm
        self._secret = secret
        self._webhooks: dict[str, Health] = {}
        self._deliveries: dict[tuple[str, str], Delivery] = {}
        self._bodies: dict[bytes, str] = {}
        self._orders: dict[str, str] = {}
        self._pending: list[Callable[[], None]] = []
        self._history = hashlib.sha256()
        self._latest = 0
        self._jumped_s = float("-inf")

    @property
    def history(self) -> str:
        """The same for two worlds in which the same happened."""
        return self._history.hexdigest()

    def register(self, id: str, filters: tuple[str, ...], temper: str) -> None:
        self._webhooks[id] = Health(filters, temper)

    def status(self, id: str) -> str:
        return self._webhooks[id].status if self._webhooks[id].is_there else "deleted"

    def complain(self, text: str) -> None:
        if not self.broken.done():
            self.broken.set_exception(Broken(f"at {self._loop.time():.3f} s: {text}"))

    def demand(self, holds: bool, text: str) -> None:
        if not holds:
            self.complain(text)

    # Told within a transaction, believed when it is committed.

    def settle(self) -> None:
        self._latest = max(self._latest, self._clock())
        pending, self._pending = self._pending, []
        for each in pending:
            each()

    def forget(self) -> None:
        self._pending.clear()

    def accepted(self, id: str, now: Moment) -> None:
        self._pending.append(lambda: self._accept(id, now))

    def claimed(self, claims: Sequence[Claim], now: Moment, process: Process | None) -> None:
        self._pending.append(lambda: self._claim(claims, now, process))

    def released(
        self, webhook_id: str, event_ids: Sequence[str], now: Moment, process: Process | None
    ) -> None:
        self._pending.append(lambda: self._release(webhook_id, event_ids, now, process))

    def renewed(self, claim: Claim, is_renewed: bool, now: Moment, process: Process | None) -> None:
        self._pending.append(lambda: self._renew(claim, is_renewed, now, process))

    def redated(self, now: Moment) -> None:
        self._pending.append(lambda: self._redate(now))

    def recorded(
        self,
        webhook_id: str,
        results: Sequence[Result],
        verdicts: Sequence[Verdict],
        now: Moment,
        process: Process | None,
    ) -> None:
        self._pending.append(lambda: self._record(webhook_id, results, verdicts, now, process))

    def toggled(self, webhook_id: str, now: Moment) -> None:
        self._pending.append(lambda: self._toggle(webhook_id, now))

    def deleted(self, webhook_id: str) -> None:
        self._pending.append(lambda: self._delete(webhook_id))

    def jumped(self) -> None:
        self._jumped_s = self._loop.time()

    # What reaches a receiver.

    def arrive(self, webhook_id: str, headers: Mapping[str, str], body: bytes, limit_s: float) -> Arrival:
        self.requests += 1
        now_s = self._loop.time()
        arrival = Arrival(now_s)
        event_id = self._bodies.get(body)
        self._tell("arrived", webhook_id, event_id or "?", f"{limit_s:.6f}")
        self.demand(event_id is not None, "a body was sent that is no event's")
        self.demand(is_signature(self._secret, body, headers["X-Webhook-Signature"]), "a wrong signature")
        self.demand(0 < limit_s <= 10.0, f"an attempt was given {limit_s} s")
        process = PROCESS.get()
        assert process is not None and event_id is not None
        webhook, delivery = self._webhooks[webhook_id], self._deliveries.get((webhook_id, event_id))
        if event_id not in webhook.first_arrivals:
            webhook.first_arrivals.append(event_id)
        is_ours = delivery is not None and delivery.process is process and delivery.state == "claimed"
        earlier = list(delivery.arrivals) if is_ours and delivery is not None else []
        if is_ours and delivery is not None:
            delivery.arrivals.append(arrival)
        if min(now_s - process.thawed_at, now_s - self._jumped_s) < SLACK_S:
            return arrival
        stamp = int(headers["X-Webhook-Timestamp"])
        self.demand(abs(self._clock() / SECOND - stamp) <= 1 + SLACK_S, f"a stale timestamp: {stamp}")
        if webhook.status != "active" or not webhook.is_there:
            self.demand(now_s - webhook.changed_s < SLACK_S, f"sent to a webhook that is {webhook.status}")
        if is_ours and delivery is not None:
            is_in_time = self._clock() < delivery.accepted_at + DAY + SLACK_S * SECOND
            self.demand(is_in_time, "sent after its horizon")
            self._check_cycle(delivery, earlier, arrival, limit_s)
        return arrival

    def _check_cycle(
        self, delivery: Delivery, earlier: list[Arrival], arrival: Arrival, limit_s: float
    ) -> None:
        made = len(earlier)
        self.demand(made < 3, "a fourth attempt in one cycle")
        if not made:
            return
        last = earlier[-1]
        pause_s = arrival.at_s - last.answered_s
        wait_s = float(made)
        if isinstance(last.outcome, Refused):
            wait_s = max(wait_s, last.outcome.retry_after_s or 0)
        self.demand(pause_s >= wait_s, f"attempt {made + 1} of a cycle after {pause_s:.3f} s")
        end_s = arrival.at_s + limit_s - earlier[0].at_s
        self.demand(end_s <= 20.0 + 0.1, f"a cycle of {end_s:.3f} s")
        if self._is_calm(delivery.claimed_s):
            self.demand(pause_s <= wait_s + SLACK_S, f"attempt {made + 1} of a cycle after {pause_s:.3f} s")

    # What each transaction may change.

    def _accept(self, id: str, now: Moment) -> None:
        kind, order, body = self._one("SELECT kind, subject_id, body FROM events WHERE id = ?", id)
        self._tell("accepted", id, kind)
        self.demand(msgspec.json.decode(body)["kind"] == kind, "an event's body is of another kind")
        self._bodies[body] = id
        self._orders[id] = order
        for webhook_id, webhook in self._webhooks.items():
            if webhook.is_there and webhook.status != "inactive" and kind in (webhook.filters or (kind,)):
                is_held = webhook.status == "error"
                self._deliveries[webhook_id, id] = Delivery(
                    now, "held" if is_held else "waiting", now + DAY if is_held else now, self._loop.time()
                )
        rows = self._connection.execute("SELECT webhook_id FROM deliveries WHERE event_id = ?", (id,))
        expected = {webhook_id for webhook_id, event_id in self._deliveries if event_id == id}
        self.demand({row[0] for row in rows} == expected, "an event was not given to the right webhooks")
        for webhook_id in expected:
            self._compare(webhook_id, id)

    def _claim(self, claims: Sequence[Claim], now: Moment, process: Process | None) -> None:
        for each in claims:
            self._tell("claimed", each.webhook_id, each.event_id, each.fence)
            webhook = self._webhooks[each.webhook_id]
            delivery = self._deliveries.get((each.webhook_id, each.event_id))
            if delivery is None:
                self.complain(f"claimed {each}, which is not on its way")
                return
            if delivery.state == "claimed":
                self.demand(now >= delivery.due_at, "claimed a second time within a lease")
            self.demand(now >= delivery.due_at, f"{delivery.state}, claimed before it was due")
            self.demand(each.fence > delivery.fence, "claimed without a new number")
            is_as_known = (each.counts, each.cycles) == (delivery.counts, delivery.cycles)
            self.demand(is_as_known, f"claimed as {each}, known as {delivery}")
            late_s = self._loop.time() - max(delivery.due_since_s, webhook.changed_s)
            is_prompt = webhook.temper not in LEISURELY and self._is_calm(self._loop.time() - late_s)
            if is_prompt and delivery.state == "waiting":
                late_s = min(late_s, (now - delivery.due_at) / SECOND)
                self.demand(late_s <= PROMPT_S, f"claimed {late_s:.1f} s after it was due")
            delivery.state, delivery.fence, delivery.process = "claimed", each.fence, process
            delivery.due_at, delivery.claimed_s = now + LEASE, self._loop.time()
            delivery.arrivals = []

    def _release(
        self, webhook_id: str, event_ids: Sequence[str], now: Moment, process: Process | None
    ) -> None:
        for event_id in event_ids:
            self._tell("released", webhook_id, event_id)
            delivery = self._deliveries.get((webhook_id, event_id))
            if delivery is not None and delivery.state == "claimed" and delivery.process is process:
                self._wait(delivery, now)

    def _renew(self, claim: Claim, is_renewed: bool, now: Moment, process: Process | None) -> None:
        self._tell("renewed", claim.webhook_id, claim.event_id, claim.fence, is_renewed)
        delivery = self._deliveries.get((claim.webhook_id, claim.event_id))
        is_ours = delivery is not None and delivery.state == "claimed" and delivery.process is process
        if not is_ours or delivery is None or delivery.fence != claim.fence:
            self.demand(not is_renewed, f"renewed {claim}, which is somebody else's")
            return
        self.demand(is_renewed, f"{claim} was not renewed")
        delivery.due_at = now + LEASE
        # It may have set out while this waited for the database.
        if not delivery.arrivals:
            delivery.claimed_s = self._loop.time()

    def _redate(self, now: Moment) -> None:
        for (webhook_id, event_id), delivery in self._deliveries.items():
            row = self._row(webhook_id, event_id)
            if row is not None and delivery.state != "held" and row[0] != delivery.due_at:
                self.demand(row[0] <= now, "redated to another moment than now")
                self._wait(delivery, row[0])

    def _toggle(self, webhook_id: str, now: Moment) -> None:
        webhook = self._webhooks[webhook_id]
        self._tell("toggled", webhook_id, webhook.status)
        if webhook.status == "error":
            webhook.failures = 0
        webhook.status = "inactive" if webhook.status == "active" else "active"
        webhook.changed_s = self._loop.time()
        if webhook.status == "active":
            for (of, _), delivery in self._deliveries.items():
                is_resting = delivery.state != "claimed" or delivery.due_at <= now
                if of == webhook_id and is_resting and delivery.accepted_at > now - DAY:
                    delivery.counts, delivery.cycles = True, 0
                    self._wait(delivery, now)
        self._compare_webhook(webhook_id)

    def _delete(self, webhook_id: str) -> None:
        self._tell("deleted", webhook_id)
        self._webhooks[webhook_id].is_there = False
        self._webhooks[webhook_id].changed_s = self._loop.time()

    def _record(
        self,
        webhook_id: str,
        results: Sequence[Result],
        verdicts: Sequence[Verdict],
        now: Moment,
        process: Process | None,
    ) -> None:
        webhook = self._webhooks[webhook_id]
        worked_before, was_active = webhook.last_delivered_at, webhook.status == "active"
        for result, verdict in zip(results, verdicts, strict=True):
            event_id = result.claim.event_id
            self._tell("recorded", webhook_id, event_id, type(result).__name__, verdict.value)
            delivery = self._deliveries.get((webhook_id, event_id))
            is_ours = delivery is not None and delivery.state == "claimed" and delivery.process is process
            if not is_ours or delivery is None or delivery.fence != result.claim.fence:
                self.demand(verdict is Verdict.LATE, f"{verdict} for a result of an earlier claim")
                continue
            expected = self._enter(webhook_id, event_id, webhook, delivery, result, verdict, now)
            self.demand(verdict is expected, f"{result} gave {verdict} instead of {expected}")
        has_stopped = was_active and webhook.status == "error"
        is_fresh = any(abs(now - noticed) < DAY for noticed in webhook.noticed[-1:])
        if has_stopped and not is_fresh and (worked_before or webhook.last_delivered_at):
            webhook.noticed.append(now)
        for result in results:
            self._compare(webhook_id, result.claim.event_id)
        self._compare_webhook(webhook_id)

    def _enter(
        self,
        webhook_id: str,
        event_id: str,
        webhook: Health,
        delivery: Delivery,
        result: Result,
        verdict: Verdict,
        now: Moment,
    ) -> Verdict:
        if not webhook.is_there:
            return self._drop(webhook_id, event_id)
        match result:
            case GivenUp():
                is_over = self._latest >= delivery.accepted_at + DAY
                self.demand(is_over, "given up before its 24 hours were over")
                return self._drop(webhook_id, event_id)
            case PutAside():
                if webhook.status == "active":
                    self._wait(delivery, now)
                    return Verdict.REQUEUED
                return self._hold(delivery)
            case TriedInVain(attempt=attempt):
                self._log(webhook, delivery, event_id, attempt)
                self.demand(may_go_on(attempt.outcome), f"{attempt.outcome} did not end its cycle")
                row = self._row(webhook_id, event_id)
                delivery.fence = row[4] if row is not None else delivery.fence
                return Verdict.GOES_ON
            case Ended(attempt=attempt):
                self._log(webhook, delivery, event_id, attempt)
                if isinstance(attempt.outcome, Delivered):
                    webhook.failures, webhook.last_delivered_at = 0, attempt.ended_at
                    webhook.last_failed = False
                    self._drop(webhook_id, event_id)
                    return Verdict.DELIVERED
                return self._fail(webhook_id, event_id, webhook, delivery, attempt, verdict, now)

    def _fail(
        self,
        webhook_id: str,
        event_id: str,
        webhook: Health,
        delivery: Delivery,
        attempt: Attempt,
        verdict: Verdict,
        now: Moment,
    ) -> Verdict:
        self._check_end_of_cycle(delivery, attempt)
        webhook.last_failed = True
        if webhook.status == "active" and delivery.counts:
            webhook.failures += 1
            if webhook.failures == 10:
                webhook.status, webhook.changed_s = "error", self._loop.time()
        delivery.counts = False
        delivery.cycles += 1
        if webhook.status != "active":
            return self._hold(delivery)
        wait_s = REQUEUE_WAITS_S[min(delivery.cycles, 7) - 1]
        if isinstance(attempt.outcome, Refused):
            wait_s = max(wait_s, min(attempt.outcome.retry_after_s or 0, 1800))
        earliest, latest = now + wait_s * SECOND, now + int(wait_s * (1 + JITTER) * SECOND)
        horizon = delivery.accepted_at + DAY
        if verdict is Verdict.DISCARDED:
            self.demand(latest >= horizon, "discarded though a cycle would have had its time")
            return self._drop(webhook_id, event_id)
        row = self._row(webhook_id, event_id)
        due_at = -1 if row is None else row[0]
        self.demand(
            earliest <= due_at <= latest, f"due again after {(due_at - now) / SECOND} s of {wait_s} s"
        )
        self.demand(due_at < horizon, "due again after its 24 hours")
        self._wait(delivery, due_at)
        return Verdict.REQUEUED

    def _check_end_of_cycle(self, delivery: Delivery, attempt: Attempt) -> None:
        """A cycle that might have gone on had no attempt left, or no time."""
        if not may_go_on(attempt.outcome) or len(delivery.arrivals) >= 3 or not delivery.arrivals:
            return
        wait_s = float(len(delivery.arrivals))
        if isinstance(attempt.outcome, Refused):
            wait_s = max(wait_s, attempt.outcome.retry_after_s or 0)
        passed_s = self._loop.time() - delivery.claimed_s
        if self._is_calm(delivery.claimed_s):
            self.demand(passed_s + wait_s >= 20.0, f"a cycle ended after {passed_s:.3f} s: {attempt.outcome}")

    def _log(self, webhook: Health, delivery: Delivery, event_id: str, attempt: Attempt) -> None:
        is_known = any(arrival.outcome is attempt.outcome for arrival in delivery.arrivals)
        is_excused = delivery.process is not None and delivery.process.thawed_at >= delivery.claimed_s
        is_excused = is_excused or self._jumped_s >= delivery.claimed_s - SLACK_S
        self.demand(is_known or is_excused, f"recorded what no receiver answered: {attempt.outcome}")
        status = getattr(attempt.outcome, "http_status", None)
        webhook.log.append((event_id, isinstance(attempt.outcome, Delivered), status))

    def _drop(self, webhook_id: str, event_id: str) -> Verdict:
        del self._deliveries[webhook_id, event_id]
        return Verdict.DISCARDED

    def _hold(self, delivery: Delivery) -> Verdict:
        delivery.state, delivery.due_at = "held", delivery.accepted_at + DAY
        return Verdict.HELD

    def _wait(self, delivery: Delivery, due_at: int) -> None:
        delivery.state, delivery.due_at, delivery.process = "waiting", due_at, None
        delivery.due_since_s = self._loop.time() + max(0.0, (due_at - self._clock()) / SECOND)

    # The tables, as they have to be.

    def check_end(self) -> None:
        if self.broken.done():
            self.broken.result()
        for webhook_id, webhook in self._webhooks.items():
            self._check_log(webhook_id, webhook)
            self._check_notices(webhook_id, webhook)
            self._check_order(webhook)
        rows = set(self._connection.execute("SELECT webhook_id, event_id FROM deliveries"))
        self.demand(rows == set(self._deliveries), "deliveries came or went without a record")
        now = self._clock()
        for (webhook_id, event_id), delivery in self._deliveries.items():
            self._compare(webhook_id, event_id)
            webhook = self._webhooks[webhook_id]
            is_due = now - delivery.due_at > 300 * SECOND
            self.demand(
                not is_due, f"{event_id} was due at {delivery.due_at} and nobody sends it: {delivery}"
            )
            is_forgotten = delivery.state == "held" and webhook.is_there and webhook.status == "active"
            self.demand(not is_forgotten, f"{event_id} is held for an active webhook")
        if self.broken.done():
            self.broken.result()
        self.broken.cancel()

    def _check_log(self, webhook_id: str, webhook: Health) -> None:
        rows = self._connection.execute(
            "SELECT id, event_id, success, http_status FROM delivery_logs WHERE webhook_id = ? ORDER BY id",
            (webhook_id,),
        ).fetchall()
        self.demand([row[0] for row in rows] == list(range(1, len(rows) + 1)), "the log's numbers have gaps")
        entries = [(event_id, bool(success), status) for _, event_id, success, status in rows]
        self.demand(entries == webhook.log, "the log is not what was recorded")

    def _check_notices(self, webhook_id: str, webhook: Health) -> None:
        rows = self._connection.execute("SELECT created_at FROM notices WHERE webhook_id = ?", (webhook_id,))
        self.demand(sorted(row[0] for row in rows) == sorted(webhook.noticed), "notices are not what is due")

    def _check_order(self, webhook: Health) -> None:
        if webhook.temper not in ("good", "slow") or webhook.status != "active" or not self._is_calm(0.0):
            return
        if webhook.changed_s > 0:
            return
        for order in set(self._orders.values()):
            events = [each for each in webhook.first_arrivals if self._orders[each] == order]
            self.demand(events == sorted(events), "events of a channel were sent in another order")

    def _compare(self, webhook_id: str, event_id: str) -> None:
        delivery, row = self._deliveries.get((webhook_id, event_id)), self._row(webhook_id, event_id)
        if delivery is None or row is None:
            self.demand((delivery is None) == (row is None), f"{event_id}: {row} where {delivery} is known")
            return
        due_at, is_held, counts, cycles, _, holder = row
        known = (delivery.due_at, delivery.state == "held", delivery.counts, delivery.cycles)
        self.demand((due_at, bool(is_held), bool(counts), cycles) == known, f"{row} is known as {delivery}")
        self.demand((holder is not None) == (delivery.state == "claimed"), f"{row} is known as {delivery}")

    def _compare_webhook(self, webhook_id: str) -> None:
        webhook = self._webhooks[webhook_id]
        if not webhook.is_there:
            return
        status, failures, last_delivered_at, error, last_log_id = self._one(
            "SELECT status, failure_count, last_delivered_at, error_message, last_log_id FROM webhooks"
            " WHERE id = ?",
            webhook_id,
        )
        known = (webhook.status, webhook.failures, webhook.last_delivered_at, len(webhook.log))
        row = (status, failures, last_delivered_at, last_log_id)
        self.demand(row == known, f"a webhook is {row} and known as {known}")
        self.demand((error is not None) == webhook.last_failed, f"its last error is {error!r}")

    def _row(self, webhook_id: str, event_id: str) -> tuple[int, int, int, int, int, str | None] | None:
        found = self._connection.execute(
            "SELECT due_at, held, counts, cycles, fence, holder FROM deliveries"
            " WHERE workspace_id = ? AND webhook_id = ? AND event_id = ?",
            (WORKSPACE, webhook_id, event_id),
        )
        return cast("tuple[int, int, int, int, int, str | None] | None", found.fetchone())

    def _one(self, sql: str, id: str) -> tuple[Any, ...]:
        found = self._connection.execute(sql, (id,)).fetchone()
        assert found is not None, sql
        return cast("tuple[Any, ...]", found)

    def _tell(self, *what: object) -> None:
        self._history.update(repr((round(self._loop.time(), 6), *what)).encode())


def may_go_on(outcome: Outcome) -> bool:
    """429, 5xx, and where there was no answer."""
    if isinstance(outcome, Delivered):
        return False
    status = getattr(outcome, "http_status", None)
    return status is None or status == 429 or 500 <= status <= 599
