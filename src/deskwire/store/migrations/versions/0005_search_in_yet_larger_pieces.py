"""What most imports bring to the search index on SQLite is written in one piece."""

from alembic import op

revision = "0005"
down_revision = "0004"

# Gathered in memory before a piece is written, which is as much as 100,000 messages have to be found by.
GATHERED_BYTES = 32 * 1024 * 1024


def upgrade() -> None:
    if op.get_context().dialect.name != "sqlite":
        return
    for subject in ("contact", "message"):
        op.execute(
            f"INSERT INTO {subject}_terms ({subject}_terms, rank) VALUES ('hashsize', {GATHERED_BYTES})"
        )
