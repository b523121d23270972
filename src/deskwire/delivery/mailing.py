"""Mails notices to owners and admins, or logs them where there is no mail server."""

import asyncio
import logging
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from urllib.parse import parse_qs, unquote, urlsplit

import aiosmtplib

from deskwire.delivery.database import Database
from deskwire.desk.notices import Mail, claim_mail, find_mail, finish_mail, retry_mail
from deskwire.model.limits import DELIVERY_BACK_OFF_MAX_S, MAIL_POLL_S, MAIL_TIMEOUT_S
from deskwire.model.moments import Moment
from deskwire.store.transaction import Store

logger = logging.getLogger("deskwire.notices")


class MailServer:
    """What `smtp://user:password@host:port?from=address` says; smtps speaks TLS from the start."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.host = parts.hostname or "localhost"
        self.speaks_tls = parts.scheme == "smtps"
        self.port = parts.port or (465 if self.speaks_tls else 25)
        self.user = None if parts.username is None else unquote(parts.username)
        self.password = None if parts.password is None else unquote(parts.password)
        self.sender = parse_qs(parts.query).get("from", [f"deskwire@{self.host}"])[0]

    async def carry(self, mail: Mail) -> None:
        """With STARTTLS wherever the server offers it."""
        await aiosmtplib.send(
            letter(mail, self.sender),
            hostname=self.host,
            port=self.port,
            username=self.user,
            password=self.password,
            use_tls=self.speaks_tls,
            timeout=MAIL_TIMEOUT_S,
        )


def letter(mail: Mail, sender: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = sender
    message["To"] = ", ".join(mail.recipients)
    message["Subject"] = mail.subject
    message["Date"] = format_datetime(datetime.fromtimestamp(mail.created_at / 1_000_000, UTC))
    # The same for each attempt, so that a mail that was taken twice is seen to be one.
    message["Message-ID"] = f"<{mail.notice_id}@{sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text)
    return message


class Mailing:
    def __init__(self, store: Store, server: MailServer | None) -> None:
        self._database = Database(store)
        self._server = server

    async def run(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                for workspace_id, notice_id, due_at in await self._database.read(find_mail):
                    await self._take_on(workspace_id, notice_id, due_at)
                pause_s = MAIL_POLL_S
            except Exception:
                logger.exception("mailing notices failed; it is tried again")
                pause_s = DELIVERY_BACK_OFF_MAX_S
            try:
                async with asyncio.timeout(pause_s):
                    await stop.wait()
            except TimeoutError:
                continue

    async def _take_on(self, workspace_id: str, notice_id: str, due_at: Moment) -> None:
        mail = await self._database.write(lambda tx: claim_mail(tx, workspace_id, notice_id, due_at))
        if mail is None:
            return
        if self._server is None:
            await self._leave(mail, "there is no mail server")
        elif not mail.recipients:
            await self._leave(mail, "it has no owner or admin")
        else:
            await self._send(self._server, mail)

    async def _leave(self, mail: Mail, reason: str) -> None:
        logger.warning("%s (workspace %s); nobody is mailed: %s", mail.subject, mail.workspace_id, reason)
        await self._database.write(lambda tx: finish_mail(tx, mail))

    async def _send(self, server: MailServer, mail: Mail) -> None:
        try:
            await server.carry(mail)
        except (aiosmtplib.SMTPException, OSError) as error:
            is_tried_again = await self._database.write(lambda tx: retry_mail(tx, mail))
            logger.warning(
                "a notice could not be mailed (%s); %s",
                error,
                "it is tried again" if is_tried_again else "it is in the dashboard only",
            )
        else:
            await self._database.write(lambda tx: finish_mail(tx, mail))
