"""Creating and changing contacts."""

import pytest

from deskwire.model.times import format_time
from tests.api.records import SECOND_US, at, new_id
from tests.engines import SetClock
from tests.writes.writer import Json, Writer

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def test_a_contact_of_nothing_is_anonymous(writer: Writer) -> None:
    made = writer.contact()
    assert made == {
        "id": made["id"],
        "display_name": "Anonymous",
        "is_member": False,
        "tags": [],
        "created_at": at(0),
        "updated_at": at(0),
    }


def test_a_created_contact_is_read_as_it_was_answered(writer: Writer) -> None:
    made = writer.contact(external_id=" e 1 ", email=" Ann@Example.com\t", phone="\n+49 30 1 ", name=" Ann ")
    assert made == {
        "id": made["id"],
        "external_id": " e 1 ",
        "email": "Ann@Example.com",
        "phone": "+49 30 1",
        "display_name": " Ann ",
        "is_member": False,
        "tags": [],
        "created_at": at(0),
        "updated_at": at(0),
    }
    assert writer.see(f"/contacts/{made['id']}") == made
    assert writer.see("/contacts") == [made]
    assert writer.see("/contacts", "external_id=%20e%201%20") == [made]
    assert writer.see("/contacts", "q=aNN@eXAM") == [made]


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"email": "a@example.com", "phone": "1"}, "a@example.com"),
        ({"phone": "1"}, "1"),
        ({"name": "", "email": "", "phone": "  "}, "Anonymous"),
        ({"name": "Kim", "email": "a@example.com"}, "Kim"),
    ],
)
def test_the_display_name_is_the_first_that_is_there(writer: Writer, fields: Json, shown: str) -> None:
    assert writer.contact(**fields)["display_name"] == shown


@pytest.mark.parametrize("name", ["x" * 20, "é" * 20, "\U0001f600" * 20, "e\u0301" * 10, FAMILY * 4])
def test_a_name_of_20_code_points_is_taken(writer: Writer, name: str) -> None:
    assert len(name) == 20
    assert writer.contact(name=name)["display_name"] == name


@pytest.mark.parametrize("name", ["x" * 21, "\U0001f600" * 21, "e\u0301" * 10 + "!", FAMILY * 4 + " "])
@pytest.mark.parametrize("verb", ["create", "update"])
def test_a_name_of_21_code_points_is_refused(writer: Writer, name: str, verb: str) -> None:
    path = "/contacts" if verb == "create" else f"/contacts/{writer.contact()['id']}"
    method = "POST" if verb == "create" else "PATCH"
    answer = writer.leaves_no_trace(lambda: writer(method, path, {"name": name}))
    assert answer.failure == (400, "INVALID_BODY")
    assert answer.fields == {"name": "must be at most 20 characters"}


@pytest.mark.parametrize("field", ["tags", "avatar_url", "id", "is_member", "display_name", "Name", "name "])
def test_only_four_fields_make_a_contact(writer: Writer, field: str) -> None:
    answer = writer.leaves_no_trace(
        lambda: writer("POST", "/contacts", {"email": "a@example.com", field: "x"})
    )
    assert answer.failure == (400, "INVALID_BODY")
    assert answer.fields == {field: "is not a field of this request"}


@pytest.mark.parametrize("field", ["external_id", "avatar_url", "tags", "id", "created_at"])
def test_only_three_fields_change_a_contact(writer: Writer, field: str) -> None:
    made = writer.contact()
    answer = writer.leaves_no_trace(lambda: writer("PATCH", f"/contacts/{made['id']}", {field: "x"}))
    assert answer.failure == (400, "INVALID_BODY")
    assert answer.fields == {field: "is not a field of this request"}


@pytest.mark.parametrize(
    "email", ["a", "a@", "@example.com", "a b@example.com", "a@b@example.com", "A <a@example.com>", "x" * 320]
)
def test_an_email_of_another_form_is_refused(writer: Writer, email: str) -> None:
    made = writer.contact()
    for method, path in (("POST", "/contacts"), ("PATCH", f"/contacts/{made['id']}")):
        answer = writer(method, path, {"email": email})
        assert answer.failure == (400, "INVALID_BODY")
        assert list(answer.fields) == ["email"]
        assert answer.fields["email"].startswith("must be an e-mail address")


def test_an_external_id_has_at_most_255_characters(writer: Writer) -> None:
    assert writer.contact(external_id="\U0001f600" * 255)["external_id"] == "\U0001f600" * 255
    answer = writer("POST", "/contacts", {"external_id": "x" * 256})
    assert answer.fields == {"external_id": "must be at most 255 characters"}


def test_an_empty_external_id_is_none_and_is_never_taken(writer: Writer) -> None:
    first, second = writer.contact(external_id=""), writer.contact(external_id="")
    assert "external_id" not in first and "external_id" not in second
    assert "external_id" not in writer.events[0]["data"]["contact"]
    assert writer.see("/contacts", "external_id=") == []
    assert writer.contact(external_id=" ")["external_id"] == " "


def test_an_external_id_is_taken_once(writer: Writer, stranger: Writer) -> None:
    first = writer.contact(external_id="e1")
    answer = writer.leaves_no_trace(lambda: writer("POST", "/contacts", {"external_id": "e1", "name": "B"}))
    assert answer.failure == (409, "CONFLICT")
    assert answer.fields == {"external_id": "is taken"}
    assert writer.see("/contacts") == [first]
    # Its case counts, and every workspace has its own.
    writer.contact(external_id="E1")
    stranger.contact(external_id="e1")


def test_an_external_id_that_was_used_once_stays_taken(writer: Writer) -> None:
    kept = writer.desk.add("contact", external_id="now", former_external_ids=["once", "merged-away"])
    for value in ("now", "once", "merged-away"):
        answer = writer("POST", "/contacts", {"external_id": value})
        assert answer.failure == (409, "CONFLICT")
        assert [each["id"] for each in writer.see("/contacts", f"external_id={value}")] == [kept]


def test_without_an_external_id_a_retry_makes_a_second_contact(writer: Writer) -> None:
    first, second = writer.contact(email="a@example.com"), writer.contact(email="a@example.com")
    assert first["id"] != second["id"]


def test_what_is_left_out_or_null_does_not_change(writer: Writer, clock: SetClock) -> None:
    made = writer.contact(email="a@example.com", phone="1", name="Ann")
    before = writer.everything()
    clock.advance(SECOND_US)
    for nothing in (
        {},
        {"email": None, "phone": None, "name": None},
        {"email": "a@example.com", "phone": "1", "name": "Ann"},
        {"email": " a@example.com ", "phone": " 1 "},
    ):
        assert writer.done("PATCH", f"/contacts/{made['id']}", nothing) == made
    assert writer.everything() == before


def test_an_empty_text_takes_a_value_away(writer: Writer, clock: SetClock) -> None:
    made = writer.contact(email="a@example.com", phone="1", name="Ann")
    path = f"/contacts/{made['id']}"
    clock.advance(SECOND_US)
    assert writer.done("PATCH", path, {"name": ""})["display_name"] == "a@example.com"
    unmailed = writer.done("PATCH", path, {"email": "  "})
    assert "email" not in unmailed and unmailed["display_name"] == "1"
    bare = writer.done("PATCH", path, {"phone": ""})
    assert bare == {
        "id": made["id"],
        "display_name": "Anonymous",
        "is_member": False,
        "tags": [],
        "created_at": at(0),
        "updated_at": at(1),
    }
    assert writer.see(path) == bare
    assert writer.see("/contacts", "q=example") == []


def test_a_change_is_found_by_its_new_values_alone(writer: Writer) -> None:
    made = writer.contact(email="old@example.com", name="Berta")
    changed = writer.done("PATCH", f"/contacts/{made['id']}", {"email": "new@example.com", "name": "Clara"})
    assert writer.see("/contacts", "q=clara") == writer.see("/contacts", "q=new@") == [changed]
    assert writer.see("/contacts", "q=berta") == writer.see("/contacts", "q=old@") == []


def test_a_change_keeps_what_the_request_does_not_speak_of(writer: Writer) -> None:
    kept = writer.desk.add(
        "contact",
        external_id="e",
        avatar_url="https://example.com/a.png",
        is_member=True,
        last_seen_at=at(-5),
        tags=["vip", "early"],
    )
    before = writer.see(f"/contacts/{kept}")
    after = writer.done("PATCH", f"/contacts/{kept}", {"name": "Ann"})
    assert after == {**before, "display_name": "Ann", "updated_at": at(0)}


def test_an_unknown_or_foreign_contact_is_not_there(writer: Writer, stranger: Writer) -> None:
    foreign = stranger.contact()["id"]
    for id in (new_id(), foreign, "nope", "%00"):
        for method, path, body in (
            ("PATCH", f"/contacts/{id}", {"name": "x"}),
            ("POST", f"/contacts/{id}/tags", {"tags": ["x"]}),
            ("DELETE", f"/contacts/{id}/tags?name=x", None),
            ("PUT", f"/contacts/{id}/sms-consent", {"opted_in": True}),
        ):
            assert writer(method, path, body).failure == (404, "NOT_FOUND")
    assert stranger.see(f"/contacts/{foreign}")["display_name"] == "Anonymous"


def test_creating_and_changing_tell_of_the_contact(writer: Writer, clock: SetClock) -> None:
    made = writer.contact(external_id="e", email="a@example.com")
    clock.advance(SECOND_US)
    changed = writer.done("PATCH", f"/contacts/{made['id']}", {"name": "Zoë"})
    created_event, updated_event = writer.bodies
    assert created_event.decode() == (
        f'{{"kind":"contact.created","workspace_id":"{writer.desk.workspace_id}","timestamp":"{at(0)}",'
        f'"data":{{"contact_id":"{made["id"]}","contact":{{"id":"{made["id"]}","external_id":"e",'
        '"email":"a@example.com","display_name":"a@example.com","is_member":false,"tags":[],'
        f'"created_at":"{at(0)}","updated_at":"{at(0)}"}},"created_at":"{at(0)}"}},"assigned_member":null}}'
    )
    assert updated_event.decode() == (
        f'{{"kind":"contact.updated","workspace_id":"{writer.desk.workspace_id}","timestamp":"{at(1)}",'
        f'"data":{{"contact_id":"{made["id"]}","contact":{{"id":"{made["id"]}","external_id":"e",'
        '"email":"a@example.com","display_name":"Zoë","is_member":false,"tags":[],'
        f'"created_at":"{at(0)}","updated_at":"{at(1)}"}}}},"assigned_member":null}}'
    )
    assert changed == writer.events[1]["data"]["contact"]


def test_a_consent_is_kept_with_reason_time_and_token(writer: Writer, clock: SetClock) -> None:
    contact, other = writer.contact()["id"], writer.contact()["id"]
    shown = writer.see(f"/contacts/{contact}")
    before = len(writer.events)
    path = f"/contacts/{contact}/sms-consent"
    assert writer.done("PUT", path, {"opted_in": False, "reason": "Zu viele \U0001f600"}, 204) is None
    now = clock.now
    assert writer.consents == [(contact, False, "Zu viele \U0001f600", writer.token.token.id, now)]
    clock.advance(SECOND_US)
    answer = writer("PUT", path, {"opted_in": True})
    assert (answer.status, answer.body, answer.header("content-length")) == (204, b"", None)
    writer.done("PUT", f"/contacts/{other}/sms-consent", {"opted_in": False, "reason": "x" * 2000}, 204)
    assert sorted(writer.consents) == sorted(
        [
            (contact, True, None, writer.token.token.id, clock.now),
            (other, False, "x" * 2000, writer.token.token.id, clock.now),
        ]
    )
    assert writer.see(f"/contacts/{contact}") == shown
    assert len(writer.events) == before


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "opted_in"),
        ({"opted_in": None}, "opted_in"),
        ({"opted_in": 1}, "opted_in"),
        ({"opted_in": "true"}, "opted_in"),
        ({"opted_in": False, "reason": None}, "reason"),
        ({"opted_in": False, "reason": 5}, "reason"),
        ({"opted_in": False, "reason": "x" * 2001}, "reason"),
        ({"opted_in": False, "reason": "a\0b"}, "reason"),
        ({"opted_in": False, "token": "x"}, "token"),
    ],
)
def test_a_consent_of_another_form_is_refused(writer: Writer, body: Json, field: str) -> None:
    path = f"/contacts/{writer.contact()['id']}/sms-consent"
    answer = writer.leaves_no_trace(lambda: writer("PUT", path, body))
    assert answer.failure == (400, "INVALID_BODY")
    assert list(answer.fields) == [field]


def test_a_new_contact_is_the_first_of_the_list(writer: Writer, clock: SetClock) -> None:
    ids = []
    for _ in range(3):
        ids.append(writer.contact()["id"])
        clock.advance(1)
    assert [each["id"] for each in writer.see("/contacts")] == ids[::-1]
    assert writer.see("/contacts")[0]["created_at"] == format_time(clock.now - 1)
