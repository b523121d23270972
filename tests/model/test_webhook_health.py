"""A webhook's states, its count of failures, and when owners are told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from deskwire.model.events import EventKind
from deskwire.model.moments import Moment
from deskwire.model.notices import notice_of
from deskwire.model.webhooks import (
    EVENT_KINDS,
    KIND_BITS,
    WebhookRecord,
    WebhookStatus,
    after_failed_cycle,
    after_success,
    is_worth_a_notice,
    subscribed_bits,
    toggled,
)

NOW = Moment(1_767_225_600_000_000)
DAY = 24 * 60 * 60 * 1_000_000
NEW = WebhookRecord(
    id="one",
    name="One",
    url="https://a.example/",
    event_filters=(),
    secret=b"",
    created_at=NOW,
    updated_at=NOW,
)
STATUSES: tuple[WebhookStatus, ...] = ("active", "inactive", "error")


def failing(webhook: WebhookRecord, times: int, at: Moment = NOW) -> WebhookRecord:
    for _ in range(times):
        webhook = after_failed_cycle(webhook, at, "it failed", counts=True)
    return webhook


def at(us: int) -> Moment:
    return Moment(NOW + us)


def test_exactly_ten_failures_one_after_another_stop_a_webhook() -> None:
    assert [failing(NEW, times).status for times in range(12)] == ["active"] * 10 + ["error"] * 2
    assert [failing(NEW, times).failure_count for times in range(12)] == [*range(11), 10]


def test_a_success_between_begins_the_count_anew() -> None:
    nine = failing(NEW, 9)
    reset = after_success(nine, at(5))
    assert (reset.failure_count, reset.status, reset.last_delivered_at) == (0, "active", at(5))
    assert reset.error_message is None and reset.failing_since is None
    assert failing(reset, 9).status == "active"


def test_a_later_cycle_that_fails_is_told_but_not_counted() -> None:
    nine = failing(NEW, 9)
    failed = after_failed_cycle(nine, at(1), "again", counts=False)
    assert (failed.failure_count, failed.status, failed.error_message) == (9, "active", "again")
    assert failed.failing_since == NOW


@pytest.mark.parametrize("status", ["inactive", "error"])
def test_what_does_not_send_does_not_count(status: WebhookStatus) -> None:
    webhook = replace(NEW, status=status, failure_count=9)
    assert failing(webhook, 3).failure_count == 9
    assert failing(webhook, 3).status == status


@given(st.lists(st.tuples(st.booleans(), st.booleans())))
def test_a_webhook_in_error_never_recovers_on_its_own(cycles: list[tuple[bool, bool]]) -> None:
    webhook = failing(NEW, 10)
    for is_success, counts in cycles:
        if is_success:
            webhook = after_success(webhook, NOW)
        else:
            webhook = after_failed_cycle(webhook, NOW, "no", counts=counts)
        assert webhook.status == "error"


@given(st.lists(st.sampled_from(["success", "first", "later", "toggle"]), max_size=80))
def test_status_and_count_follow_the_table_of_states(deeds: list[str]) -> None:
    webhook, status, count = NEW, "active", 0
    for deed in deeds:
        match deed:
            case "success":
                webhook, count = after_success(webhook, NOW), 0
            case "first" | "later":
                webhook = after_failed_cycle(webhook, NOW, "no", counts=deed == "first")
                count += deed == "first" and status == "active"
                status = "error" if status == "active" and count == 10 else status
            case _:
                webhook = toggled(webhook, NOW)
                count = 0 if status == "error" else count
                status = "inactive" if status == "active" else "active"
        assert (webhook.status, webhook.failure_count) == (status, count)


def test_toggling_resets_the_count_of_one_in_error_alone() -> None:
    toggles = {status: toggled(replace(NEW, status=status, failure_count=4), at(9)) for status in STATUSES}
    assert {status: (each.status, each.failure_count) for status, each in toggles.items()} == {
        "active": ("inactive", 4),
        "inactive": ("active", 4),
        "error": ("active", 0),
    }
    assert {each.updated_at for each in toggles.values()} == {at(9)}


def stopped(noticed_at: Moment | None, has_worked: bool = True) -> tuple[WebhookRecord, WebhookRecord]:
    before = replace(failing(NEW, 9), noticed_at=noticed_at, last_delivered_at=NOW if has_worked else None)
    return before, failing(before, 1)


def test_one_that_worked_and_stops_is_worth_a_notice_and_one_that_never_worked_is_not() -> None:
    assert is_worth_a_notice(*stopped(None), NOW)
    assert not is_worth_a_notice(*stopped(None, has_worked=False), NOW)


def test_nothing_but_stopping_is_worth_a_notice() -> None:
    for before in STATUSES:
        for after in STATUSES:
            webhook = replace(NEW, last_delivered_at=NOW)
            is_worth = is_worth_a_notice(replace(webhook, status=before), replace(webhook, status=after), NOW)
            assert is_worth is (before != "error" and after == "error")


@pytest.mark.parametrize("distance", [0, 1, DAY - 1, -1, -DAY + 1])
def test_a_second_notice_of_a_day_is_not_made_even_when_the_clock_was_set_back(distance: int) -> None:
    assert not is_worth_a_notice(*stopped(NOW), at(distance))


@pytest.mark.parametrize("distance", [DAY, 30 * DAY, -DAY])
def test_a_day_later_a_notice_is_made_again(distance: int) -> None:
    assert is_worth_a_notice(*stopped(NOW), at(distance))


@given(st.sets(st.sampled_from(EVENT_KINDS)))
def test_a_filter_takes_its_kinds_and_an_empty_one_all_of_them(kinds: set[EventKind]) -> None:
    bits = subscribed_bits(tuple(kinds))
    assert {kind for kind in EVENT_KINDS if bits & KIND_BITS[kind]} == (kinds or set(EVENT_KINDS))


def test_a_notice_names_the_webhook_since_when_the_last_error_what_is_held_and_what_to_do() -> None:
    webhook = replace(
        failing(replace(NEW, name="Orders\r\nBcc: x@y.example"), 10),
        error_message="the receiver answered 500",
    )
    subject, text = notice_of(webhook, waiting=12)
    assert subject == "Webhook Orders Bcc: x@y.example has stopped"
    for part in (
        "since 2026-01-01T00:00:00.000000Z",
        "https://a.example/",
        "the receiver answered 500",
        "12 events",
        "deskwire webhook toggle one",
    ):
        assert part in text
