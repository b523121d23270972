"""What is deleted, inactive, not ready, internal or of another workspace is as if it did not exist."""

import pytest

from deskwire.api.endpoint import Endpoint
from deskwire.api.table import READS
from tests.api.desk import Desk, House
from tests.api.filled import Filled, path_with, query_of
from tests.api.records import at, new_id, record

WITH_ID = [endpoint for endpoint in READS if endpoint.noun]
HIDDEN: list[tuple[str, str, dict[str, object]]] = [
    ("/members", "member", {"active": False}),
    ("/teams", "team", {"active": False}),
    ("/channels", "channel", {"deleted": True}),
    ("/tasks", "task", {"deleted": True}),
    ("/campaigns", "campaign", {"deleted": True}),
    ("/macros", "macro", {"deleted": True}),
]
SINGLE = {endpoint.path for endpoint in WITH_ID}
UNSEEN_MESSAGES = [{"deleted": True}, {"internal_note": True}]


@pytest.mark.parametrize(("path", "kind", "hidden"), HIDDEN)
def test_what_is_hidden_is_in_no_list_and_cannot_be_read(
    desk: Desk, path: str, kind: str, hidden: dict[str, object]
) -> None:
    shown, absent = record(kind), record(kind, **hidden)
    desk.put(shown, absent)
    assert shown["id"] in desk.get(path).ids
    assert absent["id"] not in desk.get(path).ids
    if f"{path}/{{id}}" in SINGLE:
        assert desk.get(f"{path}/{absent['id']}").failure == (404, "NOT_FOUND")


@pytest.mark.parametrize(("path", "kind", "hidden"), HIDDEN)
def test_what_becomes_hidden_disappears_and_comes_back(
    desk: Desk, path: str, kind: str, hidden: dict[str, object]
) -> None:
    made = record(kind)
    for fields, is_there in (({}, True), (hidden, False), ({}, True)):
        desk.put({**made, **fields})
        assert (made["id"] in desk.get(path).ids) is is_there


@pytest.mark.parametrize("hidden", UNSEEN_MESSAGES)
def test_a_deleted_message_and_an_internal_note_are_absent_everywhere(
    desk: Desk, hidden: dict[str, object]
) -> None:
    channel_id, attachment_id = desk.add("channel"), desk.add("attachment")
    message_id = desk.add(
        "message", channel_id=channel_id, content="bell", attachment_ids=[attachment_id], **hidden
    )
    assert desk.get(f"/channels/{channel_id}/messages", {"since": at(-100_000)}).data == []
    assert desk.get(f"/messages/{message_id}").failure == (404, "NOT_FOUND")
    assert desk.get(f"/attachments/{attachment_id}").failure == (404, "NOT_FOUND")
    assert desk.get("/search", "q=bell").data == []
    assert desk.get(f"/channels/{channel_id}").data["message_count"] == 0


@pytest.mark.parametrize("hidden", UNSEEN_MESSAGES)
def test_a_message_that_is_deleted_later_is_no_longer_found(desk: Desk, hidden: dict[str, object]) -> None:
    message = record("message", channel_id=desk.add("channel"), content="bell")
    desk.put(message)
    assert [each["message_id"] for each in desk.get("/search", "q=bell").data] == [message["id"]]
    desk.put({**message, **hidden})
    assert desk.get("/search", "q=bell").data == []


def test_a_deleted_channel_is_absent_with_everything_in_it(desk: Desk) -> None:
    channel = record("channel", tags=["urgent"])
    attachment_id = str(record("attachment")["id"])
    message = record("message", channel_id=channel["id"], content="bell", attachment_ids=[attachment_id])
    desk.put(channel, record("attachment", id=attachment_id), message)
    channel_path = f"/channels/{channel['id']}"
    everything = [
        (channel_path, ""),
        (f"{channel_path}/messages", f"since={at(-100_000)}"),
        (f"/messages/{message['id']}", ""),
        (f"/attachments/{attachment_id}", ""),
    ]
    for path, query in everything:
        assert desk.get(path, query).status == 200
    desk.put({**channel, "deleted": True})
    for path, query in everything:
        assert desk.get(path, query).failure == (404, "NOT_FOUND")
    for path, query in (("/channels", ""), ("/channels", "tags=urgent"), ("/search", "q=bell")):
        assert desk.get(path, query).data == []
    assert desk.get("/channels", "tags=urgent&tag_match=all").data == []


def test_an_attachment_is_there_while_any_message_that_shows_it_is(desk: Desk) -> None:
    channel_id, attachment_id = desk.add("channel"), desk.add("attachment")
    desk.add("message", channel_id=channel_id, attachment_ids=[attachment_id], deleted=True)
    shown = record("message", channel_id=channel_id, attachment_ids=[attachment_id])
    desk.put(shown)
    assert desk.get(f"/attachments/{attachment_id}").status == 200
    desk.put({**shown, "deleted": True})
    assert desk.get(f"/attachments/{attachment_id}").failure == (404, "NOT_FOUND")


@pytest.mark.parametrize("status", ["pending", "failed"])
def test_an_attachment_that_is_not_ready_behaves_as_absent(desk: Desk, status: str) -> None:
    ready, waiting = desk.add("attachment"), desk.add("attachment", status=status)
    channel_id = desk.add("channel")
    both = desk.add("message", channel_id=channel_id, attachment_ids=[waiting, ready])
    only = desk.add("message", channel_id=channel_id, attachment_ids=[waiting])
    assert desk.get(f"/attachments/{waiting}").failure == (404, "NOT_FOUND")
    assert [each["id"] for each in desk.get(f"/messages/{both}").data["attachments"]] == [ready]
    assert "attachments" not in desk.get(f"/messages/{only}").data


def test_a_team_lists_its_active_members_alone(desk: Desk) -> None:
    active, inactive = desk.add("member"), desk.add("member", active=False)
    outsider = desk.add("member")
    team_id = desk.add("team", member_ids=[inactive, active])
    assert desk.get(f"/teams/{team_id}/members").ids == [active]
    assert outsider in desk.get("/members").ids


def test_an_inactive_team_is_not_found_and_an_empty_one_has_an_empty_list(desk: Desk) -> None:
    inactive, empty = desk.add("team", active=False), desk.add("team")
    assert desk.get(f"/teams/{inactive}/members").failure == (404, "NOT_FOUND")
    assert desk.get(f"/teams/{empty}/members").data == []


@pytest.mark.parametrize("status", ["active", "away", "vacation", "off_duty"])
def test_a_member_is_listed_whatever_the_presence_status(desk: Desk, status: str) -> None:
    member_id = desk.add("member", status=status)
    assert desk.get(f"/members/{member_id}").data["status"] == status


@pytest.mark.parametrize("status", ["open", "snoozed", "closed"])
def test_channels_are_listed_in_every_status_and_no_parameter_filters_them(desk: Desk, status: str) -> None:
    channel_id = desk.add("channel", status=status)
    assert desk.get("/channels", "status=nothing").ids == [channel_id]


def test_inactive_workflows_are_listed(desk: Desk) -> None:
    made = [desk.add("workflow", is_active=active) for active in (True, False)]
    assert desk.get("/workflows").ids == made[::-1]


def test_tasks_and_macros_of_all_teams_are_listed_together(desk: Desk) -> None:
    team_id = desk.add("team")
    tasks = [desk.add("task", team_id=team) for team in (team_id, None)]
    macros = [desk.add("macro", scope="team", team_id=team_id), desk.add("macro")]
    assert desk.get("/tasks").ids == tasks[::-1]
    assert desk.get("/macros").ids == macros[::-1]


@pytest.mark.parametrize("endpoint", WITH_ID, ids=lambda endpoint: endpoint.path)
def test_an_id_of_another_workspace_is_answered_as_one_that_never_was(
    filled: Filled, other_desk: Desk, endpoint: Endpoint
) -> None:
    foreign = other_desk.get(filled.path(endpoint), query_of(endpoint))
    unknown = other_desk.get(path_with(endpoint, new_id()), query_of(endpoint))
    assert foreign.failure == (404, "NOT_FOUND")
    assert foreign.body == unknown.body


@pytest.mark.parametrize("endpoint", WITH_ID, ids=lambda endpoint: endpoint.path)
def test_an_id_in_capitals_is_the_same_id(filled: Filled, endpoint: Endpoint) -> None:
    id = filled.ids[endpoint.path.split("/")[1]]
    answer = filled.desk.get(path_with(endpoint, id.upper()), query_of(endpoint))
    assert answer.body == filled.get(endpoint).body


def test_the_same_ids_may_stand_in_two_workspaces(house: House) -> None:
    first = Filled(house.open_desk())
    before = {endpoint.path: first.get(endpoint).body for endpoint in READS}
    second = Filled(house.open_desk(), first.ids)
    second.desk.put(
        record("contact", id=first.ids["contacts"], name="Grace"),
        record("channel", id=first.ids["channels"], deleted=True),
        record("member", id=first.ids["members"], active=False),
    )
    for endpoint in READS:
        assert first.get(endpoint).body == before[endpoint.path]
    assert second.desk.get(f"/contacts/{first.ids['contacts']}").data["display_name"] == "Grace"
    assert second.desk.get(f"/messages/{first.ids['messages']}").failure == (404, "NOT_FOUND")


@pytest.mark.parametrize("endpoint", READS, ids=lambda endpoint: endpoint.path)
def test_a_new_workspace_sees_nothing_of_what_others_have(
    filled: Filled, other_desk: Desk, endpoint: Endpoint
) -> None:
    if endpoint.noun:
        return
    body = other_desk.get(endpoint.path, query_of(endpoint)).body.decode()
    assert filled.desk.workspace_id not in body
    assert not [id for id in filled.ids.values() if id in body]


def test_a_filter_with_another_workspaces_tag_finds_its_own_channels_alone(
    desk: Desk, other_desk: Desk
) -> None:
    other_desk.add("channel", tags=["urgent", "theirs"])
    mine = desk.add("channel", tags=["urgent"])
    assert desk.get("/channels", "tags=urgent").ids == [mine]
    assert desk.get("/channels", "tags=theirs").data == []
    assert desk.get("/channels", "tags=urgent,theirs").ids == [mine]
    assert desk.get("/channels", "tags=urgent,theirs&tag_match=all").data == []


def test_an_external_id_of_another_workspace_finds_nothing(desk: Desk, other_desk: Desk) -> None:
    other_desk.add("contact", external_id="crm-1", former_external_ids=["crm-0"])
    assert desk.get("/contacts", "external_id=crm-1").data == []
    assert desk.get("/contacts", "external_id=crm-0").data == []


def test_tags_are_counted_within_the_workspace(desk: Desk, other_desk: Desk) -> None:
    other_desk.add("contact", tags=["vip"])
    desk.add("contact", tags=["vip"])
    assert [tag["usage_count"] for tag in desk.get("/contact-tags").data] == [1]
