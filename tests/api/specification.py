"""The tables of the specification, copied by hand and knowing nothing of the code that is held to them."""

from typing import NamedTuple


class Row(NamedTuple):
    """An endpoint; `data` names a resource, with `[]` for an array and `page` where `meta` is beside it.

    `body` has the fields of its body, `!` after those that are required; `success` its statuses.
    """

    method: str
    path: str
    scopes: tuple[str, ...]
    query: tuple[str, ...] = ()
    data: str = ""
    body: str = ""
    success: tuple[int, ...] = (200,)


PAGE = ("limit", "cursor")

# "Read endpoints". The query of /search and the body of /messages/{id} are choices of this project.
READS = (
    Row("GET", "/workspace", ("workspaces:read",), (), "Workspace"),
    Row("GET", "/members", ("members:read",), PAGE, "Member[] page"),
    Row("GET", "/members/{id}", ("members:read",), (), "Member"),
    Row("GET", "/teams", ("teams:read",), PAGE, "Team[] page"),
    Row("GET", "/teams/{id}/members", ("teams:read",), PAGE, "Member[] page"),
    Row("GET", "/contacts", ("contacts:read",), (*PAGE, "q", "external_id"), "Contact[] page"),
    Row("GET", "/contacts/{id}", ("contacts:read",), (), "Contact"),
    Row("GET", "/contacts/{id}/tags", ("contacts:read",), (), "str[]"),
    Row("GET", "/contact-tags", ("contact-tags:read",), PAGE, "ContactTag[] page"),
    Row("GET", "/channel-tags", ("channel-tags:read",), PAGE, "ChannelTag[] page"),
    Row("GET", "/channels", ("channels:read",), (*PAGE, "tags", "tag_match"), "Channel[] page"),
    Row("GET", "/channels/{id}", ("channels:read",), (), "Channel"),
    Row(
        "GET",
        "/channels/{id}/messages",
        ("channels:read", "messages:read"),
        ("since", "until", *PAGE),
        "Message[] page",
    ),
    Row("GET", "/messages/{id}", ("messages:read",), (), "Message"),
    Row("GET", "/attachments/{id}", ("attachments:read", "messages:read"), (), "Attachment"),
    Row("GET", "/macros", ("macros:read",), PAGE, "Macro[] page"),
    Row("GET", "/hours", ("hours:read",), (), "BusinessHours"),
    Row("GET", "/integrations", ("integrations:read",), PAGE, "Integration[] page"),
    Row(
        "GET",
        "/inbound-webhook-configs",
        ("inbound-webhook-configs:read",),
        PAGE,
        "InboundWebhookConfig[] page",
    ),
    Row("GET", "/campaigns", ("campaigns:read",), PAGE, "Campaign[] page"),
    Row("GET", "/campaigns/{id}", ("campaigns:read",), (), "Campaign"),
    Row("GET", "/tasks", ("tasks:read",), PAGE, "Task[] page"),
    Row("GET", "/tasks/{id}", ("tasks:read",), (), "Task"),
    Row("GET", "/workflows", ("workflows:read",), (), "Workflow[]"),
    Row("GET", "/ai-agents", ("ai-agents:read",), ("limit",), "AiAgent[] page"),
    Row("GET", "/voice/calls", ("voice:read",), PAGE, "VoiceCall[] page"),
    Row("GET", "/search", ("search:read",), ("q", "limit"), "SearchResult[]"),
)

CONTACT_WRITES = (
    Row("POST", "/contacts", ("contacts:write",), (), "Contact", "external_id email phone name", (201,)),
    Row("PATCH", "/contacts/{id}", ("contacts:write",), (), "Contact", "email phone name"),
    Row("POST", "/contacts/{id}/tags", ("contacts:write",), (), "Contact", "tags!"),
    Row("DELETE", "/contacts/{id}/tags", ("contacts:write",), ("name",), "Contact"),
    Row("PUT", "/contacts/{id}/sms-consent", ("contacts:write",), (), "", "opted_in! reason", (204,)),
)

MESSAGING_WRITES = (
    Row(
        "POST",
        "/channels/{id}/messages",
        ("messages:write",),
        (),
        "SentMessage",
        "content_type! content! sender_member_id client_request_id",
        (200, 201),
    ),
    Row("POST", "/channels/{id}/read", ("channels:write",), (), "", "actor_member_id! message_id", (204,)),
    Row("POST", "/channels/{id}/close", ("channels:write",), (), "Channel", "actor_member_id!"),
    Row("POST", "/channels/{id}/reopen", ("channels:write",), (), "Channel", "actor_member_id!"),
    Row("POST", "/channels/{id}/assign", ("channels:write",), (), "Channel", "actor_member_id! member_id!"),
    Row("POST", "/channels/{id}/tags", ("channels:write",), (), "Channel", "actor_member_id! tags tag_ids"),
    Row("DELETE", "/channels/{id}/tags", ("channels:write",), ("actor_member_id", "name"), "Channel"),
)

OUTBOUND_WEBHOOK_READS = (
    Row("GET", "/outbound-webhooks", ("webhooks:read",), (), "Webhook[]"),
    Row("GET", "/outbound-webhooks/{id}", ("webhooks:read",), (), "Webhook"),
    Row(
        "GET",
        "/outbound-webhooks/{id}/delivery-logs",
        ("webhooks:read",),
        ("limit", "offset"),
        "DeliveryLogs",
    ),
)
OUTBOUND_WEBHOOK_WRITES = (
    Row(
        "POST",
        "/outbound-webhooks",
        ("webhooks:write",),
        (),
        "NewWebhook",
        "name! url! event_filters",
        (201,),
    ),
    Row("PATCH", "/outbound-webhooks/{id}", ("webhooks:write",), (), "Webhook", "name url event_filters"),
    Row("DELETE", "/outbound-webhooks/{id}", ("webhooks:write",), (), "", "", (204,)),
    Row("POST", "/outbound-webhooks/{id}/regenerate-secret", ("webhooks:write",), (), "RotatedSecret"),
    Row("POST", "/outbound-webhooks/{id}/toggle", ("webhooks:write",), (), "Toggled"),
)

ROWS = (*READS, *CONTACT_WRITES, *MESSAGING_WRITES, *OUTBOUND_WEBHOOK_READS, *OUTBOUND_WEBHOOK_WRITES)

# "Authentication": what each scope grants. An endpoint that needs two stands under both.
GRANTS = {
    "workspaces:read": ["GET /workspace"],
    "members:read": ["GET /members", "GET /members/{id}"],
    "teams:read": ["GET /teams", "GET /teams/{id}/members"],
    "contacts:read": ["GET /contacts", "GET /contacts/{id}", "GET /contacts/{id}/tags"],
    "contact-tags:read": ["GET /contact-tags"],
    "channel-tags:read": ["GET /channel-tags"],
    "channels:read": ["GET /channels", "GET /channels/{id}", "GET /channels/{id}/messages"],
    "messages:read": ["GET /channels/{id}/messages", "GET /messages/{id}", "GET /attachments/{id}"],
    "attachments:read": ["GET /attachments/{id}"],
    "macros:read": ["GET /macros"],
    "hours:read": ["GET /hours"],
    "integrations:read": ["GET /integrations"],
    "campaigns:read": ["GET /campaigns", "GET /campaigns/{id}"],
    "tasks:read": ["GET /tasks", "GET /tasks/{id}"],
    "search:read": ["GET /search"],
    "inbound-webhook-configs:read": ["GET /inbound-webhook-configs"],
    "workflows:read": ["GET /workflows"],
    "ai-agents:read": ["GET /ai-agents"],
    "voice:read": ["GET /voice/calls"],
    "messages:write": ["POST /channels/{id}/messages"],
    "channels:write": [
        "POST /channels/{id}/read",
        "POST /channels/{id}/close",
        "POST /channels/{id}/reopen",
        "POST /channels/{id}/assign",
        "POST /channels/{id}/tags",
        "DELETE /channels/{id}/tags",
    ],
    "contacts:write": [
        "POST /contacts",
        "PATCH /contacts/{id}",
        "POST /contacts/{id}/tags",
        "DELETE /contacts/{id}/tags",
        "PUT /contacts/{id}/sms-consent",
    ],
    "webhooks:read": [
        "GET /outbound-webhooks",
        "GET /outbound-webhooks/{id}",
        "GET /outbound-webhooks/{id}/delivery-logs",
    ],
    "webhooks:write": [
        "POST /outbound-webhooks",
        "PATCH /outbound-webhooks/{id}",
        "DELETE /outbound-webhooks/{id}",
        "POST /outbound-webhooks/{id}/regenerate-secret",
        "POST /outbound-webhooks/{id}/toggle",
    ],
}

WEBHOOK = (
    "id:uuid name:string url:string event_filters:enum[] status:enum failure_count:integer "
    "last_delivered_at?:time error_message?:string created_at:time updated_at:time"
)

# "Resources and their fields": each key with its type; `?` after a key that may be absent.
RESOURCES = {
    "Workspace": "id:uuid name:string created_at:time",
    "Contact": (
        "id:uuid external_id?:string email?:string phone?:string display_name:string avatar_url?:string "
        "is_member:boolean tags:string[] last_seen_at?:time created_at:time updated_at:time"
    ),
    "ContactTag": ("id:uuid name:string color?:string usage_count:integer created_at:time updated_at:time"),
    "Channel": (
        "id:uuid type:enum provider:enum status:enum name?:string description?:string contact_id?:uuid "
        "assigned_member_id?:string assigned_type?:enum tags:string[] last_message_at?:time "
        "snoozed_until?:time message_count:integer created_at:time updated_at:time"
    ),
    "ChannelTag": "id:uuid name:string color?:string created_at:time updated_at:time",
    "Message": (
        "id:string channel_id:uuid sender_id:string sender_type:enum sender_name:string content_type:enum "
        "content:string attachments?:AttachmentReference[] is_edited:boolean created_at:time updated_at:time"
    ),
    # "Present in the send response only." The request id is there when one was sent.
    "SentMessage": (
        "id:string channel_id:uuid sender_id:string sender_type:enum sender_name:string content_type:enum "
        "content:string attachments?:AttachmentReference[] is_edited:boolean created_at:time updated_at:time "
        "client_request_id?:string deduplicated:boolean"
    ),
    "AttachmentReference": "id:uuid type:enum filename:string",
    "Attachment": (
        "id:uuid filename:string content_type:string size_bytes:integer url:string url_expires_at:time "
        "created_at:time"
    ),
    "Member": (
        "id:uuid email:string name:string role:enum status:enum avatar_url?:string last_login_at?:time "
        "created_at:time updated_at:time"
    ),
    "Team": "id:uuid name:string description?:string created_at:time updated_at:time",
    "Task": (
        "id:uuid team_id?:uuid title:string description?:string channel_id?:uuid status:enum "
        "assignee_id?:uuid created_at:time updated_at:time"
    ),
    "Campaign": (
        "id:uuid name:string status:enum campaign_type:enum trigger_type:enum scheduled_at?:time "
        "started_at?:time completed_at?:time sent_count:integer failed_count:integer created_at:time "
        "updated_at:time"
    ),
    "Macro": (
        "id:uuid name:string content?:string scope:enum team_id?:uuid action_type:enum sort_order:integer "
        "created_at:time updated_at:time"
    ),
    "Integration": "id:uuid provider:enum name:string status:enum created_at:time updated_at:time",
    "InboundWebhookConfig": (
        "id:uuid name:string provider:enum status:enum webhook_url?:string icon_url?:string created_at:time "
        "updated_at:time"
    ),
    "BusinessHours": "business_hours:BusinessHoursConfig|null",
    "BusinessHoursConfig": (
        "timezone?:string schedule?:Weekday[] holidays?:date[] custom_holidays?:CustomHoliday[] "
        "enabled?:boolean"
    ),
    "Weekday": "day:integer is_open:boolean ranges:OpeningTimes[]",
    "OpeningTimes": "open_time:string close_time:string",
    "CustomHoliday": (
        "id:uuid name:string start_date:date end_date:date closed:boolean open_time?:string "
        "close_time?:string"
    ),
    "VoiceCall": (
        "id:uuid channel_id?:uuid contact_id?:uuid direction:enum status:enum duration_seconds?:integer "
        "started_at:time ended_at?:time created_at:time"
    ),
    "Workflow": "id:uuid name:string is_active:boolean created_at:time trigger_type:string",
    "AiAgent": "id:uuid enabled:boolean failover_timeout:integer created_at:time updated_at:time",
    "Webhook": WEBHOOK,
    # "Only in create and rotate responses."
    "NewWebhook": f"{WEBHOOK} secret:string",
    "RotatedSecret": "id:uuid secret:string",
    "Toggled": "id:uuid status:enum failure_count:integer",
    "DeliveryLogEntry": (
        "id:integer webhook_id:uuid event_type:string success:boolean http_status?:integer "
        "error_message?:string duration_ms:integer created_at:time"
    ),
    "DeliveryLogs": "items:DeliveryLogEntry[] total:integer has_more:boolean",
}

# "Search result record fields: not shown."
NOT_SHOWN = {"SearchResult"}

INTEGRATION_PROVIDERS = "web messenger_a messenger_b messenger_c messenger_d messenger_e sms email"
INTEGRATION_STATUSES = "active inactive error pending awaiting_setup awaiting_activation"

# An empty string too, for some messages that the system sends.
SENDER_TYPES = "member contact system bot internal workflow external integration ''"
CONTENT_TYPES = "text markdown image file card button email video audio system blocks sticker location"

ENUMERATIONS = {
    "Channel.type": "user_chat team direct group",
    "Channel.provider": (
        "native web messenger_a messenger_b email messenger_c messenger_d messenger_e sms voice"
    ),
    "Channel.status": "open snoozed closed",
    "Channel.assigned_type": "ai human workflow",
    "Message.sender_type": SENDER_TYPES,
    "Message.content_type": CONTENT_TYPES,
    "SentMessage.sender_type": SENDER_TYPES,
    "SentMessage.content_type": CONTENT_TYPES,
    "AttachmentReference.type": "image file video audio",
    "Member.role": "owner admin agent viewer",
    "Member.status": "active away vacation off_duty",
    "Task.status": "open in_progress completed",
    "Campaign.status": "draft scheduled sending completed canceled",
    "Campaign.campaign_type": "popup chat email",
    "Campaign.trigger_type": "immediate scheduled event",
    "Macro.scope": "workspace team",
    "Macro.action_type": "template workflow",
    "Integration.provider": INTEGRATION_PROVIDERS,
    "Integration.status": INTEGRATION_STATUSES,
    "InboundWebhookConfig.provider": INTEGRATION_PROVIDERS,
    "InboundWebhookConfig.status": INTEGRATION_STATUSES,
    "VoiceCall.direction": "inbound outbound widget_inbound",
    **{f"{name}.status": "active inactive error" for name in ("Webhook", "NewWebhook", "Toggled")},
    "VoiceCall.status": "ringing in_progress completed missed failed dropped",
}

# "Errors", where a code and its status are both stated.
STATUSES = {
    "INVALID_QUERY": 400,
    "INVALID_BODY": 400,
    "INVALID_INPUT": 400,
    "INSUFFICIENT_SCOPE": 403,
    "FORBIDDEN": 403,
    "NOT_FOUND": 404,
    "INTERNAL": 500,
}
# "Malformed id in campaign and member single reads."
INVALID_INPUT_PATHS = {"/campaigns/{id}", "/members/{id}"}

# "Limits", those that a request can meet.
LIMITS = {
    "PAGE_DEFAULT": 50,
    "PAGE_MAXIMUM": 100,
    "CURSOR_LIFETIME_US": 24 * 3600 * 1_000_000,
    "MESSAGE_WINDOW_DAYS": 30,
    "CONTACT_NAME_CHARACTERS": 20,
    "CONTACT_TAG_CHARACTERS": 50,
    "CONTACT_TAGS": 100,
    "REPLY_CHARACTERS": 2_000,
    "CLIENT_REQUEST_ID_CHARACTERS": 128,
    "SEARCH_MAXIMUM": 100,
    "ATTACHMENT_URL_LIFETIME_S": 300,
    "WEBHOOK_NAME_CHARACTERS": 255,
    "WEBHOOK_URL_CHARACTERS": 2_048,
    "WEBHOOK_FAILURES_TO_ERROR": 10,
    "CYCLE_ATTEMPTS": 3,
    "ATTEMPT_S": 10,
    "CYCLE_S": 20,
    "DELIVERY_HORIZON_US": 24 * 3600 * 1_000_000,
    "DUPLICATE_WINDOW_US": 10 * 60 * 1_000_000,
    "AI_FAILOVER_MINIMUM_S": 10,
    "AI_FAILOVER_MAXIMUM_S": 300,
    "CUSTOM_HOLIDAY_NAME_CHARACTERS": 40,
    "REQUEST_ID_CHARACTERS": 64,
}
# "Message cursor: no expiry."
LASTING_CURSORS = {"/channels/{id}/messages"}
