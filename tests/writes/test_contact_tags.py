"""Tags of contacts, and the catalogue that follows them."""

import pytest

from tests.api.records import SECOND_US, at
from tests.engines import SetClock
from tests.writes.writer import Json, Writer


def usage(writer: Writer) -> dict[str, int]:
    return {tag["name"]: tag["usage_count"] for tag in writer.see("/contact-tags")}


@pytest.fixture
def contact(writer: Writer) -> str:
    return str(writer.contact(name="Ann")["id"])


def add(writer: Writer, contact: str, *names: str) -> Json:
    shown: Json = writer.done("POST", f"/contacts/{contact}/tags", {"tags": names})
    return shown


def test_tags_stand_in_the_order_in_which_they_came(writer: Writer, contact: str) -> None:
    assert add(writer, contact, "b", "a", "b")["tags"] == ["b", "a"]
    assert add(writer, contact, "c", "a")["tags"] == ["b", "a", "c"]
    assert writer.see(f"/contacts/{contact}")["tags"] == ["b", "a", "c"]
    assert writer.see(f"/contacts/{contact}/tags") == ["b", "a", "c"]


def test_new_names_join_the_catalogue_and_are_counted(writer: Writer, contact: str) -> None:
    other = writer.contact()["id"]
    add(writer, contact, "vip", "early")
    add(writer, other, "vip")
    assert usage(writer) == {"vip": 2, "early": 1}
    vip = next(tag for tag in writer.see("/contact-tags") if tag["name"] == "vip")
    assert vip == {
        "id": vip["id"],
        "name": "vip",
        "usage_count": 2,
        "created_at": at(0),
        "updated_at": at(0),
    }
    writer.untag_contact(contact, "vip", "early")
    assert usage(writer) == {"vip": 1, "early": 0}


def test_a_tag_of_the_catalogue_is_used_as_it_is(writer: Writer, contact: str) -> None:
    tag = writer.desk.add("contact_tag", name="vip", color="#ff0000")
    add(writer, contact, "vip")
    assert [(each["id"], each["color"], each["usage_count"]) for each in writer.see("/contact-tags")] == [
        (tag, "#ff0000", 1)
    ]


def test_adding_again_changes_nothing(writer: Writer, contact: str, clock: SetClock) -> None:
    shown = add(writer, contact, "vip", "early")
    clock.advance(SECOND_US)
    before = writer.everything()
    assert add(writer, contact, "early", "vip") == shown
    assert writer.done("POST", f"/contacts/{contact}/tags", {"tags": []}) == shown
    assert writer.everything() == before


def test_removing_what_is_not_there_changes_nothing(writer: Writer, contact: str, clock: SetClock) -> None:
    shown = add(writer, contact, "vip")
    clock.advance(SECOND_US)
    writer.desk.add("contact_tag", name="other")
    before = writer.everything()
    assert writer.untag_contact(contact, "other", "unknown", "VIP", "vip ", "x" * 51).data == shown
    assert writer.everything() == before


def test_a_change_of_tags_moves_updated_at_and_tells_nobody(
    writer: Writer, contact: str, clock: SetClock
) -> None:
    clock.advance(SECOND_US)
    assert add(writer, contact, "vip")["updated_at"] == at(1)
    clock.advance(SECOND_US)
    assert writer.untag_contact(contact, "vip").data["updated_at"] == at(2)
    assert writer.see(f"/contacts/{contact}")["updated_at"] == at(2)
    assert writer.kinds == ["contact.created"]
    assert writer.audit == []


def test_removed_names_are_taken_as_they_are(writer: Writer, contact: str) -> None:
    add(writer, contact, "a,b", "a", "b", "%", "c d")
    assert writer.untag_contact(contact, "a,b").data["tags"] == ["a", "b", "%", "c d"]
    assert writer.untag_contact(contact, "%", "c d", "b", "b").data["tags"] == ["a"]
    assert add(writer, contact, "b")["tags"] == ["a", "b"]


@pytest.mark.parametrize("query", ["", "name", "name=", "Name=x", "name=x&name="])
def test_a_removal_without_a_name_is_refused(writer: Writer, contact: str, query: str) -> None:
    add(writer, contact, "x")
    answer = writer.leaves_no_trace(lambda: writer("DELETE", f"/contacts/{contact}/tags?{query}"))
    assert answer.failure == (400, "INVALID_QUERY")
    assert list(answer.fields) == ["name"]


@pytest.mark.parametrize("name", ["x" * 50, "\U0001f600" * 50, " ", "a,b", "\x01", "'; DROP--", '"\\'])
def test_a_tag_of_50_code_points_is_taken(writer: Writer, contact: str, name: str) -> None:
    assert add(writer, contact, name)["tags"] == [name]
    assert usage(writer) == {name: 1}
    assert writer.untag_contact(contact, name).data["tags"] == []


@pytest.mark.parametrize("name", ["x" * 51, "\U0001f600" * 51, ""])
def test_a_tag_of_51_code_points_or_none_is_refused(writer: Writer, contact: str, name: str) -> None:
    body = {"tags": ["fine", name]}
    answer = writer.leaves_no_trace(lambda: writer("POST", f"/contacts/{contact}/tags", body))
    assert answer.failure == (400, "INVALID_BODY")
    assert list(answer.fields) == ["tags"]


def test_a_contact_carries_100_tags(writer: Writer, contact: str) -> None:
    names = [f"t{number}" for number in range(100)]
    add(writer, contact, *names[:60])
    assert add(writer, contact, *names[50:])["tags"] == names
    assert add(writer, contact, *names)["tags"] == names
    body = {"tags": ["t1", "one too many"]}
    answer = writer.leaves_no_trace(lambda: writer("POST", f"/contacts/{contact}/tags", body))
    assert answer.failure == (422, "TAG_LIMIT_EXCEEDED")
    writer.untag_contact(contact, "t0")
    assert add(writer, contact, "one more")["tags"] == [*names[1:], "one more"]


def test_101_tags_at_once_are_too_many(writer: Writer, contact: str) -> None:
    body = {"tags": [f"t{number}" for number in range(101)]}
    answer = writer.leaves_no_trace(lambda: writer("POST", f"/contacts/{contact}/tags", body))
    assert answer.failure == (422, "TAG_LIMIT_EXCEEDED")


def test_a_name_may_be_in_both_catalogues(writer: Writer, contact: str) -> None:
    channel = writer.channel()
    add(writer, contact, "vip")
    assert writer.act(channel, "tags", tags=["vip"]).data["tags"] == ["vip"]
    assert [tag["name"] for tag in writer.see("/channel-tags")] == ["vip"]
    assert usage(writer) == {"vip": 1}
