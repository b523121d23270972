"""The workspace's own line, its owner, teams, hours and AI agent."""

import pytest
from sqlalchemy import bindparam, select

from deskwire.desk.reading import find_hours, find_workspace
from deskwire.store.statement import Statement
from deskwire.store.tables import WORKSPACES
from tests.records.desk import OWNER_EMAIL, TIME, Desk, Fields, channel, record, uid

OWNER = Statement(select(WORKSPACES.c.owner_member_id).where(WORKSPACES.c.id == bindparam("workspace_id")))


def owner(desk: Desk) -> str:
    row = desk.read(lambda tx: tx.one(OWNER, workspace_id=desk.workspace_id))
    assert row is not None
    return str(row[0])


def member(number: int, **fields: object) -> Fields:
    return record(
        "member", number, **{"email": f"{number}@example.com", "name": "Ann", "role": "agent", **fields}
    )


def hours(desk: Desk) -> bytes:
    return desk.read(lambda tx: find_hours(tx, desk.workspace_id))


def test_a_workspace_line_names_the_workspace_imported_into(desk: Desk) -> None:
    desk.load({"kind": "workspace", "name": "Wheels", "created_at": TIME, "id": uid(7)})
    desk.load({"kind": "workspace", "name": "Spokes", "created_at": None})
    shown = desk.read(lambda tx: find_workspace(tx, desk.workspace_id))
    assert shown == f'{{"id":"{desk.workspace_id}","name":"Spokes","created_at":"{TIME}"}}'.encode()


def test_an_imported_owner_takes_the_place_of_the_one_that_was_made(desk: Desk) -> None:
    desk.load(member(5, email=f" {OWNER_EMAIL.upper()} ", role="owner"))
    assert owner(desk) == uid(5)
    assert [one["id"] for one in desk.exported("member")] == [uid(5)]
    assert desk.exported("member")[0]["email"] == OWNER_EMAIL.upper()


def test_an_owner_whom_something_names_stays(desk: Desk) -> None:
    desk.load(channel(1, assigned_member_id=desk.owner_id))
    desk.load(member(5, email=OWNER_EMAIL))
    assert {one["id"] for one in desk.exported("member")} == {uid(5), desk.owner_id}
    assert owner(desk) == uid(5) and desk.differences() == []


def test_other_members_leave_the_owner_alone(desk: Desk) -> None:
    desk.load(member(5), member(6, active=False))
    assert owner(desk) == desk.owner_id and len(desk.exported("member")) == 3
    assert not desk.value("members", "visible", 6)


def test_a_team_has_the_members_of_its_last_import(desk: Desk) -> None:
    desk.load(member(5), member(6), record("team", 7, name="T", member_ids=[uid(6), uid(5), uid(6)]))
    assert desk.exported("team")[0]["member_ids"] == [uid(6), uid(5)]
    desk.load(record("team", 7, name="T", member_ids=[uid(5)], active=False))
    assert desk.exported("team")[0]["member_ids"] == [uid(5)]


@pytest.mark.parametrize(
    "config", [b'{"timezone" : "Europe/Berlin",  "a":1.50}', b"{}", b'{"\xed\x95\x9c":"\\u00e9"}']
)
def test_hours_are_kept_byte_for_byte(desk: Desk, config: bytes) -> None:
    line = b'{"kind":"business_hours", "id":"x", "created_at":"%s", "config" : %s }' % (TIME.encode(), config)
    assert desk.load(line).bad_lines == []
    assert hours(desk) == b'{"business_hours":' + config + b"}"
    assert b'{"kind":"business_hours","config":' + config + b"}\n" in desk.export()


def test_null_says_that_hours_were_never_configured(desk: Desk) -> None:
    desk.load({"kind": "business_hours", "config": {"timezone": "UTC"}})
    desk.load({"kind": "business_hours", "config": None})
    assert hours(desk) == b'{"business_hours":null}' and desk.exported("business_hours") == []


def test_the_ai_agent_has_the_id_of_its_workspace(desk: Desk) -> None:
    desk.load({"kind": "ai_agent", "enabled": True, "failover_timeout": 10, "created_at": TIME})
    desk.load(record("ai_agent", 5, enabled=True, failover_timeout=300))
    assert desk.exported("ai_agent") == [
        {"kind": "ai_agent", "created_at": TIME, "updated_at": TIME, "enabled": True, "failover_timeout": 300}
    ]
    assert desk.differences() == []
