"""Lanes: how many requests travel to one webhook at once, as its answers teach."""

from itertools import count
from uuid import UUID

import pytest

from deskwire.delivery.lanes import Lane, Lanes
from deskwire.desk.delivering.claiming import Claim
from deskwire.model.deliveries import Delivered, Outcome, Refused, Unreachable
from deskwire.model.limits import (
    HELD_SENT_IN_TURN,
    LANE_CLAIMS_PER_WINDOW,
    LANE_WINDOW_FIRST,
    LANE_WINDOW_MOST,
)
from tests.api.records import new_id
from tests.engines import NEW_YEAR

ARRIVED = Delivered(200, 5)
REFUSED = Refused(500, 5, "The receiver answered 500")
UNREACHABLE = Unreachable(5, "The connection was refused")
NUMBERS = count(1)


def claim(order_key: str | None = None, *, untried: bool = True, fence: int = 1) -> Claim:
    return Claim(
        workspace_id=new_id(),
        webhook_id=new_id(),
        # As those that are given: each greater than the one before.
        event_id=str(UUID(int=next(NUMBERS))),
        order_key=order_key or new_id(),
        accepted_at=NEW_YEAR,
        counts=True,
        untried=untried,
        cycles=0,
        fence=fence,
    )


def learned(*outcomes: Outcome) -> Lane:
    lane = Lane()
    for outcome in outcomes:
        lane.learn(outcome)
    return lane


def started(lane: Lane, *claims: Claim, is_crowded: bool = False) -> list[Claim]:
    lane.add(list(claims))
    return list(lane.start(is_crowded))


@pytest.mark.parametrize(
    ("outcomes", "window"),
    [
        ([], LANE_WINDOW_FIRST),
        ([ARRIVED], LANE_WINDOW_FIRST + 1),
        ([ARRIVED] * 100, LANE_WINDOW_MOST),
        ([ARRIVED] * 100 + [UNREACHABLE], LANE_WINDOW_FIRST),
        ([REFUSED], 1),
        ([ARRIVED, REFUSED, ARRIVED], LANE_WINDOW_FIRST + 2),
    ],
)
def test_answers_tell_how_many_first_attempts_travel_at_once(outcomes: list[Outcome], window: int) -> None:
    claims = [claim() for _ in range(LANE_WINDOW_MOST + 1)]
    assert started(learned(*outcomes), *claims) == claims[:window]


@pytest.mark.parametrize(
    ("outcomes", "window"), [([], 1), ([UNREACHABLE], 1), ([ARRIVED], LANE_WINDOW_FIRST + 1)]
)
def test_in_a_crowd_one_that_never_answered_gets_one(outcomes: list[Outcome], window: int) -> None:
    claims = [claim() for _ in range(LANE_WINDOW_MOST)]
    assert started(learned(*outcomes), *claims, is_crowded=True) == claims[:window]


def test_first_deliveries_of_one_channel_follow_one_another() -> None:
    lane = Lane()
    first, second, other = claim("channel"), claim("channel"), claim()
    assert started(lane, first, second, other) == [first, other]
    lane.finish(first)
    assert started(lane) == [second]


def test_once_the_first_attempt_failed_the_next_of_the_channel_may_pass() -> None:
    lane = Lane()
    first, second = claim("channel"), claim("channel")
    assert started(lane, first, second) == [first]
    lane.rest(first)
    assert started(lane) == [second]


def test_what_was_tried_before_waits_for_nothing_of_its_channel() -> None:
    first, again = claim("channel"), claim("channel", untried=False)
    assert started(Lane(), first, again) == [first, again]


def test_what_one_refused_before_is_tried_beside_other_such() -> None:
    again = [claim(untried=False) for _ in range(LANE_WINDOW_FIRST + 1)]
    assert started(learned(REFUSED), *again) == again[:LANE_WINDOW_FIRST]


def test_what_rests_holds_no_place_of_the_window() -> None:
    lane = learned(REFUSED)
    first, second = claim(), claim()
    assert started(lane, first, second) == [first]
    lane.rest(first)
    assert started(lane) == [second]


@pytest.mark.parametrize(
    ("outcomes", "is_crowded", "room"),
    [
        ([], False, LANE_WINDOW_FIRST * LANE_CLAIMS_PER_WINDOW),
        ([], True, 1),
        ([ARRIVED], True, (LANE_WINDOW_FIRST + 1) * LANE_CLAIMS_PER_WINDOW),
        ([ARRIVED, UNREACHABLE], False, LANE_WINDOW_FIRST),
    ],
)
def test_nothing_is_claimed_that_would_wait_for_one_in_doubt(
    outcomes: list[Outcome], is_crowded: bool, room: int
) -> None:
    assert learned(*outcomes).room(is_crowded) == room


def test_one_that_let_the_next_pass_lets_nobody_pass_once_more() -> None:
    lane = Lane()
    first, second, third = claim("channel"), claim("channel"), claim("channel")
    assert started(lane, first, second, third) == [first]
    lane.rest(first)
    assert started(lane) == [second]
    lane.finish(first)
    assert started(lane) == []
    lane.finish(second)
    assert started(lane) == [third]


def test_one_that_is_claimed_once_more_sets_out_before_those_that_came_after_it() -> None:
    lane = Lane()
    older, first, behind = claim("channel"), claim("channel"), claim("channel")
    lane.add([first, behind])
    lane.add([older])
    assert list(lane.start(is_crowded=False)) == [older]


def test_what_was_held_is_sent_one_by_one_and_before_what_is_younger() -> None:
    lane = learned(*[ARRIVED] * 100)
    held = [claim(fence=2) for _ in range(3)]
    young = [claim() for _ in range(2)]
    assert started(lane, *young, *held[::-1]) == held[:1]
    lane.rest(held[0])
    assert started(lane) == held[1:2]
    lane.finish(held[1])
    assert started(lane) == [held[2], *young]


def test_of_a_large_backlog_the_rest_begins_in_order_several_at_once() -> None:
    lane = learned(*[ARRIVED] * 100)
    held = [claim("one channel", fence=2) for _ in range(HELD_SENT_IN_TURN)]
    lane.add(held)
    for each in held:
        assert list(lane.start(is_crowded=False)) == [each]
        lane.finish(each)
    single, first = claim(fence=2), claim("channel", fence=2)
    second, other = claim("channel", fence=2), claim(fence=2)
    assert started(lane, single, first, second, other) == [single, first]
    lane.finish(first)
    assert started(lane) == [second, other]


def test_what_waits_is_what_was_claimed_and_has_not_set_out() -> None:
    lanes = Lanes()
    first, second, other = claim("channel"), claim("channel"), claim()
    lane = lanes.add("some", [first, second])
    lanes.add("others", [other])
    assert list(lanes.waiting) == [first, second, other]
    assert list(lanes.start(lane)) == [first]
    assert list(lanes.waiting) == [second, other]
