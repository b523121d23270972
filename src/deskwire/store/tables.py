"""Every table, once, for both engines. What grows has workspace_id first in its key, to be sharded by it.

A resource's columns have the names of its record's fields. Beside them stand `visible` (whether the API shows
the row at all) and `document` (the exact bytes that the API answers for it).
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    Uuid,
    text,
)
from sqlalchemy.types import TypeEngine

METADATA = MetaData()

IdType: TypeEngine[str] = Uuid(as_uuid=False).with_variant(Text(), "sqlite")
# Names are compared and ordered by code point on both engines.
NameType: TypeEngine[str] = Text(collation="C").with_variant(Text(), "sqlite")


def name(column: str, *, nullable: bool = False) -> Column[str]:
    return Column(column, NameType, nullable=nullable)


def ident(column: str, *, nullable: bool = False, primary_key: bool = False) -> Column[str]:
    return Column(column, IdType, nullable=nullable, primary_key=primary_key)


def moment(column: str, *, nullable: bool = False) -> Column[int]:
    return Column(column, BigInteger, nullable=nullable)


def number(column: str, default: int = 0) -> Column[int]:
    return Column(column, BigInteger, nullable=False, server_default=str(default))


def flag(column: str, *, default: bool = False) -> Column[bool]:
    return Column(column, Boolean, nullable=False, server_default=text("true" if default else "false"))


def resource(table: str, *columns: Column[Any]) -> Table:
    """A table of a listed resource, with the index that its list is walked by."""
    declared = Table(
        table,
        METADATA,
        ident("workspace_id", primary_key=True),
        ident("id", primary_key=True),
        *columns,
        moment("created_at"),
        moment("updated_at"),
        flag("visible", default=True),
        Column("document", LargeBinary, nullable=False),
    )
    newest_first(f"{table}_by_time", declared, "workspace_id")
    return declared


def newest_first(name: str, table: Table, *leading: str) -> None:
    Index(
        name,
        *(table.c[column] for column in leading),
        table.c.created_at.desc(),
        table.c.id.desc(),
        # SQLite uses a partial index only for a condition spelled as the statement spells it.
        sqlite_where=text("visible = 1"),
        postgresql_where=table.c.visible,
    )


def belongs_to(parent: str, column: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["workspace_id", column], [f"{parent}.workspace_id", f"{parent}.id"])


WORKSPACES = Table(
    "workspaces",
    METADATA,
    ident("id", primary_key=True),
    name("name"),
    ident("owner_member_id", nullable=True),
    moment("created_at"),
    moment("updated_at"),
    Column("document", LargeBinary, nullable=False),
)

TOKENS = Table(
    "tokens",
    METADATA,
    ident("id", primary_key=True),
    Column("hash", LargeBinary, nullable=False),
    ident("workspace_id"),
    name("name"),
    name("prefix"),
    name("scopes"),
    moment("created_at"),
    moment("expires_at", nullable=True),
    moment("revoked_at", nullable=True),
)
Index("tokens_by_hash", TOKENS.c.hash, unique=True)
Index("tokens_by_workspace", TOKENS.c.workspace_id, TOKENS.c.created_at)

MEMBERS = resource(
    "members",
    name("email"),
    name("name"),
    name("role"),
    name("status"),
    name("avatar_url", nullable=True),
    moment("last_login_at", nullable=True),
    flag("active", default=True),
)

TEAMS = resource("teams", name("name"), name("description", nullable=True), flag("active", default=True))

TEAM_MEMBERS = Table(
    "team_members",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("team_id", primary_key=True),
    ident("member_id", primary_key=True),
    Column("position", Integer, nullable=False),
    belongs_to("teams", "team_id"),
    belongs_to("members", "member_id"),
)
Index("team_members_by_member", TEAM_MEMBERS.c.workspace_id, TEAM_MEMBERS.c.member_id)

CONTACTS = resource(
    "contacts",
    name("external_id", nullable=True),
    name("email", nullable=True),
    name("phone", nullable=True),
    name("name", nullable=True),
    name("avatar_url", nullable=True),
    flag("is_member"),
    moment("last_seen_at", nullable=True),
    ident("merged_into", nullable=True),
    name("match_text"),
)

CONTACT_EXTERNAL_IDS = Table(
    "contact_external_ids",
    METADATA,
    ident("workspace_id", primary_key=True),
    Column("external_id", NameType, primary_key=True),
    ident("contact_id"),
    belongs_to("contacts", "contact_id"),
)
Index(
    "contact_external_ids_by_contact",
    CONTACT_EXTERNAL_IDS.c.workspace_id,
    CONTACT_EXTERNAL_IDS.c.contact_id,
)

CONTACT_TAGS = resource("contact_tags", name("name"), name("color", nullable=True), number("usage_count"))
Index("contact_tags_by_name", CONTACT_TAGS.c.workspace_id, CONTACT_TAGS.c.name, unique=True)

CONTACT_TAG_LINKS = Table(
    "contact_tag_links",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("contact_id", primary_key=True),
    ident("tag_id", primary_key=True),
    Column("position", Integer, nullable=False),
    belongs_to("contacts", "contact_id"),
    belongs_to("contact_tags", "tag_id"),
)
Index("contact_tag_links_by_tag", CONTACT_TAG_LINKS.c.workspace_id, CONTACT_TAG_LINKS.c.tag_id)

CHANNELS = resource(
    "channels",
    name("type"),
    name("provider"),
    name("status"),
    name("name", nullable=True),
    name("description", nullable=True),
    ident("contact_id", nullable=True),
    ident("assigned_member_id", nullable=True),
    name("assigned_type", nullable=True),
    moment("last_message_at", nullable=True),
    moment("snoozed_until", nullable=True),
    number("message_count"),
    number("last_seq"),
    number("version", default=1),
    flag("deleted"),
)
Index("channels_by_contact", CHANNELS.c.workspace_id, CHANNELS.c.contact_id)

CHANNEL_TAGS = resource("channel_tags", name("name"), name("color", nullable=True))
Index("channel_tags_by_name", CHANNEL_TAGS.c.workspace_id, CHANNEL_TAGS.c.name, unique=True)

CHANNEL_TAG_LINKS = Table(
    "channel_tag_links",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("channel_id", primary_key=True),
    ident("tag_id", primary_key=True),
    Column("position", Integer, nullable=False),
    moment("channel_created_at"),
    belongs_to("channels", "channel_id"),
    belongs_to("channel_tags", "tag_id"),
)
Index(
    "channel_tag_links_by_time",
    CHANNEL_TAG_LINKS.c.workspace_id,
    CHANNEL_TAG_LINKS.c.tag_id,
    CHANNEL_TAG_LINKS.c.channel_created_at.desc(),
    CHANNEL_TAG_LINKS.c.channel_id.desc(),
)

MESSAGES = Table(
    "messages",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("id", primary_key=True),
    ident("channel_id"),
    name("sender_id"),
    name("sender_type"),
    name("sender_name"),
    name("content_type"),
    name("content"),
    flag("is_edited"),
    # Unique in its channel without an index, which would cost each message a page: who gives one has locked
    # its channel's row, goes on from `last_seq` there, and writes that back in the same transaction.
    Column("seq", BigInteger, nullable=True),
    name("client_request_id", nullable=True),
    flag("deleted"),
    flag("internal_note"),
    moment("created_at"),
    moment("updated_at"),
    flag("visible", default=True),
    Column("document", LargeBinary, nullable=False),
    belongs_to("channels", "channel_id"),
)
newest_first("messages_by_time", MESSAGES, "workspace_id", "channel_id")
Index(
    "messages_by_client_request_id",
    MESSAGES.c.workspace_id,
    MESSAGES.c.channel_id,
    MESSAGES.c.client_request_id,
    unique=True,
    sqlite_where=MESSAGES.c.client_request_id.is_not(None),
    postgresql_where=MESSAGES.c.client_request_id.is_not(None),
)

ATTACHMENTS = Table(
    "attachments",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("id", primary_key=True),
    name("filename"),
    name("content_type"),
    number("size_bytes"),
    name("status"),
    name("file_key", nullable=True),
    moment("created_at"),
    moment("updated_at"),
)

MESSAGE_ATTACHMENTS = Table(
    "message_attachments",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("message_id", primary_key=True),
    Column("position", Integer, primary_key=True),
    ident("attachment_id"),
    belongs_to("messages", "message_id"),
    belongs_to("attachments", "attachment_id"),
)
Index(
    "message_attachments_by_attachment",
    MESSAGE_ATTACHMENTS.c.workspace_id,
    MESSAGE_ATTACHMENTS.c.attachment_id,
)

TASKS = resource(
    "tasks",
    ident("team_id", nullable=True),
    name("title"),
    name("description", nullable=True),
    ident("channel_id", nullable=True),
    name("status"),
    ident("assignee_id", nullable=True),
    flag("deleted"),
)

CAMPAIGNS = resource(
    "campaigns",
    name("name"),
    name("status"),
    name("campaign_type"),
    name("trigger_type"),
    moment("scheduled_at", nullable=True),
    moment("started_at", nullable=True),
    moment("completed_at", nullable=True),
    number("sent_count"),
    number("failed_count"),
    flag("deleted"),
)

MACROS = resource(
    "macros",
    name("name"),
    name("content", nullable=True),
    name("scope"),
    ident("team_id", nullable=True),
    name("action_type"),
    number("sort_order"),
    flag("deleted"),
)

INTEGRATIONS = resource(
    "integrations",
    name("provider"),
    name("name"),
    name("status"),
    name("webhook_url", nullable=True),
    name("icon_url", nullable=True),
    Column("config_document", LargeBinary, nullable=False),
)

WORKFLOWS = resource("workflows", name("name"), flag("is_active"), name("trigger_type"))

AI_AGENTS = resource("ai_agents", flag("enabled"), number("failover_timeout"))

VOICE_CALLS = resource(
    "voice_calls",
    ident("channel_id", nullable=True),
    ident("contact_id", nullable=True),
    name("direction"),
    name("status"),
    Column("duration_seconds", BigInteger, nullable=True),
    moment("started_at"),
    moment("ended_at", nullable=True),
)
Index("voice_calls_by_channel", VOICE_CALLS.c.workspace_id, VOICE_CALLS.c.channel_id)
Index("voice_calls_by_contact", VOICE_CALLS.c.workspace_id, VOICE_CALLS.c.contact_id)

BUSINESS_HOURS = Table(
    "business_hours",
    METADATA,
    ident("workspace_id", primary_key=True),
    Column("config", LargeBinary, nullable=False),
)

EVENTS = Table(
    "events",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("id", primary_key=True),
    name("kind"),
    ident("subject_id"),
    moment("accepted_at"),
    Column("body", LargeBinary, nullable=False),
    # What caused it: the id of the request, where it was one.
    name("cause", nullable=True),
)

WEBHOOKS = Table(
    "webhooks",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("id", primary_key=True),
    name("name"),
    name("url"),
    name("event_filters"),
    # The kinds of event that it takes, a bit each.
    number("kind_bits"),
    name("status"),
    Column("secret", LargeBinary, nullable=False),
    number("failure_count"),
    moment("last_delivered_at", nullable=True),
    name("error_message", nullable=True),
    moment("failing_since", nullable=True),
    moment("noticed_at", nullable=True),
    number("last_log_id"),
    moment("created_at"),
    moment("updated_at"),
    Column("document", LargeBinary, nullable=False),
)

# An event on its way to one webhook. The row is gone when it is delivered or given up.
DELIVERIES = Table(
    "deliveries",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("webhook_id", primary_key=True),
    ident("event_id", primary_key=True),
    # Whose first deliveries keep their order: the channel's, or the contact's.
    ident("order_key"),
    moment("accepted_at"),
    # When to send it; while it is sent, when its holder is taken for dead; while it is held, when to give up.
    moment("due_at"),
    flag("held"),
    # Whether a failure of its next cycle counts for the webhook.
    flag("counts", default=True),
    # Whether no attempt has failed yet.
    flag("untried", default=True),
    # Failed cycles so far.
    number("cycles"),
    ident("holder", nullable=True),
    # One more with each claim, so that the late result of an earlier one is known.
    number("fence"),
    sqlite_with_rowid=False,
)
Index("deliveries_by_due", DELIVERIES.c.due_at, DELIVERIES.c.event_id, DELIVERIES.c.webhook_id)
Index(
    "deliveries_by_order",
    DELIVERIES.c.workspace_id,
    DELIVERIES.c.webhook_id,
    DELIVERIES.c.order_key,
    DELIVERIES.c.event_id,
)

DELIVERY_LOGS = Table(
    "delivery_logs",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("webhook_id", primary_key=True),
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    ident("event_id", nullable=True),
    name("event_type"),
    flag("success"),
    Column("http_status", BigInteger, nullable=True),
    name("error_message", nullable=True),
    number("duration_ms"),
    flag("is_test"),
    moment("created_at"),
    sqlite_with_rowid=False,
)

# What owners and admins are told, by e-mail and in the dashboard.
NOTICES = Table(
    "notices",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("id", primary_key=True),
    ident("webhook_id"),
    name("subject"),
    name("text"),
    moment("created_at"),
    # When to mail it next; without one it was mailed, or there is no way to.
    moment("mail_due_at", nullable=True),
    number("mail_attempts"),
)
Index("notices_by_mail", NOTICES.c.mail_due_at)

AUDIT_ENTRIES = Table(
    "audit_entries",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("id", primary_key=True),
    name("action"),
    ident("channel_id"),
    ident("actor_member_id"),
    ident("token_id"),
    Column("details", LargeBinary, nullable=False),
    moment("created_at"),
)
Index(
    "audit_entries_by_time",
    AUDIT_ENTRIES.c.workspace_id,
    AUDIT_ENTRIES.c.created_at.desc(),
    AUDIT_ENTRIES.c.id.desc(),
)

READ_POSITIONS = Table(
    "read_positions",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("channel_id", primary_key=True),
    ident("member_id", primary_key=True),
    ident("message_id", nullable=True),
    moment("message_created_at"),
    moment("read_at"),
    belongs_to("channels", "channel_id"),
    belongs_to("members", "member_id"),
)

SMS_CONSENTS = Table(
    "sms_consents",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("contact_id", primary_key=True),
    flag("opted_in"),
    name("reason", nullable=True),
    ident("token_id"),
    moment("updated_at"),
    belongs_to("contacts", "contact_id"),
)

IDEMPOTENT_ANSWERS = Table(
    "idempotent_answers",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("token_id", primary_key=True),
    Column("route", NameType, primary_key=True),
    Column("key", NameType, primary_key=True),
    Column("request_hash", LargeBinary, nullable=False),
    Column("answer", LargeBinary, nullable=False),
    moment("created_at"),
)
Index("idempotent_answers_by_time", IDEMPOTENT_ANSWERS.c.workspace_id, IDEMPOTENT_ANSWERS.c.created_at)

RATE_WINDOWS = Table(
    "rate_windows",
    METADATA,
    ident("workspace_id", primary_key=True),
    ident("token_id", primary_key=True),
    moment("started_at"),
    number("taken"),
)
