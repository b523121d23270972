"""The first schema: the resources of a workspace, access tokens, the search index."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

ID = sa.Uuid(as_uuid=False).with_variant(sa.Text(), "sqlite")
NAME = sa.Text(collation="C").with_variant(sa.Text(), "sqlite")

# Every printing character belongs to its term; blanks alone divide terms.
TOKEN_CHARACTERS = "".join(chr(code) for code in range(0x21, 0x7F) if not chr(code).isalnum())


def upgrade() -> None:
    create_tables()
    for subject in ("contact", "message"):
        if op.get_context().dialect.name == "sqlite":
            create_search_index_on_sqlite(subject)
        else:
            create_search_index_on_postgresql(subject)


def create_search_index_on_sqlite(subject: str) -> None:
    op.execute(
        f"CREATE TABLE {subject}_rows (number INTEGER PRIMARY KEY, workspace_id TEXT NOT NULL, "
        "id TEXT NOT NULL, UNIQUE (workspace_id, id))"
    )
    token_characters = TOKEN_CHARACTERS.replace("'", "''''").replace(":", "\\:")
    op.execute(
        f"CREATE VIRTUAL TABLE {subject}_terms USING fts5(terms, content='', contentless_delete=1, "
        f"detail=none, tokenize='ascii tokenchars ''{token_characters}''')"
    )


def create_search_index_on_postgresql(subject: str) -> None:
    op.execute(
        f"CREATE TABLE {subject}_terms (workspace_id uuid NOT NULL, id uuid NOT NULL, "
        "created_at bigint NOT NULL, terms tsvector NOT NULL, PRIMARY KEY (workspace_id, id))"
    )
    op.execute(f"CREATE INDEX {subject}_terms_by_term ON {subject}_terms USING gin (terms)")
    op.execute(
        f"CREATE INDEX {subject}_terms_by_time ON {subject}_terms (workspace_id, created_at DESC, id DESC)"
    )


def create_tables() -> None:
    op.create_table(
        "ai_agents",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("failover_timeout", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("visible", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index(
        "ai_agents_by_time",
        "ai_agents",
        ["workspace_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("visible = 1"),
        postgresql_where=sa.text("visible"),
    )
    op.create_table(
        "attachments",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("filename", NAME, nullable=False),
        sa.Column("content_type", NAME, nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("status", NAME, nullable=False),
        sa.Column("file_key", NAME, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_table(
        "business_hours",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("config", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id"),
    )
    op.create_table(
        "campaigns",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("status", NAME, nullable=False),
        sa.Column("campaign_type", NAME, nullable=False),
        sa.Column("trigger_type", NAME, nullable=False),
        sa.Column("scheduled_at", sa.BigInteger(), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("completed_at", sa.BigInteger(), nullable=True),
        sa.Column("sent_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("failed_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("deleted", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("visible", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index(
        "campaigns_by_time",
        "campaigns",
        ["workspace_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("visible = 1"),
        postgresql_where=sa.text("visible"),
    )
    op.create_table(
        "channel_tags",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("color", NAME, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("visible", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index("channel_tags_by_name", "channel_tags", ["workspace_id", "name"], unique=True)
    op.create_index(
        "channel_tags_by_time",
        "channel_tags",
        ["workspace_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("visible = 1"),
        postgresql_where=sa.text("visible"),
    )
    op.create_table(
        "channels",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("type", NAME, nullable=False),
        sa.Column("provider", NAME, nullable=False),
        sa.Column("status", NAME, nullable=False),
        sa.Column("name", NAME, nullable=True),
        sa.Column("description", NAME, nullable=True),
        sa.Column("contact_id", ID, nullable=True),
        sa.Column("assigned_member_id", ID, nullable=True),
        sa.Column("assigned_type", NAME, nullable=True),
        sa.Column("last_message_at", sa.BigInteger(), nullable=True),
        sa.Column("snoozed_until", sa.BigInteger(), nullable=True),
        sa.Column("message_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_seq", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("version", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("deleted", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("visible", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index("channels_by_contact", "channels", ["workspace_id", "contact_id"], unique=False)
    op.create_index(
        "channels_by_time",
        "channels",
        ["workspace_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("visible = 1"),
        postgresql_where=sa.text("visible"),
    )
    op.create_table(
        "contact_tags",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("color", NAME, nullable=True),
        sa.Column("usage_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("visible", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index("contact_tags_by_name", "contact_tags", ["workspace_id", "name"], unique=True)
    op.create_index(
        "contact_tags_by_time",
        "contact_tags",
        ["workspace_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("visible = 1"),
        postgresql_where=sa.text("visible"),
    )
    op.create_table(
        "contacts",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("external_id", NAME, nullable=True),
        sa.Column("email", NAME, nullable=True),
        sa.Column("phone", NAME, nullable=True),
        sa.Column("name", NAME, nullable=True),
        sa.Column("avatar_url", NAME, nullable=True),
        sa.Column("is_member", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=True),
        sa.Column("merged_into", ID, nullable=True),
        sa.Column("match_text", NAME, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("visible", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index(
        "contacts_by_time",
        "contacts",
        ["workspace_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("visible = 1"),
        postgresql_where=sa.text("visible"),
    )
    op.create_table(
        "integrations",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("provider", NAME, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("status", NAME, nullable=False),
        sa.Column("webhook_url", NAME, nullable=True),
        sa.Column("icon_url", NAME, nullable=True),
        sa.Column("config_document", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("visible", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index(
        "integrations_by_time",
        "integrations",
        ["workspace_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("visible = 1"),
        postgresql_where=sa.text("visible"),
    )
    op.create_table(
        "macros",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("content", NAME, nullable=True),
        sa.Column("scope", NAME, nullable=False),
        sa.Column("team_id", ID, nullable=True),
        sa.Column("action_type", NAME, nullable=False),
        sa.Column("sort_order", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("deleted", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("visible", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index(
        "macros_by_time",
        "macros",
        ["workspace_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("visible = 1"),
        postgresql_where=sa.text("visible"),
    )
    op.create_table(
        "members",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("email", NAME, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("role", NAME, nullable=False),
        sa.Column("status", NAME, nullable=False),
        sa.Column("avatar_url", NAME, nullable=True),
        sa.Column("last_login_at", sa.BigInteger(), nullable=True),
        sa.Column("active", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("visible", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index(
        "members_by_time",
        "members",
        ["workspace_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("visible = 1"),
        postgresql_where=sa.text("visible"),
    )
    op.create_table(
        "tasks",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("team_id", ID, nullable=True),
        sa.Column("title", NAME, nullable=False),
        sa.Column("description", NAME, nullable=True),
        sa.Column("channel_id", ID, nullable=True),
        sa.Column("status", NAME, nullable=False),
        sa.Column("assignee_id", ID, nullable=True),
        sa.Column("deleted", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("visible", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index(
        "tasks_by_time",
        "tasks",
        ["workspace_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("visible = 1"),
        postgresql_where=sa.text("visible"),
    )
    op.create_table(
        "teams",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("description", NAME, nullable=True),
        sa.Column("active", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("visible", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index(
        "teams_by_time",
        "teams",
        ["workspace_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("visible = 1"),
        postgresql_where=sa.text("visible"),
    )
    op.create_table(
        "tokens",
        sa.Column("id", ID, nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("prefix", NAME, nullable=False),
        sa.Column("scopes", NAME, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("tokens_by_hash", "tokens", ["hash"], unique=True)
    op.create_index("tokens_by_workspace", "tokens", ["workspace_id", "created_at"], unique=False)
    op.create_table(
        "voice_calls",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("channel_id", ID, nullable=True),
        sa.Column("contact_id", ID, nullable=True),
        sa.Column("direction", NAME, nullable=False),
        sa.Column("status", NAME, nullable=False),
        sa.Column("duration_seconds", sa.BigInteger(), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("visible", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index("voice_calls_by_channel", "voice_calls", ["workspace_id", "channel_id"], unique=False)
    op.create_index("voice_calls_by_contact", "voice_calls", ["workspace_id", "contact_id"], unique=False)
    op.create_index(
        "voice_calls_by_time",
        "voice_calls",
        ["workspace_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("visible = 1"),
        postgresql_where=sa.text("visible"),
    )
    op.create_table(
        "workflows",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("is_active", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("trigger_type", NAME, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("visible", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index(
        "workflows_by_time",
        "workflows",
        ["workspace_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("visible = 1"),
        postgresql_where=sa.text("visible"),
    )
    op.create_table(
        "workspaces",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("owner_member_id", ID, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "channel_tag_links",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("channel_id", ID, nullable=False),
        sa.Column("tag_id", ID, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("channel_created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "channel_id"],
            ["channels.workspace_id", "channels.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "tag_id"],
            ["channel_tags.workspace_id", "channel_tags.id"],
        ),
        sa.PrimaryKeyConstraint("workspace_id", "channel_id", "tag_id"),
    )
    op.create_index(
        "channel_tag_links_by_time",
        "channel_tag_links",
        [
            "workspace_id",
            "tag_id",
            sa.literal_column("channel_created_at DESC"),
            sa.literal_column("channel_id DESC"),
        ],
        unique=False,
    )
    op.create_table(
        "contact_external_ids",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("external_id", NAME, nullable=False),
        sa.Column("contact_id", ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "contact_id"],
            ["contacts.workspace_id", "contacts.id"],
        ),
        sa.PrimaryKeyConstraint("workspace_id", "external_id"),
    )
    op.create_index(
        "contact_external_ids_by_contact",
        "contact_external_ids",
        ["workspace_id", "contact_id"],
        unique=False,
    )
    op.create_table(
        "contact_tag_links",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("contact_id", ID, nullable=False),
        sa.Column("tag_id", ID, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "contact_id"],
            ["contacts.workspace_id", "contacts.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "tag_id"],
            ["contact_tags.workspace_id", "contact_tags.id"],
        ),
        sa.PrimaryKeyConstraint("workspace_id", "contact_id", "tag_id"),
    )
    op.create_index("contact_tag_links_by_tag", "contact_tag_links", ["workspace_id", "tag_id"], unique=False)
    op.create_table(
        "messages",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("channel_id", ID, nullable=False),
        sa.Column("sender_id", NAME, nullable=False),
        sa.Column("sender_type", NAME, nullable=False),
        sa.Column("sender_name", NAME, nullable=False),
        sa.Column("content_type", NAME, nullable=False),
        sa.Column("content", NAME, nullable=False),
        sa.Column("is_edited", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=True),
        sa.Column("client_request_id", NAME, nullable=True),
        sa.Column("deleted", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("internal_note", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("visible", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "channel_id"],
            ["channels.workspace_id", "channels.id"],
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index(
        "messages_by_client_request_id",
        "messages",
        ["workspace_id", "channel_id", "client_request_id"],
        unique=True,
        sqlite_where=sa.text("client_request_id IS NOT NULL"),
        postgresql_where=sa.text("client_request_id IS NOT NULL"),
    )
    op.create_index("messages_by_seq", "messages", ["workspace_id", "channel_id", "seq"], unique=True)
    op.create_index(
        "messages_by_time",
        "messages",
        ["workspace_id", "channel_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("visible = 1"),
        postgresql_where=sa.text("visible"),
    )
    op.create_table(
        "team_members",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("team_id", ID, nullable=False),
        sa.Column("member_id", ID, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "member_id"],
            ["members.workspace_id", "members.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "team_id"],
            ["teams.workspace_id", "teams.id"],
        ),
        sa.PrimaryKeyConstraint("workspace_id", "team_id", "member_id"),
    )
    op.create_index("team_members_by_member", "team_members", ["workspace_id", "member_id"], unique=False)
    op.create_table(
        "message_attachments",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("message_id", ID, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("attachment_id", ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "attachment_id"],
            ["attachments.workspace_id", "attachments.id"],
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "message_id"],
            ["messages.workspace_id", "messages.id"],
        ),
        sa.PrimaryKeyConstraint("workspace_id", "message_id", "position"),
    )
    op.create_index(
        "message_attachments_by_attachment",
        "message_attachments",
        ["workspace_id", "attachment_id"],
        unique=False,
    )
