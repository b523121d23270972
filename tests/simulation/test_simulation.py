"""Days of deliveries, from seeds: whatever goes wrong on our side or theirs, the laws hold.

A seed alone: `pytest tests/simulation -k one_seed --seed NUMBER`.
"""

import asyncio
import gc
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from typing import Any

import pytest

import deskwire.model.deliveries
import deskwire.model.webhooks
from deskwire.delivery import worker
from deskwire.delivery.worker import Worker
from deskwire.desk.delivering import claiming, preparing, recording
from deskwire.desk.delivering.claiming import Claim
from deskwire.desk.delivering.preparing import Ready
from deskwire.desk.delivering.recording import Attempt, Book, Ended, Result, Verdict
from deskwire.model.deliveries import Delivered, Failed, Outcome
from deskwire.model.moments import Moment
from deskwire.model.webhooks import WebhookRecord
from tests.simulation.laws import Broken
from tests.simulation.world import World

SEEDS = 500
STRESS_SEEDS = 5000
SEEDS_OF_A_TURN = 25
# Worlds in which a mistake of ours came to light.
TELLING_SEEDS = (1636, 1980, 2176, 2778, 3648, 4772)


def broken_law(seed: int) -> str | None:
    world = World(seed)
    try:
        world.run()
    except Broken as law:
        tempers = ", ".join(webhook.receiver.temper for webhook in world.webhooks)
        return (
            f"seed {seed} ({tempers}; {', '.join(world.mishaps) or 'calm'}) broke a law {law}\n"
            f"  alone: pytest tests/simulation -k one_seed --seed {seed}"
        )
    return None


def broken_laws(seeds: range) -> list[str]:
    # Worlds are full of circles, and are collected between two of them.
    gc.disable()
    try:
        return [law for law in map(broken_law, seeds) if law is not None]
    finally:
        gc.enable()
        gc.collect()


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    """Processes of their own: quick, since they hold nothing else and nothing watches which lines run."""
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            yield pool


def check_seeds(pool: ProcessPoolExecutor, first: int, count: int) -> None:
    turns = [
        range(number, min(number + SEEDS_OF_A_TURN, first + count))
        for number in range(first, first + count, SEEDS_OF_A_TURN)
    ]
    laws = [law for found in pool.map(broken_laws, turns) for law in found]
    assert not laws, "\n".join(laws[:10])


@pytest.mark.timeout(1200)
def test_the_laws_hold_whatever_goes_wrong(pool: ProcessPoolExecutor) -> None:
    check_seeds(pool, 0, SEEDS)


@pytest.mark.stress
@pytest.mark.timeout(3600)
def test_the_laws_hold_in_many_more_worlds(pool: ProcessPoolExecutor) -> None:
    check_seeds(pool, SEEDS, STRESS_SEEDS)


@pytest.mark.parametrize("seed", TELLING_SEEDS)
def test_a_mistake_that_was_made_is_not_made_again(seed: int) -> None:
    law = broken_law(seed)
    assert law is None, law


def test_one_seed(request: pytest.FixtureRequest) -> None:
    law = broken_law(int(request.config.getoption("--seed")))
    assert law is None, law


def test_the_same_seed_gives_the_same_history() -> None:
    def history(seed: int) -> str:
        world = World(seed)
        world.run()
        return world.ledger.history

    assert history(7) == history(7)
    assert history(7) != history(8)


# What follows breaks one rule each, on purpose.


def ignore_the_fence(monkeypatch: pytest.MonkeyPatch) -> None:
    enter = Book.enter

    def enter_anything(book: Book, result: Result) -> Verdict:
        if result.claim.event_id in book._fences:
            book._fences[result.claim.event_id] = result.claim.fence
        return enter(book, result)

    monkeypatch.setattr(Book, "enter", enter_anything)


def ignore_the_horizon(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(accepted_at: Moment) -> Moment:
        return Moment(accepted_at + 2**50)

    for module in (deskwire.model.deliveries, preparing, recording):
        monkeypatch.setattr(module, "horizon", never)


def double_the_jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deskwire.model.deliveries, "REQUEUE_JITTER", 0.2)


def requeue_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deskwire.model.deliveries, "REQUEUE_WAITS_S", (10, 30, 60, 60, 300, 600, 1800))


def count_redeliveries(monkeypatch: pytest.MonkeyPatch) -> None:
    def count_all(webhook: WebhookRecord, at: Moment, error: str, *, counts: bool) -> WebhookRecord:
        return deskwire.model.webhooks.after_failed_cycle(webhook, at, error, counts=True)

    monkeypatch.setattr(recording, "after_failed_cycle", count_all)


def stop_after_eleven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deskwire.model.webhooks, "WEBHOOK_FAILURES_TO_ERROR", 11)


def forget_to_reset_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def keep(webhook: WebhookRecord, at: Moment) -> WebhookRecord:
        succeeded = deskwire.model.webhooks.after_success(webhook, at)
        return WebhookRecord(
            **{name: getattr(succeeded, name) for name in succeeded.__struct_fields__}
            | {"failure_count": webhook.failure_count}
        )

    monkeypatch.setattr(recording, "after_success", keep)


def recover_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        recording, "after_success", partial(self_healing, deskwire.model.webhooks.after_success)
    )


def self_healing(
    after_success: Callable[[WebhookRecord, Moment], WebhookRecord], webhook: WebhookRecord, at: Moment
) -> WebhookRecord:
    succeeded = after_success(webhook, at)
    values = {name: getattr(succeeded, name) for name in succeeded.__struct_fields__}
    return WebhookRecord(**values | {"status": "active"})


def notice_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deskwire.model.webhooks, "NOTICE_PAUSE_US", 0)


def notice_what_never_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(before: WebhookRecord, after: WebhookRecord, at: Moment) -> bool:
        return before.status != "error" and after.status == "error" and before.noticed_at is None

    monkeypatch.setattr(recording, "is_worth_a_notice", always)


def drop_what_is_to_be_held(monkeypatch: pytest.MonkeyPatch) -> None:
    def drop(book: Book, claim: Claim, counts: bool, untried: bool, cycles: int) -> Verdict:
        book._remove(claim, Verdict.HELD)
        return Verdict.HELD

    monkeypatch.setattr(Book, "_hold", drop)


def hold_what_was_activated_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    def hold(book: Book, webhook: WebhookRecord, claim: Claim) -> Verdict:
        return book._hold(claim, claim.counts, claim.untried, claim.cycles)

    monkeypatch.setattr(Book, "_put_aside", hold)


def send_to_what_has_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "Stopped", lambda: Ready("", b"", "channel.closed", b"", None))
    monkeypatch.setattr(Worker, "_set_aside", forget_to_put_aside)


async def forget_to_put_aside(self: Worker, claim: Claim, prepared: object) -> None:
    """The lease runs out, again and again, and nothing is ever held."""


def record_before_sending(monkeypatch: pytest.MonkeyPatch) -> None:
    attempt = Worker._attempt

    async def record_first(self: Worker, claim: Claim, ready: Ready, limit_s: float) -> Outcome:
        early = Attempt(ready.kind, self._clock(), Delivered(200, 0))
        await self._record(Ended(claim, early, 0.0))
        return await attempt(self, claim, ready, limit_s)

    monkeypatch.setattr(Worker, "_attempt", record_first)


def try_a_fourth_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deskwire.model.deliveries, "CYCLE_ATTEMPTS", 4)
    monkeypatch.setattr(deskwire.model.deliveries, "CYCLE_WAITS_S", (1.0, 2.0, 3.0))


def try_a_400_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(outcome: Failed) -> bool:
        return True

    monkeypatch.setattr(deskwire.model.deliveries, "is_tried_again", always)


def wait_too_little_within_a_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deskwire.model.deliveries, "CYCLE_WAITS_S", (1.0, 1.0))


def give_attempts_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(elapsed_s: float) -> float:
        return 10.0

    monkeypatch.setattr(worker, "attempt_limit_s", always)


def claim_again_within_the_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claiming, "LEASE_US", 1_000_000)


def let_one_timestamp_serve_all(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped:
        def __init__(self, clock: Callable[[], Moment]) -> None:
            self.first = clock()

        def __call__(self) -> Moment:
            return self.first

    attempt = Worker._attempt

    async def stamp_with_the_first(self: Worker, claim: Claim, ready: Ready, limit_s: float) -> Outcome:
        kept = self._clock
        if not hasattr(self, "stopped"):
            self.stopped = Stopped(kept)  # type: ignore[attr-defined]
        self._clock = self.stopped  # type: ignore[attr-defined]
        sending = asyncio.ensure_future(attempt(self, claim, ready, limit_s))
        await asyncio.sleep(0)
        self._clock = kept
        return await sending

    monkeypatch.setattr(Worker, "_attempt", stamp_with_the_first)


MUTATIONS: list[Callable[[pytest.MonkeyPatch], Any]] = [
    ignore_the_fence,
    ignore_the_horizon,
    double_the_jitter,
    requeue_too_early,
    count_redeliveries,
    stop_after_eleven,
    forget_to_reset_the_count,
    recover_alone,
    notice_without_a_pause,
    notice_what_never_worked,
    drop_what_is_to_be_held,
    hold_what_was_activated_meanwhile,
    send_to_what_has_stopped,
    record_before_sending,
    try_a_fourth_time,
    try_a_400_again,
    wait_too_little_within_a_cycle,
    give_attempts_all_the_time,
    claim_again_within_the_lease,
    let_one_timestamp_serve_all,
]


def first_broken_law(mutate: Callable[[pytest.MonkeyPatch], Any]) -> str | None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        mutate(monkeypatch)
        return next(filter(None, map(broken_law, range(SEEDS))), None)


@pytest.fixture(scope="module")
def broken_by(pool: ProcessPoolExecutor) -> dict[str, Future[str | None]]:
    """What each mutation breaks, all looked for at the same time."""
    return {mutate.__name__: pool.submit(first_broken_law, mutate) for mutate in MUTATIONS}


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("mutation", [mutate.__name__ for mutate in MUTATIONS])
def test_a_rule_that_is_broken_on_purpose_is_noticed(
    mutation: str, broken_by: dict[str, Future[str | None]]
) -> None:
    law = broken_by[mutation].result()
    assert law is not None, f"{SEEDS} seeds noticed nothing"
    sys.stdout.write(law)
