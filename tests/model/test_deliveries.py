"""The schedule of a delivery: which attempts a cycle has, when the next cycle starts, when there is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskwire.model.deliveries import (
    LONGEST_REQUEUE_WAIT_US,
    Barred,
    Discarded,
    Failed,
    Refused,
    Requeued,
    Unreachable,
    after_failed_cycle,
    attempt_limit_s,
    horizon,
    is_tried_again,
    wait_within_cycle_s,
)
from deskwire.model.moments import Moment

SECOND = 1_000_000
DAY = 24 * 60 * 60 * SECOND
ACCEPTED = Moment(1_767_225_600_000_000)
WAITS_S = (10, 30, 60, 120, 300, 600, 1800)
GONE = Unreachable(5, "connection refused")

jitters = st.floats(0, 1)
cycles = st.integers(1, 200)
ages = st.integers(0, DAY)
outcomes = st.one_of(
    st.builds(
        Refused,
        st.integers(300, 599),
        st.integers(0, 10_000),
        st.text(),
        st.none() | st.integers(0, 10**9),
    ),
    st.builds(Unreachable, st.integers(0, 10_000), st.text()),
    st.builds(Barred, st.integers(0, 10_000), st.text()),
)


def refused(status: int, retry_after_s: int | None = None) -> Refused:
    return Refused(status, 5, f"the receiver answered {status}", retry_after_s)


@pytest.mark.parametrize("status", range(100, 600))
def test_of_all_statuses_429_and_5xx_alone_are_tried_again(status: int) -> None:
    assert is_tried_again(refused(status)) is (status == 429 or status >= 500)


def test_no_answer_is_tried_again_and_what_the_rules_bar_is_not() -> None:
    assert is_tried_again(GONE)
    assert not is_tried_again(Barred(0, "a private address"))


def test_a_cycle_waits_one_second_and_then_two_and_has_three_attempts() -> None:
    assert [wait_within_cycle_s(attempts, GONE, 0.0) for attempts in (1, 2, 3)] == [1.0, 2.0, None]


@given(st.integers(1, 3), outcomes, st.floats(0, 60))
def test_an_attempt_that_follows_begins_within_the_cycle_and_no_sooner_than_it_may(
    attempts: int, outcome: Failed, elapsed_s: float
) -> None:
    wait_s = wait_within_cycle_s(attempts, outcome, elapsed_s)
    if wait_s is None:
        return
    assert attempts < 3 and is_tried_again(outcome)
    assert wait_s >= (1.0, 2.0)[attempts - 1]
    assert wait_s >= (getattr(outcome, "retry_after_s", None) or 0)
    assert 0 < attempt_limit_s(elapsed_s + wait_s) <= 10.0
    assert elapsed_s + wait_s + attempt_limit_s(elapsed_s + wait_s) <= 20.0 + 1e-9


def test_a_hanging_receiver_gets_two_attempts_the_second_one_cut_short() -> None:
    assert attempt_limit_s(0.0) == 10.0
    assert wait_within_cycle_s(1, GONE, 10.0) == 1.0
    assert attempt_limit_s(11.0) == 9.0
    assert wait_within_cycle_s(2, GONE, 20.0) is None


@pytest.mark.parametrize(
    ("asked_s", "wait_s"), [(None, 1.0), (0, 1.0), (1, 1.0), (7, 7), (19, 19), (20, None), (3600, None)]
)
def test_a_wish_to_wait_is_granted_as_far_as_the_cycle_reaches(
    asked_s: int | None, wait_s: float | None
) -> None:
    assert wait_within_cycle_s(1, refused(503, asked_s), 0.5) == wait_s


@pytest.mark.parametrize("cycle", range(1, 60))
def test_cycles_start_after_10_s_30_s_1_2_5_10_and_then_every_30_minutes(cycle: int) -> None:
    wait_us = WAITS_S[min(cycle, 7) - 1] * SECOND
    assert after_failed_cycle(cycle, ACCEPTED, ACCEPTED, 0.0) == Requeued(Moment(ACCEPTED + wait_us))
    latest = after_failed_cycle(cycle, ACCEPTED, ACCEPTED, 1.0)
    assert latest == Requeued(Moment(ACCEPTED + wait_us * 11 // 10))


@given(cycles, ages, jitters, st.integers(0, 10**9))
def test_the_next_cycle_is_never_sooner_nor_a_tenth_later_than_scheduled(
    cycle: int, age_us: int, jitter: float, asked_s: int
) -> None:
    ended_at = Moment(ACCEPTED + age_us)
    wait_us = max(WAITS_S[min(cycle, 7) - 1], min(asked_s, 1800)) * SECOND
    match after_failed_cycle(cycle, ACCEPTED, ended_at, jitter, asked_s):
        case Requeued(due_at):
            assert wait_us <= due_at - ended_at <= wait_us * 1.1
            assert due_at - ended_at <= LONGEST_REQUEUE_WAIT_US
            assert due_at < ACCEPTED + DAY
        case Discarded():
            assert ended_at + wait_us * 1.1 >= ACCEPTED + DAY


@given(jitters)
def test_an_event_that_nobody_takes_is_tried_for_almost_24_hours(jitter: float) -> None:
    now, cycle = ACCEPTED, 0
    while True:
        cycle += 1
        match after_failed_cycle(cycle, ACCEPTED, now, jitter):
            case Requeued(due_at):
                now = due_at
            case Discarded():
                break
    assert ACCEPTED + DAY - 33 * 60 * SECOND <= now < ACCEPTED + DAY
    assert 48 <= cycle <= 54


def test_the_horizon_is_24_hours_after_the_event_was_accepted() -> None:
    assert horizon(ACCEPTED) == ACCEPTED + DAY
    just_before = Moment(ACCEPTED + DAY - 10 * SECOND - 1)
    assert after_failed_cycle(1, ACCEPTED, just_before, 0.0) == Requeued(Moment(ACCEPTED + DAY - 1))
    assert after_failed_cycle(1, ACCEPTED, Moment(just_before + 1), 0.0) == Discarded()
