"""Sending events again: which of them, in which order, and not twice."""

from collections.abc import Sequence
from typing import Any

import pytest

from deskwire.desk import redelivering
from deskwire.desk.delivering.claiming import Claim, claim
from deskwire.desk.delivering.recording import Attempt, Ended, record
from deskwire.desk.redelivering import Redelivered, Wish, redeliver
from deskwire.desk.webhooks import toggle_webhook
from deskwire.model.deliveries import Delivered
from deskwire.model.errors import DeskError
from deskwire.model.events import EventKind
from deskwire.model.limits import DELIVERY_HORIZON_US, DUPLICATE_WINDOW_US
from deskwire.model.moments import Moment
from deskwire.store.clock import system_clock
from deskwire.store.tables import DELIVERIES, EVENTS
from tests.api.records import new_id
from tests.api.webhooks import add_logs, add_webhook, kept_webhook, log_entry
from tests.engines import SetClock
from tests.writes.writer import Writer, whole

MINUTE_US = 60_000_000
ALL_EVENTS, ALL_DELIVERIES = whole(EVENTS), whole(DELIVERIES)


@pytest.fixture(autouse=True)
def today(clock: SetClock) -> None:
    """Ids are made by the machine's own clock, and what is looked for among them begins with the time."""
    clock.now = system_clock()


def rows(writer: Writer, statement: Any, columns: Sequence[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [dict(zip(columns, row, strict=True)) for row in writer._rows(statement)]
    for row in found:
        row.update({name: str(row[name]) for name in columns if name.endswith(("_id", "_key"))})
    return sorted(found, key=lambda row: str(row["event_id" if "event_id" in row else "id"]))


def events(writer: Writer) -> list[dict[str, Any]]:
    return rows(writer, ALL_EVENTS, EVENTS.columns.keys())


def queue(writer: Writer) -> list[dict[str, Any]]:
    return rows(writer, ALL_DELIVERIES, DELIVERIES.columns.keys())


def again(writer: Writer, webhook: str, minutes: int = 24 * 60, **how: Any) -> Redelivered:
    since = Moment(writer.house.clock.now - minutes * MINUTE_US)
    wish = Wish(writer.desk.workspace_id, webhook, since, **how)
    return writer.house.run(redeliver(writer.house.store, wish))


def deliver_all(writer: Writer, webhook: str) -> None:
    """All that is in the queue arrives."""
    house, workspace_id = writer.house, writer.desk.workspace_id
    ids = [row["event_id"] for row in queue(writer)]
    claims: list[Claim] = house.run(
        house.store.write(lambda tx: claim(tx, new_id(), workspace_id, webhook, ids))
    )
    assert len(claims) == len(ids)
    ended = [
        Ended(one, Attempt("contact.created", house.clock.now, Delivered(200, 5)), 0.0) for one in claims
    ]
    house.run(house.store.write(lambda tx: record(tx, workspace_id, webhook, ended)))
    assert queue(writer) == []


def test_events_from_before_a_webhook_came_are_sent_with_their_first_time(
    writer: Writer, clock: SetClock
) -> None:
    accepted_at = clock.now
    writer.contact(name="Ann")
    clock.advance(5 * MINUTE_US)
    webhook = add_webhook(writer.desk)
    assert again(writer, webhook) == Redelivered(queued=1, waiting=0, recent=0, held=False)
    (row,), (event,) = queue(writer), events(writer)
    assert row == {
        "workspace_id": writer.desk.workspace_id,
        "webhook_id": webhook,
        "event_id": event["id"],
        "order_key": event["subject_id"],
        "accepted_at": accepted_at,
        "due_at": clock.now,
        "held": False,
        "counts": False,
        "untried": True,
        "cycles": 0,
        "holder": row["holder"],
        "fence": 0,
    }


def test_the_events_of_a_channel_keep_their_order(writer: Writer) -> None:
    channel = writer.channel(status="open")
    writer.reply(channel)
    assert writer.act(channel, "close").status == 200
    writer.contact(name="Ann")
    assert again(writer, add_webhook(writer.desk)).queued == 3
    keys = {event["id"]: row["order_key"] for event, row in zip(events(writer), queue(writer), strict=True)}
    kinds = {event["id"]: event["kind"] for event in events(writer)}
    assert {kinds[id] for id, key in keys.items() if key == channel} == {"message.created", "channel.closed"}


def test_only_the_kinds_that_are_wanted_and_taken_are_sent(writer: Writer) -> None:
    channel = writer.channel()
    writer.reply(channel)
    writer.contact(name="Ann")
    filters: tuple[EventKind, ...] = ("message.created", "contact.updated")
    webhook = add_webhook(writer.desk, event_filters=filters)
    assert again(writer, webhook, kinds=["contact.updated"]).queued == 0
    assert again(writer, webhook).queued == 1
    with pytest.raises(DeskError, match=r"does not take contact\.created, only message\.created, "):
        again(writer, webhook, kinds=["contact.created"])


def test_only_what_was_accepted_since_then_is_sent(writer: Writer, clock: SetClock) -> None:
    now = clock.now
    for minutes in (24 * 60, 24 * 60 - 1, 60, 59):
        clock.now = Moment(now - minutes * MINUTE_US)
        writer.contact(name="Ann")
    clock.now = now
    webhook = add_webhook(writer.desk)
    assert again(writer, webhook, 59).queued == 1
    assert again(writer, webhook, 60) == Redelivered(queued=1, waiting=1, recent=0, held=False)
    # What is 24 hours old is never sent.
    assert again(writer, webhook, 48 * 60) == Redelivered(queued=1, waiting=2, recent=0, held=False)
    assert len(queue(writer)) == 3


def test_what_is_on_its_way_already_is_not_doubled(writer: Writer) -> None:
    webhook = add_webhook(writer.desk)
    writer.contact(name="Ann")
    before = queue(writer)
    assert again(writer, webhook) == Redelivered(queued=0, waiting=1, recent=0, held=False)
    assert queue(writer) == before


def test_what_has_just_arrived_is_left_out_unless_it_is_wanted_again(writer: Writer, clock: SetClock) -> None:
    webhook = add_webhook(writer.desk)
    writer.contact(name="Ann")
    deliver_all(writer, webhook)
    writer.contact(name="Bo")
    deliver_all(writer, webhook)
    clock.advance(DUPLICATE_WINDOW_US - 1)
    assert again(writer, webhook) == Redelivered(queued=0, waiting=0, recent=2, held=False)
    assert again(writer, webhook, again=True) == Redelivered(queued=2, waiting=0, recent=0, held=False)
    deliver_all(writer, webhook)
    clock.advance(DUPLICATE_WINDOW_US)
    assert again(writer, webhook) == Redelivered(queued=2, waiting=0, recent=0, held=False)


def test_a_failure_a_moment_ago_is_no_reason_to_leave_an_event_out(writer: Writer, clock: SetClock) -> None:
    writer.contact(name="Ann")
    webhook = add_webhook(writer.desk, last_log_id=1)
    id = events(writer)[0]["id"]
    add_logs(writer.desk, [log_entry(writer.desk, webhook, 1, clock.now, event_id=id, success=False)])
    assert again(writer, webhook).queued == 1


def test_a_long_log_is_looked_through_as_far_as_it_is_of_late(
    writer: Writer, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redelivering, "REDELIVERED_AT_ONCE", 3)
    for _ in range(4):
        writer.contact(name="Ann")
    ids = [event["id"] for event in events(writer)]
    webhook = add_webhook(writer.desk, last_log_id=12)
    of_late, long_ago = clock.now - DUPLICATE_WINDOW_US + 1, clock.now - DUPLICATE_WINDOW_US
    add_logs(
        writer.desk,
        [
            log_entry(writer.desk, webhook, 1, long_ago, event_id=ids[0]),
            log_entry(writer.desk, webhook, 2, of_late, event_id=ids[1]),
            *(log_entry(writer.desk, webhook, number, clock.now) for number in range(3, 13)),
        ],
    )
    assert again(writer, webhook) == Redelivered(queued=3, waiting=0, recent=1, held=False)
    assert {row["event_id"] for row in queue(writer)} == {ids[0], ids[2], ids[3]}


def test_many_events_are_queued_in_steps(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redelivering, "REDELIVERED_AT_ONCE", 2)
    for _ in range(5):
        writer.contact(name="Ann")
    webhook = add_webhook(writer.desk)
    assert again(writer, webhook) == Redelivered(queued=5, waiting=0, recent=0, held=False)
    due = [row["due_at"] for row in queue(writer)]
    assert due == sorted(due)


def test_what_arrives_between_two_steps_is_not_sent_again(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redelivering, "REDELIVERED_AT_ONCE", 2)
    webhook = add_webhook(writer.desk)
    for _ in range(5):
        writer.contact(name="Ann")
    house, workspace_id = writer.house, writer.desk.workspace_id
    waiting = [row["event_id"] for row in queue(writer)]

    # The log was looked through before that.
    async def deliver_meanwhile(store: Any, wish: Wish, newest: int) -> frozenset[str]:
        claims = await store.write(lambda tx: claim(tx, new_id(), workspace_id, webhook, waiting))
        ended = [
            Ended(one, Attempt("contact.created", house.clock.now, Delivered(200, 5)), 0.0) for one in claims
        ]
        await store.write(lambda tx: record(tx, workspace_id, webhook, ended))
        return frozenset()

    monkeypatch.setattr(redelivering, "arrived_lately", deliver_meanwhile)
    assert again(writer, webhook) == Redelivered(queued=0, waiting=0, recent=5, held=False)


def test_for_a_webhook_in_error_events_are_held_until_it_is_toggled(writer: Writer, clock: SetClock) -> None:
    writer.contact(name="Ann")
    webhook = add_webhook(writer.desk, status="error")
    assert again(writer, webhook) == Redelivered(queued=1, waiting=0, recent=0, held=True)
    (row,) = queue(writer)
    assert row["held"] and row["due_at"] == row["accepted_at"] + DELIVERY_HORIZON_US
    house = writer.house
    house.run(house.store.write(lambda tx: toggle_webhook(tx, writer.desk.workspace_id, webhook)))
    (row,) = queue(writer)
    assert (bool(row["held"]), row["due_at"]) == (False, clock.now)


def test_for_an_inactive_webhook_nothing_is_done(writer: Writer) -> None:
    writer.contact(name="Ann")
    webhook = add_webhook(writer.desk, status="inactive")
    with pytest.raises(DeskError, match=r"inactive.*deskwire webhook toggle"):
        again(writer, webhook)
    assert queue(writer) == []


def test_the_failure_of_a_repeated_event_does_not_count(writer: Writer) -> None:
    from_before = add_webhook(writer.desk, failure_count=9)
    assert kept_webhook(writer.desk, from_before).failure_count == 9
    writer.contact(name="Ann")
    deliver_all(writer, from_before)
    assert again(writer, from_before, again=True).queued == 1
    assert [bool(row["counts"]) for row in queue(writer)] == [False]


def test_another_workspaces_events_stay_there(writer: Writer, stranger: Writer) -> None:
    stranger.contact(name="Ann")
    assert again(writer, add_webhook(writer.desk)).queued == 0
    with pytest.raises(DeskError, match="no such webhook"):
        again(stranger, add_webhook(writer.desk))
