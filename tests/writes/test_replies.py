"""Sending replies."""

from collections.abc import Callable
from functools import partial

import pytest

from tests.api.records import SECOND_US, at, new_id
from tests.engines import SetClock
from tests.writes.writer import Json, Writer


@pytest.fixture
def channel(writer: Writer) -> str:
    return writer.channel(contact_id=writer.contact(name="Ann")["id"], created_at=at(-60))


def test_a_reply_without_a_member_is_said_by_the_token(writer: Writer, channel: str) -> None:
    sent = writer.reply(channel, "Hello **you**", content_type="markdown")
    assert sent == {
        "id": sent["id"],
        "channel_id": channel,
        "sender_id": writer.token.token.id,
        "sender_type": "integration",
        "sender_name": writer.token.secret[:12],
        "content_type": "markdown",
        "content": "Hello **you**",
        "is_edited": False,
        "created_at": at(0),
        "updated_at": at(0),
        "deduplicated": False,
    }
    stored = {key: value for key, value in sent.items() if key != "deduplicated"}
    assert writer.see(f"/messages/{sent['id']}") == stored
    assert writer.see(f"/channels/{channel}/messages", f"since={at(-1)}") == [stored]


@pytest.mark.parametrize("role", ["owner", "admin", "agent"])
def test_a_reply_is_said_by_the_member_named(writer: Writer, channel: str, role: str) -> None:
    member = writer.member(role, name="Zoë")
    sent = writer.reply(channel, sender_member_id=member.upper())
    assert (sent["sender_id"], sent["sender_type"], sent["sender_name"]) == (member, "member", "Zoë")


@pytest.mark.parametrize("who", ["viewer", "inactive", "foreign", "unknown", "contact", "token"])
def test_who_may_not_say_it_is_refused(writer: Writer, stranger: Writer, channel: str, who: str) -> None:
    who_is: dict[str, Callable[[], str]] = {
        "viewer": lambda: writer.member("viewer"),
        "inactive": lambda: writer.member("owner", active=False),
        "foreign": lambda: stranger.owner,
        "unknown": new_id,
        "contact": lambda: writer.contact()["id"],
        "token": lambda: writer.token.token.id,
    }
    id = who_is[who]()
    body = {"content_type": "text", "content": "x", "sender_member_id": id}
    answer = writer.leaves_no_trace(lambda: writer("POST", f"/channels/{channel}/messages", body))
    assert answer.failure == (403, "FORBIDDEN")


@pytest.mark.parametrize("content", ["x", " ", "\n", "x" * 2000, "\U0001f600" * 2000, "\x7f\u2028\ufeff\x01"])
def test_1_to_2000_code_points_are_sent_as_they_are(writer: Writer, channel: str, content: str) -> None:
    sent = writer.reply(channel, content)
    assert sent["content"] == writer.see(f"/messages/{sent['id']}")["content"] == content


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"content": ""}, "content"),
        ({"content": "x" * 2001}, "content"),
        ({"content": "\U0001f600" * 2001}, "content"),
        ({"content": None}, "content"),
        ({"content": "a\0b"}, "content"),
        ({"content": ["x"]}, "content"),
        ({"content_type": "html"}, "content_type"),
        ({"content_type": "Text"}, "content_type"),
        ({"content_type": "image"}, "content_type"),
        ({"content_type": None}, "content_type"),
        ({"sender_member_id": None}, "sender_member_id"),
        ({"sender_member_id": ""}, "sender_member_id"),
        ({"sender_member_id": "nope"}, "sender_member_id"),
        ({"sender_member_id": new_id() + "\n"}, "sender_member_id"),
        ({"sender_member_id": f"{{{new_id()}}}"}, "sender_member_id"),
        ({"client_request_id": "x" * 129}, "client_request_id"),
        ({"client_request_id": ""}, "client_request_id"),
        ({"client_request_id": None}, "client_request_id"),
        ({"client_request_id": 7}, "client_request_id"),
        ({"attachments": []}, "attachments"),
    ],
)
def test_a_reply_of_another_form_is_refused(writer: Writer, channel: str, change: Json, field: str) -> None:
    body = {"content_type": "text", "content": "x", **change}
    answer = writer.leaves_no_trace(lambda: writer("POST", f"/channels/{channel}/messages", body))
    assert answer.failure == (400, "INVALID_BODY")
    assert list(answer.fields) == [field]


@pytest.mark.parametrize("field", ["content", "content_type"])
def test_content_and_its_type_are_required(writer: Writer, channel: str, field: str) -> None:
    body = {"content_type": "text", "content": "x"}
    del body[field]
    assert writer("POST", f"/channels/{channel}/messages", body).fields == {field: "is required"}


def test_a_request_sent_again_answers_the_first_message(
    writer: Writer, channel: str, clock: SetClock
) -> None:
    id = "\U0001f600" * 127 + '"'
    first = writer.reply(channel, "First", client_request_id=id)
    assert (first["client_request_id"], first["deduplicated"]) == (id, False)
    assert list(first)[-2:] == ["client_request_id", "deduplicated"]
    clock.advance(SECOND_US)
    before = writer.everything()
    for other in (
        {"content": "First"},
        {"content": "Second", "content_type": "markdown"},
        {"content": "First", "sender_member_id": writer.owner},
    ):
        body = {"content_type": "text", "client_request_id": id, **other}
        again = writer.done("POST", f"/channels/{channel}/messages", body, 200)
        assert again == {**first, "deduplicated": True}
    assert writer.everything() == before
    assert "client_request_id" not in writer.see(f"/messages/{first['id']}")


def test_a_bad_body_under_a_known_request_id_is_refused_all_the_same(writer: Writer, channel: str) -> None:
    writer.reply(channel, client_request_id="r")
    body = {"content_type": "text", "content": "", "client_request_id": "r"}
    assert writer("POST", f"/channels/{channel}/messages", body).failure == (400, "INVALID_BODY")


def test_a_request_id_belongs_to_its_channel(writer: Writer, stranger: Writer, channel: str) -> None:
    other = writer.channel()
    ids = {writer.reply(each, client_request_id="r")["id"] for each in (channel, other)}
    ids |= {stranger.reply(stranger.channel(), client_request_id="r")["id"]}
    ids |= {writer.reply(channel, client_request_id=each)["id"] for each in ("R", "r ", "s")}
    assert len(ids) == 6


def test_a_refused_send_does_not_use_up_its_request_id(writer: Writer, channel: str) -> None:
    body = {"content_type": "text", "content": "x", "client_request_id": "r"}
    refused = writer(
        "POST", f"/channels/{channel}/messages", {**body, "sender_member_id": writer.member("viewer")}
    )
    assert refused.status == 403
    assert writer("POST", f"/channels/{channel}/messages", body).status == 201


def test_the_channel_counts_its_replies(writer: Writer, channel: str, clock: SetClock) -> None:
    before = writer.see(f"/channels/{channel}")
    assert before["message_count"] == 0 and "last_message_at" not in before
    for number in range(1, 4):
        clock.advance(SECOND_US)
        writer.reply(channel)
        after = writer.see(f"/channels/{channel}")
        assert (after["message_count"], after["last_message_at"]) == (number, at(number))
    assert after == {**before, "message_count": 3, "last_message_at": at(3)}


def test_an_older_reply_does_not_set_the_last_message_back(writer: Writer, channel: str) -> None:
    writer.desk.add("message", channel_id=channel, created_at=at(60))
    writer.reply(channel)
    assert writer.see(f"/channels/{channel}")["last_message_at"] == at(60)


def test_replies_are_numbered_without_gaps_in_each_channel(writer: Writer, channel: str) -> None:
    other = writer.channel()
    for place in (channel, other, channel, channel, other):
        writer.reply(place)
        writer("POST", f"/channels/{place}/messages", {"content_type": "text", "content": ""})
    numbers = [(each["channel"]["id"], each["data"]["seq"]) for each in writer.events[1:]]
    assert numbers == [(channel, 1), (other, 1), (channel, 2), (channel, 3), (other, 2)]


def test_a_reply_is_found_at_once(writer: Writer, channel: str) -> None:
    sent = writer.reply(channel, "Grüße aus 서울, refundable")
    for q in ("grüße", "서울", "fund", "GRÜSSE refund"):
        assert [each["message_id"] for each in writer.see("/search", {"q": q})] == [sent["id"]], q


@pytest.mark.parametrize("status", ["open", "snoozed", "closed"])
def test_a_reply_goes_to_a_channel_in_any_status(writer: Writer, status: str) -> None:
    more = {"snoozed_until": at(60)} if status == "snoozed" else {}
    channel = writer.channel(status=status, **more)
    before = writer.see(f"/channels/{channel}")
    writer.reply(channel)
    after = writer.see(f"/channels/{channel}")
    assert after == {**before, "message_count": 1, "last_message_at": at(0)}


def test_a_deleted_foreign_or_unknown_channel_is_not_there(writer: Writer, stranger: Writer) -> None:
    for id in (writer.channel(deleted=True), stranger.channel(), new_id(), "nope"):
        body = {"content_type": "text", "content": "x"}
        answer = writer.leaves_no_trace(partial(writer, "POST", f"/channels/{id}/messages", body))
        assert answer.failure == (404, "NOT_FOUND")
    assert stranger.events == []


def test_the_event_of_a_reply_is_complete(writer: Writer, clock: SetClock) -> None:
    member = writer.member(email="kim@example.com", name="Kim", created_at=at(-9), status="away")
    channel = writer.channel(
        created_at=at(-60), assigned_member_id=member, assigned_type="human", tags=["a"], name="Bike"
    )
    clock.advance(SECOND_US)
    sent = writer.reply(channel, 'Say "é"', client_request_id="r")
    (body,) = writer.bodies
    assert body.decode() == (
        f'{{"kind":"message.created","workspace_id":"{writer.desk.workspace_id}","timestamp":"{at(1)}",'
        f'"data":{{"message_id":"{sent["id"]}","seq":1,"created_at":"{at(1)}","channel_id":"{channel}",'
        f'"sender_id":"{sent["sender_id"]}","sender_type":"integration",'
        f'"sender_name":"{sent["sender_name"]}","content_type":"text","content":"Say \\"é\\"",'
        '"attachments":[]},'
        f'"channel":{{"id":"{channel}","type":"user_chat","provider":"native","status":"open","name":"Bike",'
        f'"assigned_member_id":"{member}","assigned_type":"human","tags":["a"],"last_message_at":"{at(1)}",'
        f'"message_count":1,"created_at":"{at(-60)}","updated_at":"{at(-60)}"}},'
        f'"assigned_member":{{"id":"{member}","email":"kim@example.com","name":"Kim","role":"agent",'
        f'"status":"away","created_at":"{at(-9)}","updated_at":"{at(-9)}"}}}}'
    )
    assert writer.events[0]["channel"] == writer.see(f"/channels/{channel}")
    assert writer.events[0]["assigned_member"] == writer.see(f"/members/{member}")


def test_an_assignee_who_left_is_not_shown_by_an_event(writer: Writer) -> None:
    member = writer.member(active=False)
    channel = writer.channel(assigned_member_id=member, assigned_type="human")
    writer.reply(channel)
    assert writer.events[0]["assigned_member"] is None
