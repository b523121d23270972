"""The closed sets of words that the specification gives: each enumeration once."""

from typing import Literal, get_args

Provider = Literal[
    "native",
    "web",
    "messenger_a",
    "messenger_b",
    "email",
    "messenger_c",
    "messenger_d",
    "messenger_e",
    "sms",
    "voice",
]
ChannelType = Literal["user_chat", "team", "direct", "group"]
ChannelStatus = Literal["open", "snoozed", "closed"]
AssignedType = Literal["ai", "human", "workflow"]
SenderType = Literal[
    "member", "contact", "system", "bot", "internal", "workflow", "external", "integration", ""
]
ContentType = Literal[
    "text",
    "markdown",
    "image",
    "file",
    "card",
    "button",
    "email",
    "video",
    "audio",
    "system",
    "blocks",
    "sticker",
    "location",
]
AttachmentType = Literal["image", "file", "video", "audio"]
AttachmentStatus = Literal["ready", "pending", "failed"]
Role = Literal["owner", "admin", "agent", "viewer"]
Presence = Literal["active", "away", "vacation", "off_duty"]
TaskStatus = Literal["open", "in_progress", "completed"]
CampaignStatus = Literal["draft", "scheduled", "sending", "completed", "canceled"]
CampaignType = Literal["popup", "chat", "email"]
CampaignTrigger = Literal["immediate", "scheduled", "event"]
MacroScope = Literal["workspace", "team"]
MacroAction = Literal["template", "workflow"]
IntegrationProvider = Literal[
    "web", "messenger_a", "messenger_b", "messenger_c", "messenger_d", "messenger_e", "sms", "email"
]
IntegrationStatus = Literal["active", "inactive", "error", "pending", "awaiting_setup", "awaiting_activation"]
CallDirection = Literal["inbound", "outbound", "widget_inbound"]
CallStatus = Literal["ringing", "in_progress", "completed", "missed", "failed", "dropped"]
TagMatch = Literal["any", "all"]
EventKind = Literal[
    "message.created",
    "channel.created",
    "channel.assigned",
    "channel.closed",
    "channel.reopened",
    "contact.created",
    "contact.updated",
]

PROVIDERS_WITHOUT_INBOUND_PATH = frozenset({"web", "email"})
RUNNING_CALLS = frozenset({"ringing", "in_progress"})
UNSEARCHED_SENDERS = frozenset({"system", ""})
SERVICE_SENDER_ID = "00000000-0000-0000-0000-000000000002"


def words(enumeration: object) -> tuple[str, ...]:
    return get_args(enumeration)
