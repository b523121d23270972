"""Contacts, the external ids that they ever used, and the tags that contacts and channels carry."""

from deskwire.desk.contacts import find_by_external_id, list_contacts
from deskwire.desk.pages import Page
from tests.records.desk import Desk, channel, contact, record, uid


def by_external_id(desk: Desk, value: str) -> str | None:
    page: Page = desk.read(lambda tx: find_by_external_id(tx, desk.workspace_id, value))
    return page.documents[0].decode().split('"')[3] if page.documents else None


def test_a_contact_is_found_by_every_external_id_it_ever_used(desk: Desk) -> None:
    desk.load(contact(1, external_id="now", former_external_ids=["then", "now"]))
    desk.load(contact(1, external_id="later"))
    assert {by_external_id(desk, value) for value in ("now", "then", "later")} == {uid(1)}
    (line,) = desk.exported("contact")
    assert (line["external_id"], line["former_external_ids"]) == ("later", ["now", "then"])


def test_an_external_id_of_another_contact_makes_the_later_line_bad(desk: Desk) -> None:
    assert desk.bad(contact(2, former_external_ids=["a"]), channel(9), contact(1, external_id="a")) == [
        (3, "the external id 'a' belongs to the contact of line 1")
    ]
    desk.load(contact(1, external_id="a"))
    assert desk.bad(contact(2, former_external_ids=["b", "a"])) == [
        (1, f"the external id 'a' belongs to contact {uid(1)}")
    ]
    assert desk.bad(contact(1, external_id="c"), contact(2, external_id="a")) == [
        (2, "the external id 'a' belongs to the contact of line 1")
    ]


def test_an_empty_external_id_is_none_and_is_never_taken(desk: Desk) -> None:
    assert desk.bad(contact(1, external_id=""), contact(2, external_id="")) == []
    for number, line in enumerate(desk.exported("contact"), start=1):
        assert "external_id" not in line and "former_external_ids" not in line
        assert "external_id" not in desk.shown("contacts", number)
    assert by_external_id(desk, "") is None
    assert desk.differences() == []


def test_external_ids_differ_when_a_single_character_does(desk: Desk) -> None:
    values = ["a", "A", " a", "a ", "é", "e\u0301", "x" * 255]
    assert (
        desk.load(*(contact(number, external_id=value) for number, value in enumerate(values))).bad_lines
        == []
    )
    assert [by_external_id(desk, value) for value in values] == [uid(number) for number in range(len(values))]


def test_email_and_phone_are_trimmed(desk: Desk) -> None:
    desk.load(contact(1, email="  Kim@Example.com ", phone="\t+49 30 1 "), contact(2, email=" ", phone=""))
    (first, second) = desk.exported("contact")
    assert (first["email"], first["phone"]) == ("Kim@Example.com", "+49 30 1")
    assert second.keys().isdisjoint({"email", "phone"})
    assert desk.shown("contacts", 2)["display_name"] == "Anonymous"


def test_a_contact_is_found_by_what_it_is_called_now(desk: Desk) -> None:
    def matching(q: str) -> int:
        return len(desk.read(lambda tx: list_contacts(tx, desk.workspace_id, q, 50, None)).documents)

    desk.load(contact(1, name="Kim Lee"), contact(2, email="leeds@example.com"))
    assert (matching("lee"), matching("kim l"), matching("example")) == (2, 1, 1)
    desk.load(contact(1, name="Ann"))
    assert (matching("lee"), matching("kim"), matching("ann")) == (1, 0, 1)


def test_tags_without_a_record_are_made_and_carried_in_order(desk: Desk) -> None:
    desk.load(contact(1, tags=["b", "a", "b"]), contact(2, tags=["a"]), channel(3, tags=["z", "a"]))
    assert desk.shown("contacts", 1)["tags"] == ["b", "a"]
    assert desk.shown("channels", 3)["tags"] == ["z", "a"]
    assert sorted(one["name"] for one in desk.exported("contact_tag")) == ["a", "b"]
    assert sorted(one["name"] for one in desk.exported("channel_tag")) == ["a", "z"]
    assert desk.differences() == []


def test_a_tag_counts_the_contacts_that_carry_it(desk: Desk) -> None:
    desk.load(record("contact_tag", 5, name="a"), contact(1, tags=["a"]), contact(2, tags=["a"]))
    assert desk.shown("contact_tags", 5)["usage_count"] == 2
    desk.load(contact(1))
    assert desk.shown("contact_tags", 5)["usage_count"] == 1
    desk.load(record("contact_tag", 5, name="a", usage_count=7))
    assert desk.shown("contact_tags", 5)["usage_count"] == 1


def test_a_tag_that_is_renamed_is_renamed_wherever_it_is_carried(desk: Desk) -> None:
    desk.load(
        record("contact_tag", 5, name="a"),
        record("channel_tag", 6, name="a"),
        contact(1, tags=["a", "b"]),
        channel(2, tags=["b", "a"]),
    )
    desk.load(record("contact_tag", 5, name="x"), record("channel_tag", 6, name="y"))
    assert desk.shown("contacts", 1)["tags"] == ["x", "b"]
    assert desk.shown("channels", 2)["tags"] == ["b", "y"]
    assert desk.differences() == []


def test_tags_may_exchange_their_names(desk: Desk) -> None:
    desk.load(
        record("contact_tag", 5, name="a"), record("contact_tag", 6, name="b"), contact(1, tags=["a", "b"])
    )
    desk.load(record("contact_tag", 5, name="b"), record("contact_tag", 6, name="a"))
    assert desk.shown("contacts", 1)["tags"] == ["b", "a"]
    assert desk.differences() == []


def test_a_tag_record_takes_the_place_of_the_tag_that_was_made_for_its_name(desk: Desk) -> None:
    desk.load(contact(1, tags=["a"]), channel(2, tags=["a"]))
    desk.load(record("contact_tag", 5, name="a", color="#fff"), record("channel_tag", 6, name="a"))
    assert [one["id"] for one in desk.exported("contact_tag")] == [uid(5)]
    assert [one["id"] for one in desk.exported("channel_tag")] == [uid(6)]
    assert desk.shown("contacts", 1)["tags"] == ["a"] and desk.shown("contact_tags", 5)["usage_count"] == 1
    assert desk.differences() == []


def test_a_tag_renamed_to_another_ones_name_takes_its_place_where_both_are_carried(desk: Desk) -> None:
    desk.load(record("contact_tag", 5, name="a"), contact(1, tags=["a", "b"]), contact(2, tags=["b"]))
    desk.load(record("contact_tag", 5, name="b"))
    assert desk.shown("contacts", 1)["tags"] == desk.shown("contacts", 2)["tags"] == ["b"]
    assert desk.shown("contact_tags", 5)["usage_count"] == 2
    assert desk.differences() == []


def test_two_tags_of_one_name_in_a_file_make_the_later_line_bad(desk: Desk) -> None:
    assert desk.bad(
        record("channel_tag", 7, name="a"),
        record("contact_tag", 6, name="a"),
        record("contact_tag", 5, name="a"),
    ) == [(3, "name: the tag of line 2 is called 'a' too")]
    assert desk.load(record("contact_tag", 6, name="a"), record("contact_tag", 5, name="A")).bad_lines == []
