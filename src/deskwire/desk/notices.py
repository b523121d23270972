"""Notices to owners and admins: a webhook stopped; kept for the dashboard, and mailed."""

from typing import NamedTuple, cast

from sqlalchemy import BigInteger, bindparam, func, insert, or_, select, update

from deskwire.desk.identity import new_id
from deskwire.model.limits import MAIL_LEASE_US, MAILS_AT_ONCE
from deskwire.model.moments import Moment
from deskwire.model.notices import next_mail_at, notice_of
from deskwire.model.webhooks import WebhookRecord
from deskwire.store.statement import Statement
from deskwire.store.tables import DELIVERIES, MEMBERS, NOTICES
from deskwire.store.transaction import Tx

WAITING = Statement(
    select(func.count()).where(
        DELIVERIES.c.workspace_id == bindparam("workspace_id"),
        DELIVERIES.c.webhook_id == bindparam("webhook_id"),
    )
)
INSERT = Statement(insert(NOTICES))
FIND_DUE = Statement(
    select(NOTICES.c.workspace_id, NOTICES.c.id, NOTICES.c.mail_due_at)
    .where(NOTICES.c.mail_due_at <= bindparam("now", type_=BigInteger()))
    .order_by(NOTICES.c.mail_due_at)
    .limit(bindparam("limit"))
)
MINE = (NOTICES.c.workspace_id == bindparam("workspace"), NOTICES.c.id == bindparam("mine"))
CLAIM = Statement(
    update(NOTICES)
    .where(*MINE, NOTICES.c.mail_due_at == bindparam("seen", type_=BigInteger()))
    .values(mail_due_at=bindparam("lease_end", type_=BigInteger()), mail_attempts=NOTICES.c.mail_attempts + 1)
    .returning(NOTICES.c.subject, NOTICES.c.text, NOTICES.c.created_at, NOTICES.c.mail_attempts)
)
FINISH = Statement(
    update(NOTICES).where(*MINE).values(mail_due_at=bindparam("mail_due_at", type_=BigInteger()))
)
RECIPIENTS = Statement(
    select(MEMBERS.c.email)
    .where(
        MEMBERS.c.workspace_id == bindparam("workspace_id"),
        MEMBERS.c.active,
        or_(MEMBERS.c.role == "owner", MEMBERS.c.role == "admin"),
    )
    .order_by(MEMBERS.c.created_at, MEMBERS.c.id)
)


class Mail(NamedTuple):
    """A notice about to be mailed by whoever claimed it."""

    workspace_id: str
    notice_id: str
    recipients: list[str]
    subject: str
    text: str
    created_at: Moment
    attempts: int


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


async def find_mail(tx: Tx) -> list[tuple[str, str, Moment]]:
    """The notices to be mailed now: workspace, id and since when."""
    rows = await tx.all(FIND_DUE, now=tx.now, limit=MAILS_AT_ONCE)
    return [(str(row[0]), str(row[1]), Moment(cast(int, row[2]))) for row in rows]


async def claim_mail(tx: Tx, workspace_id: str, notice_id: str, due_at: Moment) -> Mail | None:
    """None where another worker was quicker."""
    row = await tx.one(
        CLAIM, workspace=workspace_id, mine=notice_id, seen=due_at, lease_end=tx.now + MAIL_LEASE_US
    )
    if row is None:
        return None
    recipients = await tx.all(RECIPIENTS, workspace_id=workspace_id)
    subject, text, created_at, attempts = row
    return Mail(
        workspace_id,
        notice_id,
        [str(email) for (email,) in recipients],
        str(subject),
        str(text),
        Moment(cast(int, created_at)),
        cast(int, attempts),
    )


async def finish_mail(tx: Tx, mail: Mail) -> None:
    """It was mailed, or there is no way to."""
    await tx.run(FINISH, workspace=mail.workspace_id, mine=mail.notice_id, mail_due_at=None)


async def retry_mail(tx: Tx, mail: Mail) -> bool:
    """False: it has been tried for long enough."""
    due_at = next_mail_at(mail.created_at, mail.attempts, tx.now)
    await tx.run(FINISH, workspace=mail.workspace_id, mine=mail.notice_id, mail_due_at=due_at)
    return due_at is not None
