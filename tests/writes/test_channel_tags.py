"""Tags of channels, their dictionary, their limit, and the audit log of their changes."""

from functools import partial

import pytest

from deskwire.model.limits import AUDITED_TAGS
from tests.api.records import SECOND_US, at, new_id
from tests.engines import SetClock
from tests.writes.writer import Json, Writer

ADD, REMOVE = "conversation tag add (API)", "conversation tag remove (API)"


@pytest.fixture
def channel(writer: Writer) -> str:
    return writer.channel()


def add(writer: Writer, channel: str, *names: str, **more: object) -> list[str]:
    answer = writer.act(channel, "tags", tags=names, **more)
    assert answer.status == 200, answer.body
    tags: list[str] = answer.json["data"]["tags"]
    return tags


def names(writer: Writer) -> set[str]:
    return {tag["name"] for tag in writer.see("/channel-tags")}


def test_tags_stand_in_the_order_in_which_they_came(writer: Writer, channel: str) -> None:
    assert add(writer, channel, "b", "a", "b") == ["b", "a"]
    assert add(writer, channel, "c", "a") == ["b", "a", "c"]
    assert writer.see(f"/channels/{channel}")["tags"] == ["b", "a", "c"]
    assert names(writer) == {"a", "b", "c"}
    assert writer.untag(channel, "b").data["tags"] == ["a", "c"]
    assert names(writer) == {"a", "b", "c"}
    assert add(writer, channel, "b") == ["a", "c", "b"]


def test_names_and_ids_are_merged_and_unknown_ids_passed_over(
    writer: Writer, stranger: Writer, channel: str
) -> None:
    z, y, x = (writer.desk.add("channel_tag", name=name) for name in "zyx")
    foreign = stranger.desk.add("channel_tag", name="foreign")
    of_contacts = writer.desk.add("contact_tag", name="of contacts")
    ids = [z.upper(), new_id(), foreign, of_contacts, x, z, y]
    assert add(writer, channel, "new", "y", tag_ids=ids) == ["new", "y", "z", "x"]
    only_ids = writer.act(writer.channel(), "tags", tag_ids=[x, y, z])
    assert only_ids.data["tags"] == ["x", "y", "z"]


def test_ids_of_nothing_change_nothing(writer: Writer, channel: str, clock: SetClock) -> None:
    shown = writer.see(f"/channels/{channel}")
    clock.advance(SECOND_US)
    before = writer.everything()
    assert writer.act(channel, "tags", tag_ids=[new_id()]).data == shown
    assert writer.everything() == before


@pytest.mark.parametrize("body", [{}, {"tags": []}, {"tag_ids": []}, {"tags": [], "tag_ids": []}])
def test_an_addition_of_nothing_is_refused(writer: Writer, channel: str, body: Json) -> None:
    answer = writer.leaves_no_trace(lambda: writer.act(channel, "tags", **body))
    assert answer.failure == (400, "INVALID_BODY")
    assert list(answer.fields) == ["tags"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"tags": None}, "tags"),
        ({"tags": "x"}, "tags"),
        ({"tags": {"x": 1}}, "tags"),
        ({"tags": ["x", 1]}, "tags"),
        ({"tags": ["x", None]}, "tags"),
        ({"tags": ["x", ""]}, "tags"),
        ({"tags": ["x", "y" * 256]}, "tags"),
        ({"tags": ["x", "a\0"]}, "tags"),
        ({"tag_ids": None, "tags": ["x"]}, "tag_ids"),
        ({"tag_ids": [1], "tags": ["x"]}, "tag_ids"),
        ({"tag_ids": ["nope"], "tags": ["x"]}, "tag_ids"),
        ({"tags": ["x"], "name": "y"}, "name"),
    ],
)
def test_an_addition_of_another_form_is_refused(writer: Writer, channel: str, body: Json, field: str) -> None:
    answer = writer.leaves_no_trace(lambda: writer.act(channel, "tags", **body))
    assert answer.failure == (400, "INVALID_BODY")
    assert list(answer.fields) == [field]


@pytest.mark.parametrize("query", ["", "&name", "&name=", "&name=x&name=", "&tag_ids=x"])
def test_a_removal_without_a_name_is_refused(writer: Writer, channel: str, query: str) -> None:
    add(writer, channel, "x")
    path = f"/channels/{channel}/tags?actor_member_id={writer.owner}{query}"
    answer = writer.leaves_no_trace(lambda: writer("DELETE", path))
    assert answer.failure == (400, "INVALID_QUERY")
    assert list(answer.fields) == ["name"]


def test_a_comma_is_part_of_a_name(writer: Writer, channel: str) -> None:
    add(writer, channel, "a,b", "a", "b")
    assert writer.untag(channel, "a,b").data["tags"] == ["a", "b"]
    before = writer.everything()
    assert writer.untag(channel, "a,b").data["tags"] == ["a", "b"]
    assert writer.everything() == before


def test_adding_and_removing_again_changes_nothing(writer: Writer, channel: str, clock: SetClock) -> None:
    add(writer, channel, "x")
    shown = writer.see(f"/channels/{channel}")
    clock.advance(SECOND_US)
    before = writer.everything()
    assert writer.act(channel, "tags", tags=["x"]).data == shown
    assert writer.untag(channel, "y", "X").data == shown
    assert writer.everything() == before


def test_a_change_of_tags_tells_nobody(writer: Writer, channel: str, clock: SetClock) -> None:
    clock.advance(SECOND_US)
    add(writer, channel, "x")
    assert writer.see(f"/channels/{channel}")["updated_at"] == at(1)
    writer.untag(channel, "x")
    assert writer.kinds == []


def test_a_conversation_carries_20_tags(writer: Writer, channel: str) -> None:
    twenty = [f"t{number}" for number in range(20)]
    add(writer, channel, *twenty[:12])
    assert add(writer, channel, *twenty[8:]) == twenty
    assert add(writer, channel, *twenty) == twenty
    for too_many in (["new"], ["t1", "new"]):
        answer = writer.leaves_no_trace(partial(writer.act, channel, "tags", tags=too_many))
        assert answer.failure == (422, "TAG_LIMIT_EXCEEDED")
    assert "new" not in names(writer)


def test_what_was_imported_with_more_tags_keeps_them(writer: Writer) -> None:
    many = [f"t{number}" for number in range(25)]
    channel = writer.channel(tags=many)
    assert add(writer, channel, "t3") == many
    assert writer.act(channel, "tags", tags=["new"]).failure == (422, "TAG_LIMIT_EXCEEDED")
    assert writer.untag(channel, *many[:6]).data["tags"] == many[6:]
    assert add(writer, channel, "new") == [*many[6:], "new"]


def test_the_audit_log_tells_every_change(writer: Writer, channel: str) -> None:
    agent, tag = writer.member(), writer.desk.add("channel_tag", name="by id")
    add(writer, channel, "a", tag_ids=[tag], actor_member_id=agent)
    add(writer, channel, "b", "a")
    writer.untag(channel, "zzz", "a")
    token = writer.token.token.id
    assert writer.audit == [
        (
            ADD,
            channel,
            agent,
            token,
            {"requested": {"names": ["a", "by id"]}, "resulting": {"names": ["a", "by id"]}},
        ),
        (
            ADD,
            channel,
            writer.owner,
            token,
            {"requested": {"names": ["b", "a"]}, "resulting": {"names": ["a", "by id", "b"]}},
        ),
        (
            REMOVE,
            channel,
            writer.owner,
            token,
            {"requested": {"names": ["zzz", "a"]}, "resulting": {"names": ["by id", "b"]}},
        ),
    ]


def test_a_very_long_list_is_sampled(writer: Writer) -> None:
    many = [f"t{number}" for number in range(70)]
    channel = writer.channel(tags=many)
    asked = [f"t{number}" for number in range(5)] + [f"no{number}" for number in range(80)]
    writer.untag(channel, *asked)
    ((action, *_, details),) = writer.audit
    assert action == REMOVE
    assert details == {
        "requested": {"names": asked[:AUDITED_TAGS], "omitted": 85 - AUDITED_TAGS},
        "resulting": {"names": many[5 : 5 + AUDITED_TAGS], "omitted": 65 - AUDITED_TAGS},
    }


def test_a_tagged_channel_is_found_by_its_tag_at_once(writer: Writer, channel: str) -> None:
    add(writer, channel, "vip")
    assert [each["id"] for each in writer.see("/channels", "tags=vip")] == [channel]
    writer.untag(channel, "vip")
    assert writer.see("/channels", "tags=vip") == []
