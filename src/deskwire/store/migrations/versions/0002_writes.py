"""What writes leave behind: events, audit entries, reading positions, consents, answers to repeat, counts."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

ID = sa.Uuid(as_uuid=False).with_variant(sa.Text(), "sqlite")
NAME = sa.Text(collation="C").with_variant(sa.Text(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "audit_entries",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("action", NAME, nullable=False),
        sa.Column("channel_id", ID, nullable=False),
        sa.Column("actor_member_id", ID, nullable=False),
        sa.Column("token_id", ID, nullable=False),
        sa.Column("details", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index(
        "audit_entries_by_time",
        "audit_entries",
        ["workspace_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_table(
        "events",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("subject_id", ID, nullable=False),
        sa.Column("accepted_at", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index("events_by_time", "events", ["workspace_id", "accepted_at", "id"], unique=False)
    op.create_table(
        "idempotent_answers",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("token_id", ID, nullable=False),
        sa.Column("route", NAME, nullable=False),
        sa.Column("key", NAME, nullable=False),
        sa.Column("request_hash", sa.LargeBinary(), nullable=False),
        sa.Column("answer", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "token_id", "route", "key"),
    )
    op.create_index(
        "idempotent_answers_by_time", "idempotent_answers", ["workspace_id", "created_at"], unique=False
    )
    op.create_table(
        "rate_windows",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("token_id", ID, nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("taken", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "token_id"),
    )
    op.create_table(
        "read_positions",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("channel_id", ID, nullable=False),
        sa.Column("member_id", ID, nullable=False),
        sa.Column("message_id", ID, nullable=True),
        sa.Column("message_created_at", sa.BigInteger(), nullable=False),
        sa.Column("read_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id", "channel_id"], ["channels.workspace_id", "channels.id"]),
        sa.ForeignKeyConstraint(["workspace_id", "member_id"], ["members.workspace_id", "members.id"]),
        sa.PrimaryKeyConstraint("workspace_id", "channel_id", "member_id"),
    )
    op.create_table(
        "sms_consents",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("contact_id", ID, nullable=False),
        sa.Column("opted_in", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("reason", NAME, nullable=True),
        sa.Column("token_id", ID, nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id", "contact_id"], ["contacts.workspace_id", "contacts.id"]),
        sa.PrimaryKeyConstraint("workspace_id", "contact_id"),
    )
