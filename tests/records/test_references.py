"""References between records: to later lines, to what was imported before, and to nothing."""

import pytest

from deskwire.model.errors import DeskError
from tests.records.desk import TIME, Desk, Fields, channel, contact, message, record, uid

CALL: Fields = {"direction": "inbound", "status": "completed", "started_at": TIME}


def test_records_may_refer_to_records_on_later_lines(desk: Desk) -> None:
    report = desk.load(
        record("task", 9, title="Call", channel_id=uid(3), assignee_id=uid(6), team_id=uid(7)),
        record("macro", 10, name="Hi", scope="team", team_id=uid(7)),
        message(5, 3, attachment_ids=[uid(4)]),
        record("attachment", 4, filename="a.txt"),
        channel(3, contact_id=uid(2), assigned_member_id=uid(6)),
        record("team", 7, name="Front", member_ids=[uid(6)]),
        record("member", 6, name="Ann", email="ann@example.com", role="agent"),
        contact(2),
    )
    assert report.bad_lines == [] and desk.differences() == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (message(1, 9), f"channel_id: there is no channel {uid(9)}"),
        (message(1, 3, attachment_ids=[uid(9)]), f"attachment_ids: there is no attachment {uid(9)}"),
        (
            message(1, 3, attachments=[{"id": uid(9), "type": "file", "filename": "a"}]),
            f"attachment_ids: there is no attachment {uid(9)}",
        ),
        (channel(1, contact_id=uid(9)), f"contact_id: there is no contact {uid(9)}"),
        (channel(1, assigned_member_id=uid(9)), f"assigned_member_id: there is no member {uid(9)}"),
        (record("team", 1, name="T", member_ids=[uid(9)]), f"member_ids: there is no member {uid(9)}"),
        (record("task", 1, title="T", team_id=uid(9)), f"team_id: there is no team {uid(9)}"),
        (record("task", 1, title="T", channel_id=uid(9)), f"channel_id: there is no channel {uid(9)}"),
        (record("task", 1, title="T", assignee_id=uid(9)), f"assignee_id: there is no member {uid(9)}"),
        (record("macro", 1, name="M", team_id=uid(9)), f"team_id: there is no team {uid(9)}"),
    ],
    ids=str,
)
def test_a_reference_that_leads_nowhere_makes_its_line_bad(desk: Desk, line: Fields, reason: str) -> None:
    before = desk.export()
    assert desk.bad(channel(3), line) == [(2, reason)]
    assert desk.export() == before


def test_a_reference_to_a_record_whose_own_line_is_bad_is_not_reported_again(sqlite_desk: Desk) -> None:
    assert sqlite_desk.bad(
        contact(1, name="x" * 21),
        channel(2, contact_id=uid(1)),
        message(3, 2),
        channel(4, contact_id=uid(9)),
        message(5, 4),
        b'{"kind":"channel","id":"%s",' % uid(6).encode(),
        message(7, 6),
    ) == [
        (1, "name: must be at most 20 characters"),
        (4, f"contact_id: there is no contact {uid(9)}"),
        (6, "this is no JSON: it ends too early"),
    ]


def test_a_voice_call_may_name_what_was_deleted_and_does_not_show_it(desk: Desk) -> None:
    desk.load(channel(1, deleted=True), record("voice_call", 3, channel_id=uid(1), contact_id=uid(2), **CALL))
    assert desk.exported("voice_call")[0]["channel_id"] == uid(1)
    assert shown_call(desk).keys().isdisjoint({"channel_id", "contact_id"})
    desk.load(channel(1), contact(2))
    assert (shown_call(desk)["channel_id"], shown_call(desk)["contact_id"]) == (uid(1), uid(2))
    desk.load(channel(1, deleted=True))
    assert "channel_id" not in shown_call(desk) and desk.differences() == []


def shown_call(desk: Desk) -> Fields:
    return desk.shown("voice_calls", 3)


def test_a_file_for_a_workspace_that_is_not_there_is_refused(desk: Desk) -> None:
    desk.workspace_id = uid(99)
    with pytest.raises(DeskError) as refused:
        desk.load(channel(1))
    assert refused.value.code == "NOT_FOUND"
    with pytest.raises(DeskError) as refused:
        desk.export()
    assert refused.value.code == "NOT_FOUND"


def test_a_file_that_is_not_there_is_told_as_such(sqlite_desk: Desk) -> None:
    with pytest.raises(FileNotFoundError):
        sqlite_desk.load_file(sqlite_desk.folder / "absent.ndjson")


def test_looking_at_a_file_changes_nothing_and_finds_what_importing_finds(desk: Desk) -> None:
    before = desk.export()
    report = desk.load(channel(1), message(2, 1), check_only=True)
    assert report.records == {"channel": 1, "message": 1} and desk.export() == before
    assert desk.load(message(2, 1), check_only=True).bad_lines == desk.load(message(2, 1)).bad_lines != []


def test_the_same_file_twice_gives_the_same_workspace(desk: Desk) -> None:
    lines = [
        contact(1, external_id="a", former_external_ids=["b"], tags=["vip"]),
        channel(2, contact_id=uid(1), tags=["late"]),
        message(3, 2, content="hello"),
        record("attachment", 4, filename="a.txt"),
    ]
    desk.load(*lines)
    once = desk.export()
    assert desk.load(*lines).bad_lines == []
    assert desk.export() == once and desk.differences() == []
