"""A delivery: how an attempt can end, what follows within its cycle, and when the next cycle starts."""

from dataclasses import dataclass
from typing import NamedTuple

from deskwire.model.limits import (
    ATTEMPT_S,
    CYCLE_ATTEMPTS,
    CYCLE_S,
    CYCLE_WAITS_S,
    DELIVERY_HORIZON_US,
    REQUEUE_JITTER,
    REQUEUE_WAITS_S,
)
from deskwire.model.moments import Moment

SECOND_US = 1_000_000


def longest_wait_us(cycles: int) -> int:
    """Before the next cycle when so many have failed, unless the receiver asks for more."""
    return int(scheduled_wait_s(cycles) * (1 + REQUEUE_JITTER) * SECOND_US)


def scheduled_wait_s(cycles: int) -> int:
    return REQUEUE_WAITS_S[min(cycles, len(REQUEUE_WAITS_S)) - 1] if cycles else 0


LONGEST_REQUEUE_WAIT_US = longest_wait_us(len(REQUEUE_WAITS_S))


@dataclass(frozen=True, slots=True)
class Delivered:
    """The receiver answered 2xx."""

    http_status: int
    duration_ms: int


@dataclass(frozen=True, slots=True)
class Refused:
    """The receiver answered something else."""

    http_status: int
    duration_ms: int
    error: str
    # What its Retry-After asked for, if it was 429 or 503 and said so.
    retry_after_s: int | None = None


@dataclass(frozen=True, slots=True)
class Unreachable:
    """There was no answer: the name does not resolve, no connection, no TLS, no time left."""

    duration_ms: int
    error: str


@dataclass(frozen=True, slots=True)
class Barred:
    """The rules for URLs forbid to send there."""

    duration_ms: int
    error: str


Failed = Refused | Unreachable | Barred
Outcome = Delivered | Failed


def is_tried_again(outcome: Failed) -> bool:
    """Whether the cycle may go on: after 429, 5xx and where there was no answer."""
    match outcome:
        case Refused(http_status=status):
            return status == 429 or 500 <= status <= 599
        case Unreachable():
            return True
        case Barred():
            return False


def attempt_limit_s(elapsed_s: float) -> float:
    """How long an attempt may take that begins so long after its cycle."""
    return min(ATTEMPT_S, CYCLE_S - elapsed_s)


def wait_within_cycle_s(attempts: int, outcome: Failed, elapsed_s: float) -> float | None:
    """How long to wait for the cycle's next attempt; None: the cycle ends here.

    A receiver that asks for a longer wait gets it, as far as the cycle's time reaches.
    """
    if attempts >= CYCLE_ATTEMPTS or not is_tried_again(outcome):
        return None
    wait_s = max(CYCLE_WAITS_S[attempts - 1], asked_wait_s(outcome))
    return wait_s if elapsed_s + wait_s < CYCLE_S else None


def asked_wait_s(outcome: Failed) -> int:
    return (outcome.retry_after_s or 0) if isinstance(outcome, Refused) else 0


class Requeued(NamedTuple):
    """When the next cycle is due."""

    due_at: Moment


class Discarded(NamedTuple):
    """There will be no further cycle."""


def after_failed_cycle(
    cycles: int, accepted_at: Moment, ended_at: Moment, jitter: float, asked_s: int = 0
) -> Requeued | Discarded:
    """What follows when so many cycles have failed, the last one just now; `jitter` is from 0 to 1.

    A receiver's wish for a longer wait is granted up to the longest of the schedule.
    """
    wait_s = max(scheduled_wait_s(cycles), min(asked_s, REQUEUE_WAITS_S[-1]))
    due_at = Moment(ended_at + int(wait_s * (1 + REQUEUE_JITTER * jitter) * SECOND_US))
    return Requeued(due_at) if due_at < horizon(accepted_at) else Discarded()


def horizon(accepted_at: Moment) -> Moment:
    """Nothing is sent from this moment on."""
    return Moment(accepted_at + DELIVERY_HORIZON_US)
