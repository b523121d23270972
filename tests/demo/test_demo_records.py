"""The demo's records: complete, consistent, and the same for the same moment."""

import re
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import msgspec
import pytest

from deskwire import demo

Record = dict[str, object]
Demo = dict[str, list[Record]]

NOW = datetime(2026, 3, 14, 15, 9, 26, 535897, UTC)
SERVICE_ID = "00000000-0000-0000-0000-000000000002"
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
MAY_LIE_AHEAD = ("scheduled_at", "snoozed_until")

# kind: (always there, omitted when empty)
FIELDS = {
    "workspace": ("name created_at", ""),
    "member": ("id email name role status created_at updated_at", "avatar_url last_login_at active"),
    "team": ("id name created_at updated_at member_ids", "description active"),
    "contact": (
        "id is_member tags created_at updated_at",
        "external_id email phone name avatar_url last_seen_at former_external_ids",
    ),
    "contact_tag": ("id name created_at updated_at", "color"),
    "channel_tag": ("id name created_at updated_at", "color"),
    "channel": (
        "id type provider status tags created_at updated_at",
        "name description contact_id assigned_member_id assigned_type snoozed_until deleted",
    ),
    "message": (
        "id channel_id sender_id sender_type sender_name content_type content is_edited"
        " created_at updated_at",
        "attachment_ids deleted internal_note",
    ),
    "attachment": ("id filename content_type size_bytes created_at status", "file"),
    "task": (
        "id title status created_at updated_at",
        "team_id description channel_id assignee_id deleted",
    ),
    "campaign": (
        "id name status campaign_type trigger_type sent_count failed_count created_at updated_at",
        "scheduled_at started_at completed_at deleted",
    ),
    "macro": (
        "id name scope action_type sort_order created_at updated_at",
        "content team_id deleted",
    ),
    "integration": ("id provider name status created_at updated_at", "webhook_url icon_url"),
    "business_hours": ("config", ""),
    "workflow": ("id name is_active created_at trigger_type", ""),
    "ai_agent": ("enabled failover_timeout created_at updated_at", ""),
    "voice_call": (
        "id direction status started_at created_at",
        "channel_id contact_id duration_seconds ended_at",
    ),
}

MESSENGERS = "messenger_a messenger_b messenger_c messenger_d messenger_e"
VALUES = {
    ("member", "role"): "owner admin agent viewer",
    ("member", "status"): "active away vacation off_duty",
    ("channel", "type"): "user_chat team direct group",
    ("channel", "provider"): f"native web email sms voice {MESSENGERS}",
    ("channel", "status"): "open snoozed closed",
    ("channel", "assigned_type"): "ai human workflow -",
    ("message", "sender_type"): "member contact system bot internal workflow external integration -",
    ("message", "content_type"): (
        "text markdown image file card button email video audio system blocks sticker location"
    ),
    ("attachment", "status"): "ready pending failed",
    ("task", "status"): "open in_progress completed",
    ("campaign", "status"): "draft scheduled sending completed canceled",
    ("campaign", "campaign_type"): "popup chat email",
    ("campaign", "trigger_type"): "immediate scheduled event",
    ("macro", "scope"): "workspace team",
    ("macro", "action_type"): "template workflow",
    ("integration", "provider"): f"web sms email {MESSENGERS}",
    ("integration", "status"): "active inactive error pending awaiting_setup awaiting_activation",
    ("workflow", "trigger_type"): "T1 T2 T3 T4 T7 T8 T9 T_IVR",
    ("voice_call", "direction"): "inbound outbound widget_inbound",
    ("voice_call", "status"): "ringing in_progress completed missed failed dropped",
}

SIZES = {
    "workspace": (1, 1),
    "business_hours": (1, 1),
    "ai_agent": (1, 1),
    "member": (14, 14),
    "team": (5, 5),
    "contact": (420, 420),
    "channel": (680, 720),
    "message": (5_500, 7_000),
    "attachment": (35, 50),
    "channel_tag": (18, 18),
    "contact_tag": (15, 15),
    "task": (60, 60),
    "campaign": (20, 20),
    "macro": (25, 25),
    "workflow": (8, 8),
    "voice_call": (60, 60),
    "integration": (8, 16),
}

REFERENCES = {
    ("message", "channel_id"): "channel",
    ("message", "attachment_ids"): "attachment",
    ("channel", "contact_id"): "contact",
    ("channel", "assigned_member_id"): "member",
    ("team", "member_ids"): "member",
    ("task", "team_id"): "team",
    ("task", "channel_id"): "channel",
    ("task", "assignee_id"): "member",
    ("macro", "team_id"): "team",
    ("voice_call", "channel_id"): "channel",
    ("voice_call", "contact_id"): "contact",
}


@pytest.fixture(scope="module")
def shop() -> Demo:
    return grouped(NOW)


def grouped(now: datetime) -> Demo:
    kinds = defaultdict(list)
    for record in demo.records(now):
        kinds[str(record["kind"])].append(record)
    return kinds


def test_the_same_moment_gives_the_same_records() -> None:
    assert list(demo.records(NOW)) == list(demo.records(NOW))


def test_the_time_zone_of_the_moment_does_not_matter() -> None:
    there = datetime.fromisoformat("2026-03-15T00:09:26.535897+09:00")
    assert list(demo.records(there)) == list(demo.records(NOW))


def test_another_moment_moves_the_times_and_keeps_the_content(shop: Demo) -> None:
    later = grouped(NOW + timedelta(days=500))
    assert [contact.get("email") for contact in later["contact"]] == [
        contact.get("email") for contact in shop["contact"]
    ]
    assert len(later["message"]) == len(shop["message"])
    assert later["message"][0]["created_at"] != shop["message"][0]["created_at"]


def test_the_kind_is_the_first_key(shop: Demo) -> None:
    assert all(next(iter(record)) == "kind" for records in shop.values() for record in records)


def test_each_kind_has_its_size(shop: Demo) -> None:
    assert shop.keys() == SIZES.keys()
    for kind, (least, most) in SIZES.items():
        assert least <= len(shop[kind]) <= most, kind


@pytest.mark.parametrize("kind", FIELDS)
def test_a_record_has_the_fields_of_its_kind_and_no_others(shop: Demo, kind: str) -> None:
    always, sometimes = (set(names.split()) for names in FIELDS[kind])
    for record in shop[kind]:
        assert always <= record.keys() - {"kind"} <= always | sometimes


@pytest.mark.parametrize("kind", FIELDS)
def test_every_optional_field_is_there_on_some_records_and_not_on_others(shop: Demo, kind: str) -> None:
    for name in FIELDS[kind][1].split():
        assert 0 < sum(name in record for record in shop[kind]) < len(shop[kind]), name


def test_nothing_is_null_and_only_named_fields_may_be_empty(shop: Demo) -> None:
    may_be_empty = {
        ("message", "sender_type"),
        ("message", "sender_name"),
        ("macro", "content"),
        ("channel", "tags"),
        ("contact", "tags"),
    }
    for kind, records in shop.items():
        for record in records:
            for name, value in record.items():
                assert value is not None
                assert (value != "" and value != []) or (kind, name) in may_be_empty, (kind, name)


@pytest.mark.parametrize(("kind", "name"), VALUES)
def test_every_value_of_an_enumeration_occurs_and_no_other(shop: Demo, kind: str, name: str) -> None:
    assert {record.get(name) or "-" for record in shop[kind]} == set(VALUES[kind, name].split())


@pytest.mark.parametrize(("kind", "name"), REFERENCES)
def test_what_a_record_refers_to_exists(shop: Demo, kind: str, name: str) -> None:
    known = {record["id"] for record in shop[REFERENCES[kind, name]]}
    for record in shop[kind]:
        value = record.get(name, [])
        assert set(value if isinstance(value, list) else [value]) <= known


def test_ids_are_unique_lower_case_uuids_of_version_4_or_7(shop: Demo) -> None:
    ids = [str(record["id"]) for records in shop.values() for record in records if "id" in record]
    assert len(ids) == len(set(ids))
    for each in ids:
        parsed = UUID(each)
        assert str(parsed) == each
        assert parsed.version == 4 or each[14] == "7"
        assert each[19] in "89ab"


def test_senders_exist_and_bear_their_names(shop: Demo) -> None:
    names: dict[object, object] = {member["id"]: member["name"] for member in shop["member"]}
    names |= {workflow["id"]: workflow["name"] for workflow in shop["workflow"]}
    names |= {contact["id"]: display_name(contact) for contact in shop["contact"]}
    for message in shop["message"]:
        match message["sender_type"]:
            case "member" | "internal" | "contact" | "workflow":
                assert message["sender_name"] == names[message["sender_id"]]
            case "bot" | "system" | "":
                assert message["sender_id"] == SERVICE_ID
            case "integration":
                assert re.fullmatch(r"dwp_[A-Za-z0-9]{8}", str(message["sender_name"]))


def display_name(contact: Record) -> object:
    return contact.get("name") or contact.get("email") or contact.get("phone") or "Anonymous"


def test_messages_of_a_channel_come_from_its_own_contact(shop: Demo) -> None:
    contact_ids = {channel["id"]: channel.get("contact_id") for channel in shop["channel"]}
    for message in shop["message"]:
        if message["sender_type"] == "contact":
            assert message["sender_id"] == contact_ids[message["channel_id"]]


def test_viewers_send_nothing(shop: Demo) -> None:
    viewers = {member["id"] for member in shop["member"] if member["role"] == "viewer"}
    assert viewers
    assert not any(message["sender_id"] in viewers for message in shop["message"])


def test_who_is_assigned_is_active(shop: Demo) -> None:
    inactive = {member["id"] for member in shop["member"] if member.get("active") is False}
    assert inactive
    assigned = {channel.get("assigned_member_id") for channel in shop["channel"]}
    assigned |= {task.get("assignee_id") for task in shop["task"]}
    assert not assigned & inactive


def test_a_human_assignment_names_the_member_and_no_other_does(shop: Demo) -> None:
    for channel in shop["channel"]:
        assert ("assigned_member_id" in channel) == (channel.get("assigned_type") == "human")


def test_a_closed_channel_has_no_assignment(shop: Demo) -> None:
    closed = [channel for channel in shop["channel"] if channel["status"] == "closed"]
    assert closed
    assert not any("assigned_type" in channel for channel in closed)


def test_a_snoozed_channel_says_until_when_and_no_other_does(shop: Demo) -> None:
    for channel in shop["channel"]:
        assert ("snoozed_until" in channel) == (channel["status"] == "snoozed")
        assert moment(channel.get("snoozed_until", "9999-01-01T00:00:00.000000Z")) > NOW


def test_a_channel_has_a_message_and_every_message_a_live_place_in_time(shop: Demo) -> None:
    spoken = defaultdict(list)
    for message in shop["message"]:
        spoken[message["channel_id"]].append(str(message["created_at"]))
    for channel in shop["channel"]:
        moments = spoken[channel["id"]]
        assert moments == sorted(moments)
        assert str(channel["created_at"]) <= moments[0]
        assert moments[-1] <= str(channel["updated_at"])


def test_nobody_speaks_before_being_there(shop: Demo) -> None:
    joined = {record["id"]: record["created_at"] for kind in ("member", "contact") for record in shop[kind]}
    for message in shop["message"]:
        if message["sender_id"] in joined:
            assert str(joined[message["sender_id"]]) < str(message["created_at"])


def test_one_channel_fills_several_pages_within_30_days(shop: Demo) -> None:
    since = NOW - timedelta(days=30)
    recent: dict[object, int] = defaultdict(int)
    for message in shop["message"]:
        recent[message["channel_id"]] += moment(message["created_at"]) > since
    assert max(recent.values()) > 100


def test_timestamps_have_microseconds_and_lie_in_the_past(shop: Demo) -> None:
    for records in shop.values():
        for record in records:
            for name, value in record.items():
                if name.endswith("_at") or name == "snoozed_until":
                    assert TIMESTAMP.fullmatch(str(value)), name
                    assert name in MAY_LIE_AHEAD or moment(value) <= NOW, name


def test_nothing_is_updated_before_it_is_created(shop: Demo) -> None:
    for records in shop.values():
        for record in records:
            if "updated_at" in record:
                assert moment(record["created_at"]) <= moment(record["updated_at"])


def test_nothing_is_older_than_the_workspace(shop: Demo) -> None:
    opened = moment(shop["workspace"][0]["created_at"])
    assert all(
        moment(record["created_at"]) >= opened
        for records in shop.values()
        for record in records
        if "created_at" in record
    )


def test_an_edited_message_was_updated_and_no_other(shop: Demo) -> None:
    for message in shop["message"]:
        assert message["is_edited"] == (message["updated_at"] != message["created_at"])


def test_the_times_of_a_campaign_follow_from_its_status(shop: Demo) -> None:
    for campaign in shop["campaign"]:
        times = {name for name in ("scheduled_at", "started_at", "completed_at") if name in campaign}
        planned = {"scheduled_at"} if campaign["trigger_type"] == "scheduled" else set()
        match campaign["status"]:
            case "draft":
                assert times == set()
            case "scheduled":
                assert times == planned == {"scheduled_at"}
                assert moment(campaign["scheduled_at"]) > NOW
            case "sending":
                assert times == planned | {"started_at"}
            case "completed":
                assert times == planned | {"started_at", "completed_at"}
                assert moment(campaign["started_at"]) < moment(campaign["completed_at"])
            case "canceled":
                assert times == planned
        assert bool(campaign["sent_count"]) == ("started_at" in times)


def test_a_call_ends_and_has_a_duration_unless_it_is_live(shop: Demo) -> None:
    for call in shop["voice_call"]:
        live = call["status"] in ("ringing", "in_progress")
        assert ("ended_at" in call) == ("duration_seconds" in call) == (not live)
        if not live:
            lasted = moment(call["ended_at"]) - moment(call["started_at"])
            assert timedelta(seconds=int(str(call["duration_seconds"]))) <= lasted
        if call["status"] == "failed":
            assert call["duration_seconds"] == 0


def test_a_call_does_not_point_into_a_deleted_channel(shop: Demo) -> None:
    deleted = {channel["id"] for channel in shop["channel"] if channel.get("deleted")}
    assert deleted
    assert not deleted & {call.get("channel_id") for call in shop["voice_call"]}


def test_macros_fit_their_scope_and_their_action(shop: Demo) -> None:
    for macro in shop["macro"]:
        assert ("team_id" in macro) == (macro["scope"] == "team")
        assert ("content" in macro) == (macro["action_type"] == "template")
    assert any(macro.get("content") == "" for macro in shop["macro"])


def test_only_providers_with_an_inbound_path_have_a_webhook_url(shop: Demo) -> None:
    for integration in shop["integration"]:
        assert "webhook_url" not in integration or integration["provider"] not in ("web", "email")


def test_business_hours_have_the_form_of_the_specification(shop: Demo) -> None:
    config = msgspec.convert(shop["business_hours"][0]["config"], BusinessHours)
    assert [weekday.day for weekday in config.schedule] == list(range(7))
    assert all(weekday.is_open == bool(weekday.ranges) for weekday in config.schedule)
    assert "24:00" in {one.close_time for weekday in config.schedule for one in weekday.ranges}
    assert config.holidays
    assert {holiday.closed for holiday in config.custom_holidays} == {True, False}
    for holiday in config.custom_holidays:
        assert holiday.id.version == 4
        assert len(holiday.name) <= 40
        assert holiday.start_date <= holiday.end_date
        assert holiday.closed == (holiday.open_time is None) == (holiday.close_time is None)


class Range(msgspec.Struct, forbid_unknown_fields=True):
    open_time: str
    close_time: str


class Weekday(msgspec.Struct, forbid_unknown_fields=True):
    day: int
    is_open: bool
    ranges: list[Range]


class CustomHoliday(msgspec.Struct, forbid_unknown_fields=True):
    id: UUID
    name: str
    start_date: date
    end_date: date
    closed: bool
    open_time: str | None = None
    close_time: str | None = None


class BusinessHours(msgspec.Struct, forbid_unknown_fields=True):
    timezone: str
    schedule: list[Weekday]
    holidays: list[date]
    custom_holidays: list[CustomHoliday]


def test_some_contacts_are_anonymous_and_names_fit(shop: Demo) -> None:
    assert any(display_name(contact) == "Anonymous" for contact in shop["contact"])
    assert {contact["is_member"] for contact in shop["contact"]} == {True, False}
    assert all(len(str(contact.get("name", ""))) <= 20 for contact in shop["contact"])


def test_external_ids_belong_to_one_contact_former_ones_included(shop: Demo) -> None:
    taken: list[object] = [contact["external_id"] for contact in shop["contact"] if "external_id" in contact]
    for contact in shop["contact"]:
        former = contact.get("former_external_ids", [])
        assert isinstance(former, list)
        taken += former
    assert len(taken) == len(set(taken))


def test_mail_addresses_lead_nowhere(shop: Demo) -> None:
    mails = [
        str(record["email"]) for kind in ("member", "contact") for record in shop[kind] if "email" in record
    ]
    assert len(mails) == len(set(mails))
    for mail in mails:
        assert re.fullmatch(r"[a-z0-9.]+@(example\.(com|org|net)|[a-z]+\.test)", mail), mail


def test_tag_catalogues_are_apart_and_hold_every_tag_in_use(shop: Demo) -> None:
    catalogues = {kind: {tag["name"] for tag in shop[f"{kind}_tag"]} for kind in ("channel", "contact")}
    assert not catalogues["channel"] & catalogues["contact"]
    for kind, names in catalogues.items():
        used = {name for record in shop[kind] for name in as_list(record["tags"])}
        assert used == names


def as_list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def test_no_slot_is_left_open_in_a_text(shop: Demo) -> None:
    texts = [message["content"] for message in shop["message"]]
    texts += [task[name] for task in shop["task"] for name in ("title", "description") if name in task]
    texts += [channel["name"] for channel in shop["channel"] if "name" in channel]
    assert not [text for text in texts if re.search(r"[{}]|  |None", str(text))]


@pytest.mark.parametrize(
    "word",
    [
        "tracking number",
        "Sendungsnummer",
        "étiquette",
        "devolución",
        "devolução",
        "배송",
        "注文",
        "订单",
        "الطلب",
        "🚲",
    ],
)
def test_a_search_finds_words_in_many_scripts(shop: Demo, word: str) -> None:
    assert sum(word.casefold() in str(message["content"]).casefold() for message in shop["message"]) >= 3


def test_conversations_are_varied(shop: Demo) -> None:
    contents = {message["content"] for message in shop["message"] if message["sender_type"] != "system"}
    assert len(contents) > 2_500


def moment(stamp: object) -> datetime:
    return datetime.fromisoformat(str(stamp))
