"""What is wrong with a line by itself, said with its number; and what a line need not say."""

import pytest

from deskwire.desk.importing import import_file
from deskwire.model.limits import RECORD_LINE_BYTES
from tests.engines import Run
from tests.records.desk import TIME, Desk, Fields, as_line, channel, contact, record, uid

WORKSPACE: Fields = {"kind": "workspace", "name": "Bicycles"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "this is no JSON: it ends too early"),
        (b"hello", "this is no JSON: invalid character (byte 0)"),
        (as_line(channel(1)) + b" x", "this is no JSON: trailing characters"),
        (b"[]", "must be an object, not a list"),
        (b"3", "must be an object, not a whole number"),
        (b"\xff", "byte 1 is no UTF-8"),
        (as_line(channel(1, name="N")).replace(b"N", b"\xe9"), "is no UTF-8"),
        (b'{"kind":"business_hours","config":{"a":"\xff"}}', "is no UTF-8"),
        (as_line(channel(1, name="a\0b")), "a text holds a NUL character"),
        (b'{"kind":"business_hours","config":{"\\u0000":[]}}', "a text holds a NUL character"),
        (as_line(channel(1, name="\ud800")), "half of a surrogate pair"),
        (b'{"kind":"business_hours","config":{"a":"\\udc00"}}', "half of a surrogate pair"),
        (b'{"kind":"business_hours","config":' + b"[" * 50_000, "nested too deeply"),
        (
            {"kind": "chanel", "id": uid(1)},
            "kind: must be one of workspace, business_hours, ai_agent, member",
        ),
        ({"id": uid(1)}, "kind: is missing"),
        ({"kind": 3}, "kind: must be a text"),
        ({"kind": "channel", "id": uid(1)}, "created_at: is missing"),
        ({"kind": "channel", "created_at": TIME}, "id: is missing"),
        (channel(1, colour="red"), "colour: is no field of this kind"),
        (contact(1, display_name="Kim"), "display_name: is no field of this kind"),
        (channel(1, status="shut"), "status: must be one of closed, open, snoozed"),
        (contact(1, name=7), "name: must be a text, not a whole number"),
        (channel(1, status=3), "status: must be a text, not a whole number"),
        (channel(1, tags="a"), "tags: must be a list, not a text"),
        (channel(1, tags=[""]), "tags[0]: must not be empty"),
        (channel(1, tags=["x" * 256]), "tags[0]: must be at most 255 characters"),
        (channel(1, deleted="yes"), "deleted: must be true or false, not a text"),
        (channel(1, created_at="yesterday"), "created_at: must be an RFC 3339 date-time"),
        (channel(1, created_at="2026-02-30T00:00:00Z"), "created_at: has a date that does not exist"),
        (channel(1, created_at=1767225600), "created_at: must be an RFC 3339 timestamp"),
        (channel(1, created_at=None), "created_at: must be"),
        ({**channel(1), "id": "7"}, "id: must be a UUID in lower case"),
        ({**channel(1), "id": uid(1).replace("7000", "7A00")}, "id: must be a UUID in lower case"),
        ({**channel(1), "id": uid(1) + "\n"}, "id: must be"),
        (contact(1, name="x" * 21), "name: must be at most 20 characters"),
        (contact(1, former_external_ids=[""]), "former_external_ids[0]: must not be empty"),
        (
            contact(1, former_external_ids=["x" * 256]),
            "former_external_ids[0]: must be at most 255 characters",
        ),
        (contact(1, tags=["x" * 51]), "tags[0]: must be at most 50 characters"),
        (contact(1, tags=[str(n) for n in range(101)]), "tags: must have at most 100 entries"),
        (record("task", 1, title=None), "title: must be a text, not null"),
        (
            record("ai_agent", 1, enabled=True, failover_timeout=5),
            "failover_timeout: must be 10 to 300 seconds",
        ),
        (record("ai_agent", 1, failover_timeout=301), "failover_timeout: must be <= 300"),
        ({"kind": "business_hours", "config": []}, "config: must be an object or null"),
        ({"kind": "business_hours"}, "config: is missing"),
        ({"kind": "workspace", "name": ""}, "name: must not be empty"),
        (
            record("message", 1, channel_id=uid(2), sender_id="", attachments=[{"id": uid(3), "type": "x"}]),
            "attachments[0].type: must be one of audio, file, image, video",
        ),
    ],
    ids=str,
)
def test_a_bad_line_is_named_with_its_number_and_reason(
    sqlite_desk: Desk, line: Fields | bytes, reason: str
) -> None:
    report = sqlite_desk.load(WORKSPACE, line)
    (bad,) = report.bad_lines
    assert bad.line == 2 and reason in bad.reason
    assert sqlite_desk.exported("channel") == []


def test_a_line_that_is_too_long_is_named_and_the_next_one_is_read(sqlite_desk: Desk) -> None:
    too_long = as_line(channel(1, name="x" * RECORD_LINE_BYTES))
    assert sqlite_desk.bad(too_long, b"{", channel(2)) == [
        (1, "the line is longer than 16 MiB"),
        (2, "this is no JSON: it ends too early"),
    ]


def test_blank_lines_and_a_byte_order_mark_are_passed_over_but_counted(sqlite_desk: Desk) -> None:
    report = sqlite_desk.load(
        b"\xef\xbb\xbf" + as_line(channel(1)), b"", b"  \r", as_line(channel(2)) + b"\r", b"{"
    )
    assert [bad.line for bad in report.bad_lines] == [5]
    report = sqlite_desk.load(
        b"\xef\xbb\xbf" + as_line(channel(1)), b"", b"  \r", as_line(channel(2)) + b"\r"
    )
    assert report.records == {"channel": 2} and not report.bad_lines


def test_an_empty_file_imports_nothing(sqlite_desk: Desk) -> None:
    before = sqlite_desk.export()
    assert sqlite_desk.load().records == {}
    assert sqlite_desk.export() == before


def test_null_stands_for_an_optional_field_that_is_absent(sqlite_desk: Desk) -> None:
    said = channel(1, status=None, tags=None, deleted=None, name=None, updated_at=None, message_count=None)
    assert sqlite_desk.load(said).bad_lines == []
    plain = sqlite_desk.exported("channel")
    sqlite_desk.load(channel(1))
    assert sqlite_desk.exported("channel") == plain


def test_what_is_derived_is_accepted_and_not_believed(desk: Desk) -> None:
    report = desk.load(
        channel(1, message_count=7, last_message_at=TIME, tags=["late"]),
        record("contact_tag", 2, name="vip", usage_count=9),
        record("attachment", 3, filename="a.txt", url="https://example.com/a", url_expires_at=TIME),
        channel(4, message_count="many"),
    )
    assert report.bad_lines == [] and desk.differences() == []


def test_all_bad_lines_are_listed_up_to_a_hundred_in_the_order_of_the_file(sqlite_desk: Desk) -> None:
    report = sqlite_desk.load(*[b"{"] * 99, channel(1, contact_id=uid(9)))
    assert [bad.line for bad in report.bad_lines] == list(range(1, 101)) and not report.more_bad_lines
    report = sqlite_desk.load(channel(1, contact_id=uid(9)), *[b"{"] * 101)
    assert len(report.bad_lines) == 100 and report.more_bad_lines


def test_a_later_line_of_the_same_id_replaces_the_earlier_one(desk: Desk) -> None:
    report = desk.load(channel(1, name="first", created_at="2026-01-03T00:00:00Z"), channel(1, name="second"))
    assert report.records == {"channel": 1}
    assert [one["name"] for one in desk.exported("channel")] == ["second"]


def test_progress_grows_to_the_size_of_the_file(run: Run, sqlite_desk: Desk) -> None:
    path = sqlite_desk.write(*(channel(number, name="x" * 1000) for number in range(1000)))
    told: list[tuple[int, int]] = []
    imported = import_file(
        sqlite_desk.store,
        sqlite_desk.files,
        sqlite_desk.workspace_id,
        path,
        check_only=False,
        progress=lambda done, size: told.append((done, size)),
    )
    assert not run(imported).bad_lines
    assert told == sorted(told) and len(told) > 3
    assert told[-1] == (path.stat().st_size, path.stat().st_size)
