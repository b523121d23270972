"""The search index on SQLite writes what a large import brings in fewer, larger pieces."""

from alembic import op

revision = "0004"
down_revision = "0003"

# Gathered in memory before a piece is written; what is smaller than the library's own 1 MiB is as it was.
GATHERED_BYTES = 8 * 1024 * 1024


def upgrade() -> None:
    if op.get_context().dialect.name != "sqlite":
        return
    for subject in ("contact", "message"):
        op.execute(
            f"INSERT INTO {subject}_terms ({subject}_terms, rank) VALUES ('hashsize', {GATHERED_BYTES})"
        )
