"""The exact keys and values of each resource, and of the envelopes around them."""

import json
import re
from typing import Any

import msgspec
import pytest

from deskwire.api.endpoint import Answers, Endpoint
from deskwire.api.table import READS
from deskwire.model.vocabulary import SERVICE_SENDER_ID
from tests.api.desk import Desk
from tests.api.filled import Filled
from tests.api.records import at, new_id

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
TIMES = {"created_at": at(-60), "updated_at": at(-30.5)}
FIRST_OF_1970 = "1970-01-01T00:00:00.000000Z"

REFERRED = {
    "contact_id": "contact",
    "assigned_member_id": "member",
    "assignee_id": "member",
    "team_id": "team",
    "channel_id": "channel",
}

# The fields of a record, `...` for the id of another one, and the keys that are shown.
FULL: dict[str, tuple[dict[str, object], set[str]]] = {
    "/members": (
        {"kind": "member", "avatar_url": "https://example.com/a.png", "last_login_at": at(-1)},
        {
            *("id", "email", "name", "role", "status", "avatar_url", "last_login_at"),
            *("created_at", "updated_at"),
        },
    ),
    "/teams": (
        {"kind": "team", "description": "Returns"},
        {"id", "name", "description", "created_at", "updated_at"},
    ),
    "/contacts": (
        {
            "kind": "contact",
            "external_id": "crm-1",
            "email": "a@example.com",
            "phone": "+49 30 1",
            "name": "Ada",
            "avatar_url": "https://example.com/a.png",
            "is_member": True,
            "tags": ["vip"],
            "last_seen_at": at(-1),
            "former_external_ids": ["crm-0"],
        },
        {
            *("id", "external_id", "email", "phone", "display_name", "avatar_url", "is_member", "tags"),
            *("last_seen_at", "created_at", "updated_at"),
        },
    ),
    "/contact-tags": (
        {"kind": "contact_tag", "color": "#ff0000"},
        {"id", "name", "color", "usage_count", "created_at", "updated_at"},
    ),
    "/channel-tags": (
        {"kind": "channel_tag", "color": "#ff0000"},
        {"id", "name", "color", "created_at", "updated_at"},
    ),
    "/channels": (
        {
            "kind": "channel",
            "name": "A bell",
            "description": "That does not ring",
            "contact_id": ...,
            "assigned_member_id": ...,
            "assigned_type": "human",
            "tags": ["urgent"],
            "snoozed_until": at(60),
            "status": "snoozed",
            "last_message_at": at(-1),
        },
        {
            *("id", "type", "provider", "status", "name", "description", "contact_id", "assigned_member_id"),
            *("assigned_type", "tags", "snoozed_until", "message_count", "created_at", "updated_at"),
        },
    ),
    "/macros": (
        {"kind": "macro", "content": "Dear", "scope": "team", "team_id": ..., "sort_order": 3},
        {
            *("id", "name", "content", "scope", "team_id", "action_type", "sort_order"),
            *("created_at", "updated_at"),
        },
    ),
    "/integrations": (
        {
            "kind": "integration",
            "webhook_url": "https://example.com/in",
            "icon_url": "https://example.com/i.png",
        },
        {"id", "provider", "name", "status", "created_at", "updated_at"},
    ),
    "/inbound-webhook-configs": (
        {
            "kind": "integration",
            "webhook_url": "https://example.com/in",
            "icon_url": "https://example.com/i.png",
        },
        {"id", "name", "provider", "status", "webhook_url", "icon_url", "created_at", "updated_at"},
    ),
    "/campaigns": (
        {
            "kind": "campaign",
            "scheduled_at": at(-9),
            "started_at": at(-8),
            "completed_at": at(-7),
            "sent_count": 5,
            "failed_count": 1,
        },
        {
            *("id", "name", "status", "campaign_type", "trigger_type", "scheduled_at", "started_at"),
            *("completed_at", "sent_count", "failed_count", "created_at", "updated_at"),
        },
    ),
    "/tasks": (
        {
            "kind": "task",
            "team_id": ...,
            "description": "Soon",
            "channel_id": ...,
            "assignee_id": ...,
        },
        {
            *("id", "team_id", "title", "description", "channel_id", "status", "assignee_id"),
            *("created_at", "updated_at"),
        },
    ),
    "/workflows": ({"kind": "workflow"}, {"id", "name", "is_active", "created_at", "trigger_type"}),
    "/ai-agents": ({"kind": "ai_agent"}, {"id", "enabled", "failover_timeout", "created_at", "updated_at"}),
    "/voice/calls": (
        {"kind": "voice_call", "duration_seconds": 5, "ended_at": at(-3)},
        {"id", "direction", "status", "duration_seconds", "started_at", "ended_at", "created_at"},
    ),
}
OPTIONAL: dict[str, set[str]] = {
    "/members": {"avatar_url", "last_login_at"},
    "/teams": {"description"},
    "/contacts": {"external_id", "email", "phone", "avatar_url", "last_seen_at"},
    "/contact-tags": {"color"},
    "/channel-tags": {"color"},
    "/channels": {
        *("name", "description", "contact_id", "assigned_member_id", "assigned_type"),
        *("last_message_at", "snoozed_until"),
    },
    "/macros": {"team_id"},
    "/inbound-webhook-configs": {"webhook_url", "icon_url"},
    "/campaigns": {"scheduled_at", "started_at", "completed_at"},
    "/tasks": {"team_id", "description", "channel_id", "assignee_id"},
    "/voice/calls": {"ended_at"},
}
TEXTS = {
    "external_id",
    "email",
    "phone",
    "avatar_url",
    "name",
    "description",
    "color",
    "webhook_url",
    "icon_url",
}


def listed(desk: Desk, path: str, **fields: object) -> dict[str, Any]:
    """What a list shows of a record that was put with these fields."""
    given, _ = FULL[path]
    desk.add(str(given["kind"]), **fields)
    (shown,) = [each for each in desk.get(path).data if each.get("email") != "owner@example.com"]
    assert isinstance(shown, dict)
    return shown


@pytest.mark.parametrize("path", FULL)
def test_a_resource_has_exactly_the_keys_of_the_specification(desk: Desk, path: str) -> None:
    given, keys = FULL[path]
    fields = {
        name: desk.add(REFERRED[name]) if value is ... else value
        for name, value in given.items()
        if name != "kind"
    }
    shown = listed(desk, path, **fields, **TIMES)
    assert set(shown) == keys
    for name in shown.keys() & (fields | TIMES).keys():
        assert shown[name] == (fields | TIMES)[name]


@pytest.mark.parametrize("path", FULL)
@pytest.mark.parametrize("empty", [None, ""])
def test_what_is_empty_is_left_out_and_never_null(desk: Desk, path: str, empty: str | None) -> None:
    given, keys = FULL[path]
    optional = OPTIONAL.get(path, set())
    values = {name: empty if name in TEXTS else None for name in given.keys() & optional}
    shown = listed(desk, path, **values)
    assert set(shown) == keys - optional
    assert None not in shown.values()


def test_every_listed_resource_has_its_shape_tested() -> None:
    lists = {
        endpoint.path
        for endpoint in READS
        if endpoint.answers in (Answers.PAGE, Answers.ARRAY) and not endpoint.noun
    }
    # What is no record of the record format has tests of its own.
    assert lists - {"/search", "/outbound-webhooks"} == FULL.keys()


@pytest.mark.parametrize("endpoint", READS, ids=lambda endpoint: endpoint.path)
def test_every_timestamp_has_microseconds_and_z_and_nothing_is_null(
    filled: Filled, endpoint: Endpoint
) -> None:
    data = filled.get(endpoint).data
    for each in data if isinstance(data, list) else [data]:
        if not isinstance(each, dict):
            continue
        for name, value in each.items():
            assert value is not None
            if name.endswith(("_at", "_until")):
                assert TIMESTAMP.fullmatch(value)


@pytest.mark.parametrize("endpoint", READS, ids=lambda endpoint: endpoint.path)
def test_the_envelope_is_that_of_the_answer(filled: Filled, endpoint: Endpoint) -> None:
    answer = filled.get(endpoint)
    paged = endpoint.answers is Answers.PAGE
    assert set(answer.json) == ({"success", "data", "meta"} if paged else {"success", "data"})
    assert answer.json["success"] is True
    if paged:
        assert set(answer.json["meta"]) <= {"has_more", "next_cursor"}
        assert answer.next_cursor is None


@pytest.mark.parametrize(
    "path", sorted({e.path for e in READS if e.answers in (Answers.PAGE, Answers.ARRAY) and not e.noun})
)
def test_a_list_of_nothing_is_an_empty_array(desk: Desk, path: str) -> None:
    answer = desk.get(path, "q=nothing" if path == "/search" else "")
    assert answer.data == [] or (path == "/members" and answer.ids == [desk.owner_id])


def test_the_document_of_a_list_is_that_of_the_single_read(filled: Filled) -> None:
    for path in ("/members", "/contacts", "/channels", "/campaigns", "/tasks"):
        for shown in filled.desk.get(path).data:
            assert filled.desk.get(f"{path}/{shown['id']}").data == shown


def test_the_workspace_has_id_name_and_created_at(desk: Desk) -> None:
    assert desk.get("/workspace").data == {
        "id": desk.workspace_id,
        "name": "Bicycles",
        "created_at": at(0),
    }


def test_updated_at_is_created_at_where_nothing_was_updated(desk: Desk) -> None:
    shown = desk.get(f"/tasks/{desk.add('task', created_at=at(-5))}").data
    assert shown["updated_at"] == shown["created_at"] == at(-5)


@pytest.mark.parametrize("path", [path for path, (_, keys) in FULL.items() if "updated_at" in keys])
def test_the_first_moment_of_1970_is_an_updated_at_like_any_other(desk: Desk, path: str) -> None:
    assert listed(desk, path, updated_at=FIRST_OF_1970)["updated_at"] == FIRST_OF_1970


def test_a_message_may_be_updated_in_the_first_moment_of_1970(desk: Desk) -> None:
    id = desk.add("message", channel_id=desk.add("channel"), updated_at=FIRST_OF_1970)
    assert desk.get(f"/messages/{id}").data["updated_at"] == FIRST_OF_1970


def test_a_workspace_may_be_made_in_the_first_moment_of_1970(desk: Desk) -> None:
    desk.put({"kind": "workspace", "name": "Bicycles", "created_at": FIRST_OF_1970})
    assert desk.get("/workspace").data["created_at"] == FIRST_OF_1970


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"name": "Ada", "email": "a@example.com", "phone": "1"}, "Ada"),
        ({"email": "a@example.com", "phone": "1"}, "a@example.com"),
        ({"phone": "1"}, "1"),
        ({"external_id": "crm-1"}, "Anonymous"),
        ({"name": "", "email": "", "phone": ""}, "Anonymous"),
    ],
)
def test_display_name_is_name_else_email_else_phone_else_anonymous(
    desk: Desk, fields: dict[str, object], shown: str
) -> None:
    assert desk.get(f"/contacts/{desk.add('contact', **fields)}").data["display_name"] == shown


def test_a_contact_without_tags_has_an_empty_array_of_them(desk: Desk) -> None:
    contact_id = desk.add("contact")
    assert desk.get(f"/contacts/{contact_id}").data["tags"] == []
    assert desk.get(f"/contacts/{contact_id}/tags").data == []


def test_the_tags_of_a_contact_are_names_in_their_order(desk: Desk) -> None:
    contact_id = desk.add("contact", tags=["zebra", "ärger", "alpha"])
    assert desk.get(f"/contacts/{contact_id}/tags").data == ["zebra", "ärger", "alpha"]
    assert desk.get(f"/contacts/{contact_id}").data["tags"] == ["zebra", "ärger", "alpha"]


def test_usage_count_is_the_number_of_contacts_that_carry_the_tag(desk: Desk) -> None:
    desk.add("contact_tag", name="unused")
    for _ in range(3):
        desk.add("contact", tags=["vip"])
    assert {tag["name"]: tag["usage_count"] for tag in desk.get("/contact-tags").data} == {
        "unused": 0,
        "vip": 3,
    }


def test_message_count_and_last_message_at_come_from_the_messages_that_are_shown(desk: Desk) -> None:
    channel_id = desk.add("channel", message_count=99, last_message_at=at(-1))
    assert "last_message_at" not in desk.get(f"/channels/{channel_id}").data
    assert desk.get(f"/channels/{channel_id}").data["message_count"] == 0
    desk.add("message", channel_id=channel_id, created_at=at(-50))
    desk.add("message", channel_id=channel_id, created_at=at(-60))
    desk.add("message", channel_id=channel_id, created_at=at(-40), deleted=True)
    desk.add("message", channel_id=channel_id, created_at=at(-30), internal_note=True)
    shown = desk.get(f"/channels/{channel_id}").data
    assert (shown["message_count"], shown["last_message_at"]) == (2, at(-50))


@pytest.mark.parametrize("kind", ["ai", "workflow"])
def test_a_channel_may_be_assigned_to_no_member(desk: Desk, kind: str) -> None:
    shown = desk.get(f"/channels/{desk.add('channel', assigned_type=kind)}").data
    assert shown["assigned_type"] == kind
    assert "assigned_member_id" not in shown


MESSAGE_KEYS = {
    *("id", "channel_id", "sender_id", "sender_type", "sender_name", "content_type", "content"),
    *("is_edited", "created_at", "updated_at"),
}


def test_a_message_has_exactly_the_keys_of_the_specification_in_lists_and_alone(desk: Desk) -> None:
    channel_id = desk.add("channel")
    attachment_id = desk.add("attachment", filename="사진.png", content_type="image/png")
    plain = desk.add("message", channel_id=channel_id, created_at=at(-2))
    rich = desk.add("message", channel_id=channel_id, created_at=at(-1), attachment_ids=[attachment_id])
    first, second = desk.get(f"/channels/{channel_id}/messages", {"since": at(-60)}).data
    assert (first["id"], set(first)) == (rich, MESSAGE_KEYS | {"attachments"})
    assert (second["id"], set(second)) == (plain, MESSAGE_KEYS)
    assert first["attachments"] == [{"id": attachment_id, "type": "image", "filename": "사진.png"}]
    assert desk.get(f"/messages/{rich}").data == first
    assert desk.get(f"/messages/{plain}").data == second


@pytest.mark.parametrize(
    ("content_type", "shown"),
    [
        ("image/png", "image"),
        ("IMAGE/PNG; a=b", "image"),
        ("video/mp4", "video"),
        ("audio/ogg", "audio"),
        ("application/pdf", "file"),
        ("text/html", "file"),
        ("nonsense", "file"),
    ],
)
def test_a_reference_says_what_type_an_attachment_is(desk: Desk, content_type: str, shown: str) -> None:
    attachment_id = desk.add("attachment", content_type=content_type)
    message_id = desk.add("message", channel_id=desk.add("channel"), attachment_ids=[attachment_id])
    assert desk.get(f"/messages/{message_id}").data["attachments"][0]["type"] == shown


def test_sender_type_and_name_may_be_empty_texts(desk: Desk) -> None:
    message_id = desk.add(
        "message", channel_id=desk.add("channel"), sender_id=SERVICE_SENDER_ID, sender_type="", sender_name=""
    )
    shown = desk.get(f"/messages/{message_id}").data
    assert (shown["sender_id"], shown["sender_type"], shown["sender_name"]) == (SERVICE_SENDER_ID, "", "")


def test_content_comes_back_to_the_character(desk: Desk) -> None:
    content = '한국어 "quoted" \\ </script> \t\n\u2028 é é 👩‍👩‍👧 \x7f'
    message_id = desk.add("message", channel_id=desk.add("channel"), content=content)
    assert desk.get(f"/messages/{message_id}").data["content"] == content


def test_an_attachment_has_exactly_the_keys_of_the_specification(desk: Desk) -> None:
    attachment_id = desk.add("attachment", filename="a.pdf", size_bytes=7, created_at=at(-9))
    shown = desk.get(f"/attachments/{attachment_id}").data
    assert set(shown) == {
        *("id", "filename", "content_type", "size_bytes", "url", "url_expires_at", "created_at"),
    }
    assert shown["url_expires_at"] == at(300)
    assert (shown["size_bytes"], shown["created_at"]) == (7, at(-9))


def test_a_template_macro_without_text_has_an_empty_content_and_a_workflow_macro_none(desk: Desk) -> None:
    desk.add("macro", action_type="template", content=None)
    desk.add("macro", action_type="workflow", content="left over")
    workflow, template = desk.get("/macros").data
    assert template["content"] == ""
    assert "content" not in workflow


def test_the_team_of_a_macro_is_shown_for_the_team_scope_only(desk: Desk) -> None:
    team_id = desk.add("team")
    desk.add("macro", scope="workspace", team_id=team_id)
    desk.add("macro", scope="team", team_id=team_id)
    of_team, of_workspace = desk.get("/macros").data
    assert of_team["team_id"] == team_id
    assert "team_id" not in of_workspace


def test_macros_are_not_ordered_by_sort_order(desk: Desk) -> None:
    made = [desk.add("macro", sort_order=order) for order in (1, 3, 2)]
    assert desk.get("/macros").ids == made[::-1]


@pytest.mark.parametrize("provider", ["web", "email"])
def test_providers_without_an_inbound_path_show_no_webhook_url(desk: Desk, provider: str) -> None:
    desk.add("integration", provider=provider, webhook_url="https://example.com/in", icon_url="i")
    (shown,) = desk.get("/inbound-webhook-configs").data
    assert "webhook_url" not in shown
    assert shown["icon_url"] == "i"


def test_integrations_and_inbound_configs_are_the_same_rows(filled: Filled) -> None:
    assert filled.desk.get("/integrations").ids == filled.desk.get("/inbound-webhook-configs").ids


@pytest.mark.parametrize("status", ["ringing", "in_progress"])
def test_a_running_call_shows_no_duration_and_no_end(desk: Desk, status: str) -> None:
    desk.add("voice_call", status=status, duration_seconds=5, ended_at=at(-1))
    (shown,) = desk.get("/voice/calls").data
    assert not {"duration_seconds", "ended_at"} & shown.keys()


@pytest.mark.parametrize("status", ["completed", "missed", "failed", "dropped"])
@pytest.mark.parametrize("duration", [0, 7])
def test_an_ended_call_shows_its_duration_zero_too(desk: Desk, status: str, duration: int) -> None:
    desk.add("voice_call", status=status, duration_seconds=duration, ended_at=at(-1))
    (shown,) = desk.get("/voice/calls").data
    assert (shown["duration_seconds"], shown["ended_at"]) == (duration, at(-1))


def test_a_call_shows_its_channel_and_contact_while_they_are_there(desk: Desk) -> None:
    contact_id = desk.add("contact")
    kept, deleted = desk.add("channel"), desk.add("channel", deleted=True)
    desk.add("voice_call", channel_id=kept, contact_id=contact_id)
    desk.add("voice_call", channel_id=deleted, contact_id=new_id())
    without, with_both = desk.get("/voice/calls").data
    assert (with_both["channel_id"], with_both["contact_id"]) == (kept, contact_id)
    assert not {"channel_id", "contact_id"} & without.keys()


def test_the_ai_agent_has_the_id_of_its_workspace_and_there_is_never_more(desk: Desk) -> None:
    desk.add("ai_agent", enabled=True, failover_timeout=10)
    answer = desk.get("/ai-agents", "limit=1")
    assert answer.ids == [desk.workspace_id]
    assert answer.json["meta"] == {"has_more": False}


def test_the_failover_timeout_of_an_unset_ai_agent_is_zero(desk: Desk) -> None:
    desk.add("ai_agent")
    (shown,) = desk.get("/ai-agents").data
    assert (shown["enabled"], shown["failover_timeout"]) == (False, 0)


def test_hours_that_were_never_configured_are_null(desk: Desk) -> None:
    answer = desk.get("/hours")
    assert answer.body == b'{"success":true,"data":{"business_hours":null}}'


@pytest.mark.parametrize(
    "config",
    [
        b'{ "timezone" : "Asia/Seoul",\t "schedule":[{"day":0,"is_open":false,"ranges":[]}],"holidays":[] }',
        b'{"enabled":true,"timezone":"UTC","x":1.50,"y":1e3,"k":"\\u00e9\\/","k":"twice"}',
        b"{}",
        b"null",
    ],
)
def test_hours_are_passed_through_byte_for_byte(desk: Desk, config: bytes) -> None:
    desk.put({"kind": "business_hours", "config": msgspec.Raw(config)})
    answer = desk.get("/hours")
    assert answer.body == b'{"success":true,"data":{"business_hours":' + config + b"}}"
    assert json.loads(answer.body)["data"]["business_hours"] == json.loads(config)


@pytest.mark.parametrize(
    "code", ["T1", "T2", "T3", "T4", "T7", "T8", "T9", "T_IVR", "another code that is not shown"]
)
def test_a_workflow_shows_its_trigger_code_whatever_it_is(desk: Desk, code: str) -> None:
    desk.add("workflow", trigger_type=code, is_active=False)
    (shown,) = desk.get("/workflows").data
    assert (shown["trigger_type"], shown["is_active"]) == (code, False)
