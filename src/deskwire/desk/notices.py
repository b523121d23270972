"""Notices to owners and admins: a webhook stopped; kept for the dashboard, and mailed."""

from sqlalchemy import bindparam, func, insert, select

from deskwire.desk.identity import new_id
from deskwire.model.notices import notice_of
from deskwire.model.webhooks import WebhookRecord
from deskwire.store.statement import Statement
from deskwire.store.tables import DELIVERIES, NOTICES
from deskwire.store.transaction import Tx

WAITING = Statement(
    select(func.count()).where(
        DELIVERIES.c.workspace_id == bindparam("workspace_id"),
        DELIVERIES.c.webhook_id == bindparam("webhook_id"),
    )
)
INSERT = Statement(insert(NOTICES))


async def post_notice(tx: Tx, workspace_id: str, webhook: WebhookRecord) -> None:
    row = await tx.one(WAITING, workspace_id=workspace_id, webhook_id=webhook.id)
    assert row is not None
    notice = notice_of(webhook, waiting=int(str(row[0])))
    await tx.run(
        INSERT,
        workspace_id=workspace_id,
        id=new_id(),
        webhook_id=webhook.id,
        subject=notice.subject,
        text=notice.text,
        created_at=tx.now,
        mail_due_at=tx.now,
        mail_attempts=0,
    )
