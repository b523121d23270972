"""Outbound webhooks: what each is, what is on its way to it, what came of it, and notices of those that failed."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

ID = sa.Uuid(as_uuid=False).with_variant(sa.Text(), "sqlite")
NAME = sa.Text(collation="C").with_variant(sa.Text(), "sqlite")


def upgrade() -> None:
    op.drop_index("events_by_time", table_name="events")
    op.add_column("events", sa.Column("cause", NAME, nullable=True))
    op.drop_index("messages_by_seq", table_name="messages")
    op.create_table(
        "deliveries",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("webhook_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("order_key", ID, nullable=False),
        sa.Column("accepted_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("held", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("counts", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("untried", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("cycles", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("holder", ID, nullable=True),
        sa.Column("fence", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "webhook_id", "event_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("deliveries_by_due", "deliveries", ["due_at", "event_id", "webhook_id"], unique=False)
    op.create_index(
        "deliveries_by_order",
        "deliveries",
        ["workspace_id", "webhook_id", "order_key", "event_id"],
        unique=False,
    )
    op.create_table(
        "delivery_logs",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("webhook_id", ID, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("event_id", ID, nullable=True),
        sa.Column("event_type", NAME, nullable=False),
        sa.Column("success", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("http_status", sa.BigInteger(), nullable=True),
        sa.Column("error_message", NAME, nullable=True),
        sa.Column("duration_ms", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("is_test", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "webhook_id", "id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "notices",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("webhook_id", ID, nullable=False),
        sa.Column("subject", NAME, nullable=False),
        sa.Column("text", NAME, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("mail_due_at", sa.BigInteger(), nullable=True),
        sa.Column("mail_attempts", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index("notices_by_mail", "notices", ["mail_due_at"], unique=False)
    op.create_table(
        "webhooks",
        sa.Column("workspace_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("url", NAME, nullable=False),
        sa.Column("event_filters", NAME, nullable=False),
        sa.Column("kind_bits", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("status", NAME, nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("failure_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_delivered_at", sa.BigInteger(), nullable=True),
        sa.Column("error_message", NAME, nullable=True),
        sa.Column("failing_since", sa.BigInteger(), nullable=True),
        sa.Column("noticed_at", sa.BigInteger(), nullable=True),
        sa.Column("last_log_id", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
