"""What is to be done with a claimed delivery, looked up before each attempt."""

import msgspec
import pytest
from msgspec.structs import replace

from deskwire.desk.delivering.claiming import Claim
from deskwire.desk.delivering.preparing import Lost, Ready, Stopped, Useless
from deskwire.desk.identity import new_id
from deskwire.model.channels import ChannelRecord
from deskwire.model.messages import MessageRecord
from deskwire.model.webhooks import WebhookRecord, WebhookStatus
from deskwire.store import kinds
from tests.delivering.office import DAY, OK, SECOND, Office


def claimed(office: Office) -> tuple[WebhookRecord, Claim]:
    webhook = office.webhook()
    office.emit()
    [claim] = office.claim(webhook, new_id())
    return webhook, claim


def test_what_can_be_sent_is_ready_with_the_url_the_secret_and_the_body_of_the_event(office: Office) -> None:
    webhook, claim = claimed(office)
    ready = office.prepare(claim)
    assert isinstance(ready, Ready)
    assert (ready.url, ready.secret, ready.kind) == (webhook.url, webhook.secret, "channel.closed")
    assert msgspec.json.decode(ready.body)["kind"] == "channel.closed"
    assert office.prepare(claim) == ready


def test_a_changed_url_and_secret_are_used_from_the_next_attempt_on(office: Office) -> None:
    webhook, claim = claimed(office)
    office.put(replace(webhook, url="https://elsewhere.example/", secret=b"new"))
    ready = office.prepare(claim)
    assert isinstance(ready, Ready)
    assert (ready.url, ready.secret) == ("https://elsewhere.example/", b"new")


@pytest.mark.parametrize("status", ["inactive", "error"])
def test_nothing_is_sent_to_a_webhook_that_is_not_active(office: Office, status: WebhookStatus) -> None:
    webhook, claim = claimed(office)
    office.put(replace(webhook, status=status))
    assert office.prepare(claim) == Stopped()


def test_nothing_is_sent_to_a_webhook_that_was_deleted(office: Office) -> None:
    webhook, claim = claimed(office)
    office.remove(webhook)
    assert isinstance(office.prepare(claim), Useless)


@pytest.mark.parametrize("status", ["active", "error"])
def test_nothing_is_sent_24_hours_after_the_event_was_accepted(office: Office, status: WebhookStatus) -> None:
    webhook, claim = claimed(office)
    office.put(replace(webhook, status=status))
    office.clock.advance(DAY - 1)
    assert not isinstance(office.prepare(claim), Useless)
    office.clock.advance(1)
    assert isinstance(office.prepare(claim), Useless)


def test_what_somebody_else_claimed_or_recorded_is_lost(office: Office) -> None:
    webhook, claim = claimed(office)
    office.clock.advance(30_000_000)
    [theirs] = office.claim(webhook, new_id())
    assert office.prepare(claim) == Lost()
    office.record(webhook, office.ended(theirs, OK))
    assert office.prepare(theirs) == Lost()


def test_of_several_each_is_told_what_is_to_be_done_with_it(office: Office) -> None:
    webhook = office.webhook()
    for _ in range(3):
        office.emit()
        office.clock.advance(SECOND)
    first, second, third = office.claim(webhook, new_id())
    office.record(webhook, office.ended(second, OK))
    stale = first._replace(fence=first.fence - 1)
    answers = office.prepare_all([third, second, stale, first])
    assert answers[1:3] == [Lost(), Lost()]
    assert isinstance(answers[0], Ready) and isinstance(answers[3], Ready)
    assert answers[0] == office.prepare(third) != answers[3] == office.prepare(first)


@pytest.mark.parametrize("what", ["message", "note", "channel", "channel of the message"])
def test_what_tells_of_something_that_was_deleted_meanwhile_is_not_sent(office: Office, what: str) -> None:
    webhook = office.webhook()
    channel = ChannelRecord(id=new_id(), created_at=office.clock())
    message = MessageRecord(
        id=new_id(), channel_id=channel.id, sender_id="someone", created_at=office.clock(), content="Hello"
    )
    office.keep(kinds.CHANNELS, channel)
    office.keep(kinds.MESSAGES, message, seq=1)
    office.emit(channel.id, subject_id=channel.id if what == "channel" else message.id)
    [claim] = office.claim(webhook, new_id())
    assert isinstance(office.prepare(claim), Ready)
    match what:
        case "message":
            office.keep(kinds.MESSAGES, replace(message, deleted=True), seq=1)
        case "note":
            office.keep(kinds.MESSAGES, replace(message, internal_note=True), seq=1)
        case _:
            office.keep(kinds.CHANNELS, replace(channel, deleted=True))
    assert isinstance(office.prepare(claim), Useless)
