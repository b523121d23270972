"""What came of deliveries: their log, what follows for each, the webhook's health, and the notice."""

from typing import Any

import pytest
from msgspec.structs import replace

from deskwire.desk.delivering.claiming import Claim
from deskwire.desk.delivering.recording import GivenUp, PutAside, Result, Verdict
from deskwire.desk.identity import new_id
from deskwire.model.deliveries import Barred, Failed, Refused
from deskwire.model.moments import Moment
from deskwire.model.webhooks import WebhookRecord, WebhookStatus
from tests.delivering.office import DAY, GONE, OK, SECOND, Office

FAILURES = [GONE, Refused(500, 3, "the receiver answered 500"), Refused(404, 3, "no"), Barred(0, "barred")]


def claimed(office: Office, number: int = 1, **fields: Any) -> tuple[WebhookRecord, list[Claim]]:
    webhook = office.webhook(**fields)
    office.emit(number=number)
    return webhook, office.claim(webhook, new_id())


def test_a_delivery_is_gone_when_it_is_delivered_and_the_webhook_is_well(office: Office) -> None:
    webhook, [claim] = claimed(office, failure_count=7, error_message="no", failing_since=Moment(1))
    office.clock.advance(SECOND)
    recorded = office.record(webhook, office.ended(claim, OK))
    assert recorded.verdicts == [Verdict.DELIVERED] and recorded.stopped is None
    assert office.rows(webhook) == []
    assert office.log(webhook) == [(1, claim.event_id, True, 204, None)]
    after = office.load(webhook)
    assert (after.failure_count, after.error_message, after.failing_since) == (0, None, None)
    assert after.last_delivered_at == office.clock()


@pytest.mark.parametrize("failure", FAILURES, ids=repr)
def test_a_failed_cycle_is_requeued_counted_and_logged(office: Office, failure: Failed) -> None:
    webhook, [claim] = claimed(office)
    recorded = office.record(webhook, office.ended(claim, failure, jitter=0.5))
    assert recorded.verdicts == [Verdict.REQUEUED]
    [row] = office.rows(webhook)
    assert row.due_at == office.clock() + 10_500_000
    assert (row.held, row.counts, row.untried, row.cycles, row.holder) == (False, False, False, 1, None)
    status = getattr(failure, "http_status", None)
    assert office.log(webhook) == [(1, claim.event_id, False, status, failure.error)]
    after = office.load(webhook)
    assert (after.failure_count, after.error_message, after.status) == (1, failure.error, "active")


def test_a_redelivery_that_fails_is_not_counted(office: Office) -> None:
    webhook, [claim] = claimed(office)
    office.record(webhook, office.ended(claim, GONE))
    office.clock.advance(11 * SECOND)
    [again] = office.claim(webhook, new_id())
    assert (again.counts, again.cycles, again.untried) == (False, 1, False)
    assert office.record(webhook, office.ended(again, GONE)).verdicts == [Verdict.REQUEUED]
    assert office.load(webhook).failure_count == 1
    assert office.rows(webhook)[0].due_at == office.clock() + 30 * SECOND


def test_an_attempt_in_vain_is_logged_and_the_cycle_goes_on_under_the_next_number(office: Office) -> None:
    webhook, [claim] = claimed(office)
    assert office.record(webhook, office.in_vain(claim)).verdicts == [Verdict.GOES_ON]
    [row] = office.rows(webhook)
    assert (row.untried, row.counts, row.cycles, row.fence) == (False, True, 0, claim.fence + 1)
    assert row.holder is not None and office.load(webhook).failure_count == 0
    claim = claim._replace(fence=claim.fence + 1)
    assert office.record(webhook, office.ended(claim, OK)).verdicts == [Verdict.DELIVERED]
    assert [entry[:3] for entry in office.log(webhook)] == [
        (1, claim.event_id, False),
        (2, claim.event_id, True),
    ]


@pytest.mark.parametrize("kind", ["in vain", "ended", "put aside"])
def test_what_is_recorded_twice_counts_once(office: Office, kind: str) -> None:
    """A commit whose answer was lost is tried again."""
    webhook, [claim] = claimed(office)
    if kind == "put aside":
        office.put(replace(webhook, status="inactive"))
    results: dict[str, Result] = {
        "in vain": office.in_vain(claim),
        "ended": office.ended(claim, GONE),
        "put aside": PutAside(claim),
    }
    result = results[kind]
    office.record(webhook, result)
    before = office.rows(webhook), office.log(webhook), office.load(webhook)
    assert office.record(webhook, result).verdicts == [Verdict.LATE]
    assert (office.rows(webhook), office.log(webhook), office.load(webhook)) == before


def test_a_late_result_changes_nothing(office: Office) -> None:
    webhook, [claim] = claimed(office)
    office.clock.advance(30 * SECOND)
    [theirs] = office.claim(webhook, new_id())
    before = office.rows(webhook), office.load(webhook)
    for result in (office.ended(claim, OK), office.in_vain(claim), PutAside(claim), GivenUp(claim)):
        assert office.record(webhook, result).verdicts == [Verdict.LATE]
    assert (office.rows(webhook), office.load(webhook)) == before and office.log(webhook) == []
    assert office.record(webhook, office.ended(theirs, OK)).verdicts == [Verdict.DELIVERED]


def test_what_is_given_up_is_gone_without_an_entry(office: Office) -> None:
    webhook, [claim] = claimed(office)
    assert office.record(webhook, GivenUp(claim)).verdicts == [Verdict.DISCARDED]
    assert office.rows(webhook) == [] == office.log(webhook)
    assert office.load(webhook).failure_count == 0


def test_a_cycle_that_could_not_start_in_time_is_not_queued_any_more(office: Office) -> None:
    webhook, [claim] = claimed(office)
    office.clock.advance(DAY - 10 * SECOND)
    assert office.record(webhook, office.ended(claim, GONE)).verdicts == [Verdict.DISCARDED]
    assert office.rows(webhook) == []
    assert len(office.log(webhook)) == 1 and office.load(webhook).failure_count == 1


@pytest.mark.parametrize("status", ["inactive", "error"])
def test_what_is_put_aside_or_fails_for_a_webhook_that_has_stopped_is_held_and_not_counted(
    office: Office, status: WebhookStatus
) -> None:
    webhook, [aside, failed] = claimed(office, number=2)
    office.put(replace(webhook, status=status, failure_count=9))
    recorded = office.record(webhook, PutAside(aside), office.ended(failed, GONE))
    assert recorded.verdicts == [Verdict.HELD, Verdict.HELD] and recorded.stopped is None
    assert [(row.held, row.counts, row.due_at) for row in office.rows(webhook)] == [
        (True, True, aside.accepted_at + DAY),
        (True, False, failed.accepted_at + DAY),
    ]
    after = office.load(webhook)
    assert (after.status, after.failure_count, after.error_message) == (status, 9, GONE.error)
    assert office.notices(webhook) == []


def test_what_is_put_aside_for_a_webhook_that_was_activated_meanwhile_is_due_at_once(office: Office) -> None:
    webhook, [claim] = claimed(office)
    assert office.record(webhook, PutAside(claim)).verdicts == [Verdict.REQUEUED]
    [row] = office.rows(webhook)
    assert (row.held, row.due_at, row.counts, row.untried) == (False, office.clock(), True, True)


def test_the_tenth_failure_stops_the_webhook_holds_what_failed_and_makes_a_notice(office: Office) -> None:
    webhook, claims = claimed(office, number=12, last_delivered_at=Moment(1))
    recorded = office.record(webhook, *(office.ended(claim, GONE) for claim in claims))
    assert recorded.verdicts == [Verdict.REQUEUED] * 9 + [Verdict.HELD] * 3
    assert recorded.stopped is not None and recorded.stopped.status == "error"
    after = office.load(webhook)
    assert (after.status, after.failure_count, after.noticed_at) == ("error", 10, office.clock())
    [(subject, text, mail_due_at)] = office.notices(webhook)
    assert subject == "Webhook Orders has stopped" and mail_due_at == office.clock()
    for part in (webhook.id, webhook.url, "2026-01-01T00:00:00.000000Z", GONE.error, "12 events"):
        assert part in str(text)


def test_a_webhook_that_never_succeeded_stops_without_a_notice(office: Office) -> None:
    webhook, claims = claimed(office, number=10)
    recorded = office.record(webhook, *(office.ended(claim, GONE) for claim in claims))
    assert recorded.stopped is not None and office.notices(webhook) == []


def test_a_second_notice_comes_a_day_after_the_first_at_the_soonest(office: Office) -> None:
    webhook = office.webhook(last_delivered_at=Moment(1))
    for later_us, notices in ((0, 1), (DAY - 1, 1), (1, 2)):
        office.clock.advance(later_us)
        office.put(replace(office.load(webhook), status="active", failure_count=9))
        office.emit()
        claim = office.claim(webhook, new_id())[-1]
        assert office.record(webhook, office.ended(claim, GONE)).stopped is not None
        assert len(office.notices(webhook)) == notices


def test_of_a_webhook_that_was_deleted_everything_is_dropped(office: Office) -> None:
    webhook, claims = claimed(office, number=4)
    office.remove(webhook)
    results = (
        office.ended(claims[0], OK),
        office.in_vain(claims[1]),
        PutAside(claims[2]),
        office.ended(claims[3], GONE),
    )
    assert office.record(webhook, *results).verdicts == [Verdict.DISCARDED] * 4
    assert office.rows(webhook) == [] == office.log(webhook)


def test_a_batch_of_everything_is_entered_in_the_order_in_which_it_ended(office: Office) -> None:
    webhook, claims = claimed(office, number=7, failure_count=8)
    late = claims[6]._replace(fence=0)
    recorded = office.record(
        webhook,
        office.ended(claims[0], GONE),
        office.in_vain(claims[1]),
        office.ended(claims[2], OK),
        office.ended(late, GONE),
        GivenUp(claims[3]),
        office.ended(claims[4], Refused(429, 2, "busy", 3600)),
        PutAside(claims[5]),
    )
    assert [verdict.value for verdict in recorded.verdicts] == [
        "requeued",
        "goes on",
        "delivered",
        "late",
        "discarded",
        "requeued",
        "requeued",
    ]
    after = office.load(webhook)
    assert (after.failure_count, after.status, after.last_log_id) == (1, "active", 4)
    assert [(entry[0], entry[1]) for entry in office.log(webhook)] == [
        (number, claims[index].event_id) for number, index in enumerate((0, 1, 2, 4), 1)
    ]
    waits = {row.event_id: row.due_at - office.clock() for row in office.rows(webhook)}
    assert waits[claims[4].event_id] == 30 * 60 * SECOND
    assert set(waits) == {claims[index].event_id for index in (0, 1, 4, 5, 6)}


def test_ten_failures_with_a_success_between_do_not_stop_it(office: Office) -> None:
    webhook, claims = claimed(office, number=20)
    outcomes = [GONE] * 9 + [OK] + [GONE] * 9 + [OK]
    results = [office.ended(claim, outcome) for claim, outcome in zip(claims, outcomes, strict=True)]
    assert office.record(webhook, *results).stopped is None
    assert (office.load(webhook).status, office.load(webhook).failure_count) == ("active", 0)
