"""Claiming: one holder at a time, until the lease ends, and a channel's first deliveries in their order."""

import pytest
from msgspec.structs import replace

from deskwire.desk.delivering.preparing import Lost
from deskwire.desk.identity import new_id
from deskwire.model.moments import Moment
from tests.delivering.office import GONE, SECOND, Office
from tests.engines import AnyStore

LEASE = 30 * SECOND


@pytest.fixture
def holders(store: AnyStore) -> tuple[str, str]:
    return new_id(), new_id()


def test_of_two_holders_one_gets_it_until_its_lease_ends(office: Office, holders: tuple[str, str]) -> None:
    mine, theirs = holders
    webhook = office.webhook()
    office.emit()
    [first] = office.claim(webhook, mine)
    assert office.rows(webhook)[0].holder == mine
    assert office.due() == []
    assert office.claim(webhook, theirs) == [] == office.claim(webhook, mine)
    office.clock.advance(LEASE - 1)
    assert office.claim(webhook, theirs) == []
    office.clock.advance(1)
    [second] = office.claim(webhook, theirs)
    assert second.fence > first.fence
    assert office.rows(webhook)[0].due_at == office.clock() + LEASE


def test_what_is_due_longest_is_found_first_and_busy_webhooks_are_left_out(office: Office) -> None:
    first, second = office.webhook(), office.webhook()
    office.emit()
    office.clock.advance(SECOND)
    office.emit()
    older, newer = office.rows(first)
    assert office.due([second.id]) == [older.event_id, newer.event_id]
    assert office.due([first.id, second.id]) == []
    assert len(office.due()) == 4
    assert office.due(limit=3) == [older.event_id] * 2 + [newer.event_id]


def test_what_is_not_due_is_not_claimed(office: Office, holders: tuple[str, str]) -> None:
    webhook = office.webhook()
    office.emit()
    office.clock.advance(-1)
    assert office.due() == [] and office.claim(webhook, holders[0]) == []


def test_a_channels_first_deliveries_wait_for_the_one_that_another_holder_has(
    office: Office, holders: tuple[str, str]
) -> None:
    mine, theirs = holders
    webhook, channel = office.webhook(), new_id()
    office.emit(channel, number=3)
    office.emit()
    first, second, third, elsewhere = (row.event_id for row in office.rows(webhook))
    assert [each.event_id for each in office.claim(webhook, mine, [first])] == [first]
    assert [each.event_id for each in office.claim(webhook, theirs)] == [elsewhere]
    assert [each.event_id for each in office.claim(webhook, mine, [third, second])] == [second, third]


def test_order_no_longer_matters_once_the_first_attempt_failed(
    office: Office, holders: tuple[str, str]
) -> None:
    mine, theirs = holders
    webhook, channel = office.webhook(), new_id()
    office.emit(channel, number=2)
    first, second = (row.event_id for row in office.rows(webhook))
    [claim] = office.claim(webhook, mine, [first])
    office.record(webhook, office.in_vain(claim))
    assert [each.event_id for each in office.claim(webhook, theirs)] == [second]


def test_a_dead_holders_channel_goes_on_when_its_lease_has_run_out(
    office: Office, holders: tuple[str, str]
) -> None:
    """Even for one who does not see the first of them, as it stands behind those that wait for it."""
    dead, alive = holders
    webhook, channel = office.webhook(), new_id()
    office.emit(channel, number=20)
    ids = [row.event_id for row in office.rows(webhook)]
    office.claim(webhook, dead, ids[:1])
    office.clock.advance(LEASE - 1)
    assert office.claim(webhook, alive, ids[1:17]) == []
    office.clock.advance(1)
    assert [each.event_id for each in office.claim(webhook, alive, ids[1:17])] == ids[1:17]


def test_what_is_held_keeps_nobody_waiting(office: Office, holders: tuple[str, str]) -> None:
    mine, theirs = holders
    webhook, channel = office.webhook(status="error"), new_id()
    office.emit(channel)
    office.put(replace(office.load(webhook), status="active"))
    office.emit(channel)
    held, waiting = office.rows(webhook)
    assert [each.event_id for each in office.claim(webhook, theirs)] == [waiting.event_id]
    assert held.held and office.claim(webhook, mine) == []


def test_what_is_released_is_due_at_once_for_anybody(office: Office, holders: tuple[str, str]) -> None:
    mine, theirs = holders
    webhook = office.webhook()
    office.emit(number=2)
    ids = [row.event_id for row in office.rows(webhook)]
    office.claim(webhook, mine)
    office.clock.advance(SECOND)
    office.release(webhook, theirs, ids)
    assert office.due() == []
    office.release(webhook, mine, ids[:1])
    assert office.due() == ids[:1]
    assert [each.event_id for each in office.claim(webhook, theirs)] == ids[:1]


def test_a_lease_that_is_renewed_begins_anew_and_the_claim_stays_the_same(
    office: Office, holders: tuple[str, str]
) -> None:
    mine, theirs = holders
    webhook = office.webhook()
    office.emit()
    [claim] = office.claim(webhook, mine)
    office.clock.advance(LEASE - 1)
    assert office.renew(mine, claim)
    office.clock.advance(LEASE - 1)
    assert office.claim(webhook, theirs) == []
    assert not isinstance(office.prepare(claim), Lost)


def test_what_somebody_else_claimed_or_was_given_back_is_not_renewed(
    office: Office, holders: tuple[str, str]
) -> None:
    mine, theirs = holders
    webhook = office.webhook()
    office.emit(number=2)
    claims = office.claim(webhook, mine)
    assert office.renew(theirs, *claims) == []
    office.clock.advance(LEASE)
    # Nobody has taken them: they are still ours.
    assert office.renew(mine, *claims) == claims
    office.clock.advance(LEASE)
    [later] = office.claim(webhook, theirs, [claims[0].event_id])
    assert office.renew(mine, *claims) == claims[1:]
    office.release(webhook, theirs, [later.event_id])
    assert not office.renew(theirs, later)
    assert office.due() == [later.event_id]


def test_after_the_clock_was_set_back_what_it_dated_is_due_and_old_claims_are_void(
    office: Office, holders: tuple[str, str]
) -> None:
    webhook = office.webhook()
    office.emit(number=2)
    ids = [row.event_id for row in office.rows(webhook)]
    [claim] = office.claim(webhook, holders[0], ids[:1])
    office.clock.advance(-2 * 60 * 60 * SECOND)
    assert office.due() == []
    office.redate()
    assert office.due() == ids
    assert all(row.holder is None for row in office.rows(webhook))
    [verdict] = office.record(webhook, office.ended(claim, GONE)).verdicts
    assert verdict.value == "late"


@pytest.mark.parametrize("cycles", [0, 1, 5])
def test_where_a_clock_was_seen_to_go_back_nothing_waits_for_longer_than_its_schedule(
    office: Office, holders: tuple[str, str], cycles: int
) -> None:
    webhook = office.webhook()
    office.emit(number=2)
    ids = [row.event_id for row in office.rows(webhook)]
    waiting, mine = office.claim(webhook, holders[0], ids)
    office.record(webhook, office.ended(waiting._replace(cycles=cycles), GONE, jitter=1.0))
    before = office.rows(webhook)
    office.redate(was_seen=True)
    assert office.rows(webhook) == before
    office.clock.advance(-SECOND)
    office.redate(was_seen=False)
    assert office.rows(webhook) == before
    office.redate(was_seen=True)
    # One that is under way keeps its lease.
    assert office.due() == [waiting.event_id]
    assert office.renew(holders[0], mine) == [mine]


def test_what_was_accepted_before_the_clock_went_back_is_due(office: Office) -> None:
    office.webhook()
    office.emit(number=2)
    office.clock.advance(-20 * 60 * SECOND)
    assert office.due() == []
    office.redate(was_seen=True)
    assert len(office.due()) == 2


def test_what_was_requeued_or_is_held_keeps_its_date_when_clocks_are_looked_after(
    office: Office, holders: tuple[str, str]
) -> None:
    webhook, stopped = office.webhook(), office.webhook(status="error")
    office.emit()
    [claim] = office.claim(webhook, holders[0])
    late = claim._replace(cycles=20)
    office.record(webhook, office.ended(late, GONE, jitter=1.0))
    before = office.rows(webhook) + office.rows(stopped)
    office.redate()
    assert office.rows(webhook) + office.rows(stopped) == before
    assert before[0].due_at == Moment(office.clock() + 33 * 60 * SECOND)
