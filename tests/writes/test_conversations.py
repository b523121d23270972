"""Reading, closing, reopening, assigning a channel."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.api.client import Answer
from tests.api.records import SECOND_US, at, new_id
from tests.engines import SetClock
from tests.writes.writer import Json, Writer

ACTS: dict[str, Json] = {
    "read": {},
    "close": {},
    "reopen": {},
    "assign": {"member_id": None},
    "tags": {"tags": ["x"]},
}
OPERATIONS = ("assign", "tags")
A_MEMBER = "0194c1a4-7c00-7004-8000-000000000001"
NO_IDS = ["", "nope", A_MEMBER + "\n", f"{{{A_MEMBER}}}", A_MEMBER.replace("-", ""), "x" * 100_000]
each_act = pytest.mark.parametrize("verb", [*ACTS, "untag"])


def act(writer: Writer, channel: str, verb: str, actor: object) -> Answer:
    if verb == "untag":
        return writer.untag(channel, "x", actor=str(actor))
    return writer("POST", f"/channels/{channel}/{verb}", {"actor_member_id": actor, **ACTS[verb]})


def versions(writer: Writer) -> list[tuple[str, int]]:
    return [(event["kind"], event["data"]["version"]) for event in writer.events]


def done(answer: Answer) -> Any:
    assert answer.status == 200, answer.body
    return answer.json["data"]


@each_act
def test_an_actor_of_any_active_membership_may_read_close_and_reopen(writer: Writer, verb: str) -> None:
    for role in ("owner", "admin", "agent"):
        answer = act(writer, writer.channel(), verb, writer.member(role).upper())
        assert answer.status == (204 if verb == "read" else 200)
    answer = act(writer, writer.channel(tags=["x"]), verb, writer.member("viewer"))
    if verb in ("read", "close", "reopen"):
        assert answer.status in (200, 204)
    else:
        assert answer.failure == (403, "FORBIDDEN")


@each_act
@pytest.mark.parametrize("who", ["inactive", "foreign", "unknown", "contact"])
def test_an_actor_who_is_no_active_member_is_refused(
    writer: Writer, stranger: Writer, verb: str, who: str
) -> None:
    who_is: dict[str, Callable[[], str]] = {
        "inactive": lambda: writer.member("owner", active=False),
        "foreign": lambda: stranger.owner,
        "unknown": new_id,
        "contact": lambda: writer.contact()["id"],
    }
    actor = who_is[who]()
    channel = writer.channel(status="snoozed", tags=["x"])
    answer = writer.leaves_no_trace(lambda: act(writer, channel, verb, actor))
    assert answer.failure == (403, "FORBIDDEN")


@each_act
def test_a_viewer_leaves_no_trace_where_the_permission_lacks(writer: Writer, verb: str) -> None:
    channel, viewer = writer.channel(tags=["x"]), writer.member("viewer")
    if verb in (*OPERATIONS, "untag"):
        assert writer.leaves_no_trace(lambda: act(writer, channel, verb, viewer)).status == 403


@pytest.mark.parametrize("verb", list(ACTS))
@pytest.mark.parametrize("actor", [None, "", "nope", 1, [], {}, A_MEMBER + "\n", "absent"])
def test_an_actor_of_another_form_is_refused(writer: Writer, verb: str, actor: object) -> None:
    channel = writer.channel()
    body = dict(ACTS[verb]) if actor == "absent" else {"actor_member_id": actor, **ACTS[verb]}
    answer = writer.leaves_no_trace(lambda: writer("POST", f"/channels/{channel}/{verb}", body))
    assert answer.failure == (400, "INVALID_BODY")
    assert list(answer.fields) == ["actor_member_id"]


@pytest.mark.parametrize("query", ["name=x", "actor_member_id=&name=x", "actor_member_id=nope&name=x"])
def test_a_removal_names_its_actor(writer: Writer, query: str) -> None:
    channel = writer.channel(tags=["x"])
    answer = writer.leaves_no_trace(lambda: writer("DELETE", f"/channels/{channel}/tags?{query}"))
    assert answer.failure == (400, "INVALID_QUERY")
    assert list(answer.fields) == ["actor_member_id"]


def test_a_removal_of_nothing_by_nobody_is_told_what_is_missing_in_order(writer: Writer) -> None:
    answer = writer("DELETE", f"/channels/{writer.channel()}/tags")
    assert answer.failure == (400, "INVALID_QUERY")
    assert list(answer.fields.items()) == [("name", "is required"), ("actor_member_id", "is required")]


@each_act
def test_a_deleted_foreign_or_unknown_channel_is_not_there(
    writer: Writer, stranger: Writer, verb: str
) -> None:
    for id in (writer.channel(deleted=True), stranger.channel(), new_id(), "nope"):
        answer = writer.leaves_no_trace(partial(act, writer, id, verb, writer.owner))
        assert answer.failure == (404, "NOT_FOUND")
    assert stranger.events == []


def test_closing_an_unassigned_channel_tells_one_event(writer: Writer, clock: SetClock) -> None:
    channel = writer.channel(created_at=at(-60))
    clock.advance(SECOND_US)
    closed = done(writer.act(channel, "close"))
    assert closed == {
        "id": channel,
        "type": "user_chat",
        "provider": "native",
        "status": "closed",
        "tags": [],
        "message_count": 0,
        "created_at": at(-60),
        "updated_at": at(1),
    }
    assert writer.see(f"/channels/{channel}") == closed
    (body,) = writer.bodies
    assert body.decode() == (
        f'{{"kind":"channel.closed","workspace_id":"{writer.desk.workspace_id}","timestamp":"{at(1)}",'
        f'"data":{{"version":2,"actor_member_id":"{writer.owner}"}},'
        f'"channel":{{"id":"{channel}","type":"user_chat","provider":"native","status":"closed","tags":[],'
        f'"message_count":0,"created_at":"{at(-60)}","updated_at":"{at(1)}"}},"assigned_member":null}}'
    )


@pytest.mark.parametrize("how", ["human", "ai", "workflow"])
def test_closing_an_assigned_channel_unassigns_it_in_the_same_change(writer: Writer, how: str) -> None:
    more = {"assigned_member_id": writer.owner} if how == "human" else {}
    channel = writer.channel(status="snoozed", snoozed_until=at(99), assigned_type=how, **more)
    closed = done(writer.act(channel, "close"))
    assert not {"assigned_member_id", "assigned_type", "snoozed_until"} & set(closed)
    assert versions(writer) == [("channel.closed", 2), ("channel.assigned", 2)]
    for event in writer.events:
        assert event["channel"] == closed
        assert event["assigned_member"] is None
        assert event["data"] == {"version": 2, "actor_member_id": writer.owner}


def test_closing_a_closed_channel_changes_nothing(writer: Writer, clock: SetClock) -> None:
    channel = writer.channel()
    closed = done(writer.act(channel, "close"))
    clock.advance(SECOND_US)
    before = writer.everything()
    assert done(writer.act(channel, "close")) == closed
    assert writer.everything() == before


def test_reopening_an_open_channel_changes_nothing(writer: Writer) -> None:
    channel = writer.channel(assigned_type="ai")
    shown = writer.see(f"/channels/{channel}")
    before = writer.everything()
    assert done(writer.act(channel, "reopen")) == shown
    assert writer.everything() == before


@pytest.mark.parametrize("status", ["closed", "snoozed"])
def test_a_closed_or_snoozed_channel_is_reopened(writer: Writer, status: str) -> None:
    more = {"snoozed_until": at(99), "assigned_type": "ai"} if status == "snoozed" else {}
    channel = writer.channel(status=status, **more)
    opened = done(writer.act(channel, "reopen"))
    assert opened["status"] == "open" and "snoozed_until" not in opened
    assert opened.get("assigned_type") == more.get("assigned_type")
    (event,) = writer.events
    assert (event["kind"], event["data"]) == (
        "channel.reopened",
        {"version": 2, "actor_member_id": writer.owner},
    )
    assert event["channel"] == opened == writer.see(f"/channels/{channel}")


@pytest.mark.parametrize("status", ["open", "snoozed", "closed"])
def test_assigning_sets_a_human_and_leaves_the_status(writer: Writer, status: str) -> None:
    channel, member = writer.channel(status=status, assigned_type="ai"), writer.member()
    shown = done(writer.act(channel, "assign", member_id=member.upper()))
    assert (shown["assigned_member_id"], shown["assigned_type"], shown["status"]) == (member, "human", status)
    (event,) = writer.events
    assert (event["kind"], event["data"]["version"]) == ("channel.assigned", 2)
    assert event["channel"] == shown
    assert event["assigned_member"] == writer.see(f"/members/{member}")


def test_assigning_nobody_clears_the_assignment(writer: Writer) -> None:
    channel = writer.channel(assigned_member_id=writer.owner, assigned_type="human")
    shown = done(writer.act(channel, "assign", member_id=None))
    assert not {"assigned_member_id", "assigned_type"} & set(shown)
    (event,) = writer.events
    assert (event["kind"], event["assigned_member"]) == ("channel.assigned", None)
    before = writer.everything()
    assert done(writer.act(channel, "assign", member_id=None)) == shown
    assert writer.everything() == before


def test_assigning_whom_it_is_assigned_to_changes_nothing(writer: Writer, clock: SetClock) -> None:
    channel, member = writer.channel(), writer.member()
    shown = done(writer.act(channel, "assign", member_id=member))
    clock.advance(SECOND_US)
    before = writer.everything()
    assert done(writer.act(channel, "assign", member_id=member)) == shown
    assert writer.everything() == before


def test_assigning_whom_a_workflow_assigned_is_a_change_and_no_event(writer: Writer) -> None:
    channel = writer.channel(assigned_member_id=writer.owner, assigned_type="workflow")
    shown = done(writer.act(channel, "assign", member_id=writer.owner))
    assert (shown["assigned_member_id"], shown["assigned_type"]) == (writer.owner, "human")
    assert writer.events == []


def test_assigning_nobody_ends_an_assignment_to_the_ai(writer: Writer) -> None:
    channel = writer.channel(assigned_type="ai")
    assert "assigned_type" not in done(writer.act(channel, "assign", member_id=None))
    assert versions(writer) == [("channel.assigned", 2)]


@pytest.mark.parametrize("who", ["inactive", "foreign", "unknown"])
def test_an_assignee_who_is_not_there_is_not_found(writer: Writer, stranger: Writer, who: str) -> None:
    who_is: dict[str, Callable[[], str]] = {
        "inactive": lambda: writer.member(active=False),
        "foreign": lambda: stranger.owner,
        "unknown": new_id,
    }
    member = who_is[who]()
    channel = writer.channel()
    answer = writer.leaves_no_trace(lambda: writer.act(channel, "assign", member_id=member))
    assert answer.failure == (404, "NOT_FOUND")


@pytest.mark.parametrize("member", NO_IDS)
def test_an_assignee_who_is_no_uuid_is_not_there(writer: Writer, member: str) -> None:
    channel = writer.channel()
    answer = writer.leaves_no_trace(lambda: writer.act(channel, "assign", member_id=member))
    assert answer.failure == (404, "NOT_FOUND")
    assert answer.body == writer.act(channel, "assign", member_id=new_id()).body


@pytest.mark.parametrize(("verb", "named"), [("assign", "member_id"), ("read", "message_id")])
def test_what_is_no_uuid_is_missed_only_after_the_channel_and_the_actor(
    writer: Writer, verb: str, named: str
) -> None:
    unknown = writer.act(writer.channel(), verb, **{named: "nope", "actor_member_id": new_id()})
    assert unknown.failure == (403, "FORBIDDEN")
    nameless = writer.act(writer.channel(), verb, **{named: "nope", "actor_member_id": "nope"})
    assert list(nameless.fields) == ["actor_member_id"]
    nowhere = writer.act(new_id(), verb, **{named: "nope", "actor_member_id": new_id()})
    assert "no such channel" in nowhere.json["error"]["message"]


@pytest.mark.parametrize("member", [1, [], {}, True])
def test_an_assignee_of_another_form_is_refused(writer: Writer, member: object) -> None:
    channel = writer.channel()
    answer = writer.leaves_no_trace(lambda: writer.act(channel, "assign", member_id=member))
    assert answer.failure == (400, "INVALID_BODY")
    assert list(answer.fields) == ["member_id"]


def test_an_assignment_says_to_whom(writer: Writer) -> None:
    assert writer.act(writer.channel(), "assign").fields == {"member_id": "is required"}


def test_each_change_is_a_version_and_no_other_request_is(writer: Writer) -> None:
    channel, member = writer.channel(), writer.member()
    writer.act(channel, "assign", member_id=member)
    writer.act(channel, "assign", member_id=member)
    writer.reply(channel)
    writer.act(channel, "read")
    writer.act(channel, "tags", tags=["a"])
    writer.act(channel, "tags", tags=["a"])
    writer.act(channel, "reopen")
    writer.act(channel, "close")
    writer.untag(channel, "a")
    writer.untag(channel, "a")
    writer.act(channel, "reopen")
    told = [
        (event["kind"], event["data"]["version"])
        for event in writer.events
        if event["kind"] != "message.created"
    ]
    assert told == [
        ("channel.assigned", 2),
        ("channel.closed", 4),
        ("channel.assigned", 4),
        ("channel.reopened", 6),
    ]
    assert "channel_id" not in writer.events[0]["data"]


def test_reading_goes_to_the_last_message_or_the_one_named(writer: Writer, clock: SetClock) -> None:
    channel = writer.channel()
    ids = []
    for _ in range(4):
        clock.advance(SECOND_US)
        ids.append(writer.reply(channel)["id"])
    agent = writer.member("viewer")
    assert writer.act(channel, "read", message_id=ids[1].upper()).status == 204
    assert writer.act(channel, "read", actor_member_id=agent).status == 204
    assert writer.positions(channel) == {writer.owner: ids[1], agent: ids[3]}
    writer.act(channel, "read", message_id=ids[2])
    before = writer.everything()
    for earlier in (ids[0], ids[2]):
        assert writer.act(channel, "read", message_id=earlier).status == 204
    assert writer.everything() == before
    assert writer.positions(channel) == {writer.owner: ids[2], agent: ids[3]}


def test_reading_an_empty_channel_changes_nothing(writer: Writer) -> None:
    channel = writer.channel()
    writer.desk.add("message", channel_id=channel, deleted=True)
    before = writer.everything()
    answer = writer.act(channel, "read")
    assert (answer.status, answer.body) == (204, b"")
    assert writer.everything() == before


def test_reading_changes_neither_the_channel_nor_tells_of_it(writer: Writer) -> None:
    channel = writer.channel(status="snoozed")
    writer.reply(channel)
    shown, told = writer.see(f"/channels/{channel}"), writer.kinds
    writer.act(channel, "read")
    assert (writer.see(f"/channels/{channel}"), writer.kinds) == (shown, told)


@pytest.mark.parametrize("which", ["deleted", "internal_note", "elsewhere", "foreign", "unknown"])
def test_a_message_that_is_not_there_cannot_be_read(writer: Writer, stranger: Writer, which: str) -> None:
    channel = writer.channel()
    writer.reply(channel)
    which_is: dict[str, Callable[[], str]] = {
        "deleted": lambda: writer.desk.add("message", channel_id=channel, deleted=True),
        "internal_note": lambda: writer.desk.add("message", channel_id=channel, internal_note=True),
        "elsewhere": lambda: writer.reply(writer.channel())["id"],
        "foreign": lambda: stranger.reply(stranger.channel())["id"],
        "unknown": new_id,
    }
    id = which_is[which]()
    answer = writer.leaves_no_trace(lambda: writer.act(channel, "read", message_id=id))
    assert answer.failure == (404, "NOT_FOUND")


@pytest.mark.parametrize("id", NO_IDS)
def test_a_message_id_that_is_no_uuid_is_not_there(writer: Writer, id: str) -> None:
    channel = writer.channel()
    writer.reply(channel)
    answer = writer.leaves_no_trace(lambda: writer.act(channel, "read", message_id=id))
    assert answer.failure == (404, "NOT_FOUND")
    assert answer.body == writer.act(channel, "read", message_id=new_id()).body


@pytest.mark.parametrize("id", [None, 1, [], {}])
def test_a_message_id_of_another_form_is_refused(writer: Writer, id: object) -> None:
    answer = writer.act(writer.channel(), "read", message_id=id)
    assert answer.failure == (400, "INVALID_BODY")
    assert list(answer.fields) == ["message_id"]
