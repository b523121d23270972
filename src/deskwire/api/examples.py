"""True examples of everything the API shows, made by what shows it, so that they cannot drift."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import structs

from deskwire.api.bodies import (
    Acting,
    Assignment,
    Body,
    ChannelTagsBody,
    ContactChanges,
    ContactTags,
    NewContact,
    ReadMark,
    ReplyBody,
    SmsConsent,
    WebhookBody,
    WebhookChanges,
)
from deskwire.api.endpoint import Endpoint
from deskwire.api.envelope import Details, Failure, FailureEnvelope
from deskwire.api.parameters import (
    ContactQuery,
    LimitQuery,
    LogQuery,
    MessageQuery,
    Query,
    RemovedChannelTagsQuery,
    RemovedTagsQuery,
    SearchQuery,
)
from deskwire.model.channels import ChannelTagRecord, show_channel, show_channel_tag
from deskwire.model.connections import (
    AiAgentRecord,
    BusinessHours,
    IntegrationRecord,
    VoiceCallRecord,
    WorkflowRecord,
    show_ai_agent,
    show_inbound_webhook_config,
    show_integration,
    show_voice_call,
    show_workflow,
)
from deskwire.model.contacts import ContactTagRecord, show_contact, show_contact_tag
from deskwire.model.errors import Problem
from deskwire.model.example_records import (
    ATTACHMENT,
    CHANNEL,
    CLOSED_CHANNEL,
    CONTACT,
    MEMBER,
    MESSAGE,
    NEW_CONTACT,
    TRIED_AT,
    WORKSPACE,
    at,
)
from deskwire.model.hours import BusinessHoursConfig, CustomHoliday, OpeningTimes, Weekday
from deskwire.model.limits import ATTACHMENT_URL_LIFETIME_S
from deskwire.model.messages import Attachment, SentMessage, show_message
from deskwire.model.moments import Moment
from deskwire.model.people import (
    TeamRecord,
    show_member,
    show_team,
    show_workspace,
)
from deskwire.model.search import SearchResult
from deskwire.model.webhooks import (
    DeliveryLogEntry,
    DeliveryLogs,
    NewWebhook,
    RotatedSecret,
    Toggled,
    WebhookRecord,
    show_webhook,
)
from deskwire.model.work import (
    CampaignRecord,
    MacroRecord,
    TaskRecord,
    show_campaign,
    show_macro,
    show_task,
)
from deskwire.store.records import ENCODER

CURSOR: Final = "AAZWvZkGgkABlTC4Ii58l7QZ4wRkUnCOAAZWw8ZQLUCZjF0mP4uYxI1w2K3gS7hT"

TEAM = TeamRecord(
    id="0194a2f9-07d4-7c62-9e5b-83a1b64fd210",
    name="Workshop",
    description="Repairs, spare parts and warranty.",
    created_at=at("2025-01-26T09:23:35.112480Z"),
)
CONTACT_TAG = ContactTagRecord(
    id="0194a301-6bf8-7d35-8a90-47c1e2d95f6b",
    name="vip",
    color="#b45309",
    usage_count=37,
    created_at=at("2025-01-26T09:32:44.024113Z"),
)
CHANNEL_TAG = ChannelTagRecord(
    id="0194a305-c8e2-7140-b7d3-90f5a61be84c",
    name="refund",
    color="#0f766e",
    created_at=at("2025-01-26T09:37:31.938552Z"),
)
REPLY = SentMessage(
    id="019565bb-6de0-7d5b-a409-37c8e2f16b0d",
    channel_id=CHANNEL.id,
    sender_id=MEMBER.id,
    sender_type="member",
    sender_name=MEMBER.name,
    content_type="text",
    content="Your refund was sent today. It arrives within three working days.",
    is_edited=False,
    created_at=TRIED_AT,
    updated_at=TRIED_AT,
    client_request_id="refund-20260305-1",
    deduplicated=False,
)
TASK = TaskRecord(
    id="019565c0-e5a8-7b3f-94d7-2f61c08ba95d",
    team_id=TEAM.id,
    title="Check whether the refund was sent",
    description="Order 20260219, paid by card.",
    channel_id=CHANNEL.id,
    status="in_progress",
    assignee_id=MEMBER.id,
    created_at=at("2026-03-05T09:50:43.880310Z"),
    updated_at=at("2026-03-05T10:02:05.117624Z"),
)
CAMPAIGN = CampaignRecord(
    id="01952f1d-80b6-7e24-b5a9-c37f4e0d6812",
    name="Spring inspection",
    status="completed",
    campaign_type="email",
    trigger_type="scheduled",
    scheduled_at=at("2026-02-24T08:00:00Z"),
    started_at=at("2026-02-24T08:00:03.512008Z"),
    completed_at=at("2026-02-24T08:11:47.094512Z"),
    sent_count=1_284,
    failed_count=9,
    created_at=at("2026-02-22T14:34:09.270045Z"),
    updated_at=at("2026-02-24T08:11:47.094512Z"),
)
MACRO = MacroRecord(
    id="0194a316-f90d-7c8b-86e1-d2054b7fa3c9",
    name="Refund is on its way",
    content="Hello {{contact.name}}, your refund was sent today. It arrives within three working days.",
    scope="team",
    team_id=TEAM.id,
    sort_order=20,
    created_at=at("2025-01-26T09:56:18.701993Z"),
)
INTEGRATION = IntegrationRecord(
    id="0194a31c-4e72-7d96-a0f8-5c9b3e17d04f",
    provider="messenger_a",
    name="Lindenhof on Messenger A",
    status="active",
    webhook_url="https://desk.lindenhof.example/inbound/messenger_a/0194a31c",
    icon_url="https://cdn.lindenhof.example/icons/messenger_a.svg",
    created_at=at("2025-01-26T10:02:08.114560Z"),
)
WORKFLOW = WorkflowRecord(
    id="0194a327-d18f-7059-b3c4-7e0a92f6d58b",
    name="Greet and ask for the order number",
    is_active=True,
    trigger_type="T1",
    created_at=at("2025-01-26T10:14:43.471206Z"),
)
AI_AGENT = AiAgentRecord(
    id=WORKSPACE.id,
    enabled=True,
    failover_timeout=90,
    created_at=at("2025-01-26T10:20:11.650027Z"),
)
VOICE_CALL = VoiceCallRecord(
    id="01956530-9c1e-7ba4-8f73-a4d60e258bc1",
    channel_id=CHANNEL.id,
    contact_id=CONTACT.id,
    direction="inbound",
    status="completed",
    duration_seconds=312,
    started_at=at("2026-03-05T07:13:09.822000Z"),
    ended_at=at("2026-03-05T07:18:35.140000Z"),
    created_at=at("2026-03-05T07:13:09.822000Z"),
)
LINKED_ATTACHMENT = Attachment(
    id=ATTACHMENT.id,
    filename=ATTACHMENT.filename,
    content_type=ATTACHMENT.content_type,
    size_bytes=ATTACHMENT.size_bytes,
    url=f"https://desk.lindenhof.example/files/{ATTACHMENT.id}?expires=1772704200&signature=3mXo8Jr1vUq",
    url_expires_at=Moment(at("2026-03-05T09:45:00Z") + ATTACHMENT_URL_LIFETIME_S * 1_000_000),
    created_at=ATTACHMENT.created_at,
)
SEARCH_RESULT = SearchResult(
    message_id=MESSAGE.id,
    channel_id=CHANNEL.id,
    contact_id=CONTACT.id,
    sender_type=MESSAGE.sender_type,
    sender_name=MESSAGE.sender_name,
    content_type=MESSAGE.content_type,
    snippet="When will the <em>refund</em> for my order arrive? The receipt is attached.",
    created_at=MESSAGE.created_at,
)
HOURS = BusinessHoursConfig(
    timezone="Europe/Berlin",
    schedule=[
        Weekday(day=0, is_open=False, ranges=[]),
        *(Weekday(day=day, is_open=True, ranges=[OpeningTimes("09:00", "18:00")]) for day in range(1, 6)),
        Weekday(day=6, is_open=True, ranges=[OpeningTimes("10:00", "14:00")]),
    ],
    holidays=["2026-05-01", "2026-12-25"],
    custom_holidays=[
        CustomHoliday(
            id="6f1f4c1e-93a5-4c58-b0f2-4f0a1d8f7e21",
            name="Stocktaking",
            start_date="2026-07-01",
            end_date="2026-07-02",
            closed=False,
            open_time="10:00",
            close_time="14:00",
        )
    ],
)
WEBHOOK = WebhookRecord(
    id="01956590-4f0c-7b62-8d1e-a3c97e50b284",
    name="Order desk",
    url="https://hooks.lindenhof.example/deskwire",
    event_filters=("message.created", "channel.closed"),
    secret=b"",
    failure_count=1,
    last_delivered_at=at("2026-03-05T09:41:12.402518Z"),
    error_message="the receiver answered 503",
    last_log_id=2,
    created_at=at("2026-03-05T08:55:06.188073Z"),
    updated_at=at("2026-03-05T08:55:06.188073Z"),
)
NEW_WEBHOOK = NewWebhook(
    id="019565bb-6de0-7e92-b6c1-4d70f83a2e59",
    name="Warehouse",
    url="https://hooks.lindenhof.example/warehouse",
    event_filters=["contact.created"],
    status="active",
    failure_count=0,
    created_at=TRIED_AT,
    updated_at=TRIED_AT,
    secret="c0a1b7d94e5f62830f1e2d3c4b5a69788796a5b4c3d2e1f00112233445566778",
)
DELIVERY_LOG = (
    DeliveryLogEntry(
        id=2,
        webhook_id=WEBHOOK.id,
        event_type="channel.closed",
        success=False,
        http_status=503,
        error_message="the receiver answered 503",
        duration_ms=87,
        created_at=at("2026-03-05T09:44:31.720964Z"),
    ),
    DeliveryLogEntry(
        id=1,
        webhook_id=WEBHOOK.id,
        event_type="message.created",
        success=True,
        http_status=204,
        duration_ms=41,
        created_at=at("2026-03-05T09:41:12.402518Z"),
    ),
)
FAILURE = Failure(
    "INVALID_QUERY",
    "limit must be a whole number from 1 to 100.",
    Details([Problem("limit", "must be a whole number from 1 to 100")]),
)

SHOWN: tuple[msgspec.Struct, ...] = (
    show_workspace(WORKSPACE),
    show_member(MEMBER),
    show_team(TEAM),
    show_contact(CONTACT),
    show_contact_tag(CONTACT_TAG),
    show_channel(CHANNEL),
    show_channel_tag(CHANNEL_TAG),
    show_message(MESSAGE),
    REPLY,
    ATTACHMENT.reference(),
    LINKED_ATTACHMENT,
    show_task(TASK),
    show_campaign(CAMPAIGN),
    show_macro(MACRO),
    show_integration(INTEGRATION),
    show_inbound_webhook_config(INTEGRATION),
    show_workflow(WORKFLOW),
    show_ai_agent(AI_AGENT),
    show_voice_call(VOICE_CALL),
    SEARCH_RESULT,
    show_webhook(WEBHOOK),
    NEW_WEBHOOK,
    RotatedSecret(id=WEBHOOK.id, secret=NEW_WEBHOOK.secret),
    Toggled(id=WEBHOOK.id, status="inactive", failure_count=WEBHOOK.failure_count),
    DELIVERY_LOG[0],
    DeliveryLogs(items=list(DELIVERY_LOG), total=len(DELIVERY_LOG), has_more=False),
    BusinessHours(business_hours=HOURS),
    HOURS,
    Weekday(day=1, is_open=True, ranges=[OpeningTimes("09:00", "18:00")]),
    OpeningTimes("09:00", "18:00"),
    CustomHoliday(
        id="0d5e8a37-2b9c-4f64-8e13-c7a90b6d52f8",
        name="Company outing",
        start_date="2026-08-21",
        end_date="2026-08-21",
        closed=True,
    ),
    FailureEnvelope(False, FAILURE),
    FAILURE,
    Details([Problem("limit", "must be a whole number from 1 to 100")]),
    Problem("limit", "must be a whole number from 1 to 100"),
)

# What each type looks like in JSON; the names of tags are the one thing shown that is no object.
EXAMPLES: Mapping[type, Any] = {type(one): msgspec.json.decode(ENCODER.encode(one)) for one in SHOWN} | {
    str: CONTACT.tags[0]
}

# One id of each thing that a path can name.
IDS: Mapping[str, str] = {
    "attachment": ATTACHMENT.id,
    "campaign": CAMPAIGN.id,
    "channel": CHANNEL.id,
    "contact": CONTACT.id,
    "member": MEMBER.id,
    "message": MESSAGE.id,
    "task": TASK.id,
    "team": TEAM.id,
    "webhook": WEBHOOK.id,
}

Example = str | int | list[str]

# Values with which a request can be tried out at once.
PARAMETERS: Mapping[type[Query], Mapping[str, Example]] = {
    LimitQuery: {"limit": 20},
    LogQuery: {"offset": 0},
    ContactQuery: {"q": "park"},
    MessageQuery: {
        "since": "2026-03-01T00:00:00Z",
        "until": "2026-03-08T00:00:00Z",
    },
    SearchQuery: {"q": "refund", "limit": 20},
    RemovedTagsQuery: {"name": ["wholesale", "trade fair, spring"]},
    RemovedChannelTagsQuery: {"name": ["waiting"], "actor_member_id": MEMBER.id},
}

BODIES: tuple[Body, ...] = (
    NewContact(
        external_id=NEW_CONTACT.external_id or "", email=NEW_CONTACT.email or "", name=NEW_CONTACT.name or ""
    ),
    ContactChanges(phone=CONTACT.phone, name=CONTACT.name),
    ContactTags(tags=CONTACT.tags),
    SmsConsent(opted_in=False, reason="Answered STOP."),
    ReplyBody(
        content_type="text",
        content=REPLY.content,
        sender_member_id=MEMBER.id,
        client_request_id=REPLY.client_request_id,
    ),
    ReadMark(actor_member_id=MEMBER.id, message_id=MESSAGE.id),
    Acting(actor_member_id=MEMBER.id),
    Assignment(actor_member_id=MEMBER.id, member_id=MEMBER.id),
    ChannelTagsBody(actor_member_id=MEMBER.id, tags=CHANNEL.tags, tag_ids=[CHANNEL_TAG.id]),
    WebhookBody(name=NEW_WEBHOOK.name, url=NEW_WEBHOOK.url, event_filters=list(NEW_WEBHOOK.event_filters)),
    WebhookChanges(event_filters=[]),
)

# What an operation answers where that is not the usual example of what it shows.
ANSWERS: Mapping[tuple[str, str, int], msgspec.Struct] = {
    ("POST", "/contacts", 201): show_contact(NEW_CONTACT),
    ("PATCH", "/outbound-webhooks/{id}", 200): show_webhook(
        structs.replace(WEBHOOK, event_filters=(), updated_at=TRIED_AT)
    ),
    ("POST", "/channels/{id}/close", 200): show_channel(CLOSED_CHANNEL),
    ("POST", "/channels/{id}/messages", 200): structs.replace(REPLY, deduplicated=True),
}


def body_of(body: type[Body]) -> Any:
    """The example of what a write takes."""
    return msgspec.to_builtins(next(one for one in BODIES if type(one) is body))


def answer_of(endpoint: Endpoint, status: int) -> Any:
    """The example of what an operation shows."""
    assert endpoint.shows is not None
    found = ANSWERS.get((endpoint.method, endpoint.path, status))
    return EXAMPLES[endpoint.shows] if found is None else msgspec.json.decode(ENCODER.encode(found))


def parameters_of(query: type[Query]) -> dict[str, Example]:
    """The examples of a query's parameters, inherited ones included."""
    found: dict[str, Example] = {}
    for declared in reversed(query.__mro__):
        found |= PARAMETERS.get(declared, {})
    return found
