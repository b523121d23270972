"""Tests of a webhook by hand: an entry in its log, marked as a test, and nothing else changes."""

from msgspec.structs import replace

from deskwire.desk.delivering.recording import LOG, Attempt, log_row
from deskwire.desk.webhook_rows import lock_webhook, put_health
from deskwire.model.deliveries import Outcome
from deskwire.model.errors import not_found
from deskwire.model.events import EventKind
from deskwire.store.transaction import Tx


async def log_test(tx: Tx, workspace_id: str, webhook_id: str, kind: EventKind, outcome: Outcome) -> int:
    """Answers the number of the entry."""
    webhook = await lock_webhook(tx, workspace_id, webhook_id)
    if webhook is None:
        raise not_found("webhook")
    webhook = replace(webhook, last_log_id=webhook.last_log_id + 1)
    row = log_row(webhook.last_log_id, None, Attempt(kind, tx.now, outcome), is_test=True)
    await tx.run(LOG, workspace_id=workspace_id, webhook_id=webhook_id, **row)
    await put_health(tx, workspace_id, webhook)
    return webhook.last_log_id
