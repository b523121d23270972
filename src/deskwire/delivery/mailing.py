"""Mails notices to owners and admins, or logs them where there is no mail server."""

import asyncio
import logging
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

import aiosmtplib

from deskwire.delivery.database import Database
from deskwire.delivery.stopping import run_until
from deskwire.desk.notices import Mail, claim_mail, find_mail, finish_mail, retry_mail
from deskwire.model.limits import (
    DELIVERY_BACK_OFF_MAX_S,
    MAIL_ANSWER_TIMEOUT_S,
    MAIL_GRACE_S,
    MAIL_POLL_S,
    MAIL_TIMEOUT_S,
)
from deskwire.model.moments import Moment
from deskwire.store.transaction import Store

# Nothing that would mean more than an address in a header or in what the server is told.
UNFIT = r"\s@<>(),;\"\\\x00-\x1f\x7f-\x9f\ud800-\udfff"
ADDRESS = re.compile(f"[^{UNFIT}:\\[\\]]+@[^{UNFIT}]+")

logger = logging.getLogger("deskwire.notices")


class NoSender(ValueError):
    """The mail server's URL names no address that mails can come from."""


class Carried(NamedTuple):
    """A mail was taken for at least one recipient; those who were left out, and why."""

    left_out: dict[str, str]


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
        if not (ADDRESS.fullmatch(self.sender) and self.sender.isascii()):
            raise NoSender("from must be an e-mail address such as deskwire@example.com")

    async def carry(self, mail: Mail) -> Carried:
        """With STARTTLS wherever the server offers it."""
        connection = aiosmtplib.SMTP(
            hostname=self.host,
            port=self.port,
            username=self.user,
            password=self.password,
            use_tls=self.speaks_tls,
            timeout=MAIL_ANSWER_TIMEOUT_S,
        )
        try:
            async with asyncio.timeout(MAIL_TIMEOUT_S):
                await connection.connect()
                if connection.is_ehlo_or_helo_needed:
                    await connection.ehlo()
                carried = await self._hand_over(connection, mail)
            # It was taken, however the farewell goes.
            with suppress(aiosmtplib.SMTPException, OSError):
                await connection.quit()
        finally:
            connection.close()
        return carried

    async def _hand_over(self, connection: aiosmtplib.SMTP, mail: Mail) -> Carried:
        reachable = [each for each in mail.recipients if can_reach(connection, each)]
        left_out = {each: "no mail can reach it" for each in mail.recipients if each not in reachable}
        if not reachable:
            raise aiosmtplib.SMTPException(f"no mail can reach {', '.join(mail.recipients)}")
        refused, _ = await connection.send_message(letter(mail, self.sender, reachable))
        return Carried(
            left_out
            | {each: " ".join(f"{reply.code} {reply.message}".split()) for each, reply in refused.items()}
        )


def can_reach(connection: aiosmtplib.SMTP, address: str) -> bool:
    """An imported member's address may be anything, and one that is none would spoil the mail for all."""
    if not ADDRESS.fullmatch(address):
        return False
    return address.isascii() or connection.supports_extension("smtputf8")


def letter(mail: Mail, sender: str, recipients: Sequence[str]) -> EmailMessage:
    message = EmailMessage()
    message["From"] = sender
    message["To"] = ", ".join(recipients)
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
        await run_until(stop, self._mail_until(stop), grace_s=MAIL_GRACE_S)

    async def _mail_until(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                for workspace_id, notice_id, due_at in await self._database.read(find_mail):
                    await self._take_on(workspace_id, notice_id, due_at)
                    if stop.is_set():
                        return
                pause_s = MAIL_POLL_S
            except Exception:
                logger.exception("mailing notices failed; it is tried again")
                pause_s = DELIVERY_BACK_OFF_MAX_S
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await stop.wait()

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
            carried = await server.carry(mail)
        except (aiosmtplib.SMTPException, OSError, ValueError) as error:
            is_tried_again = await self._database.write(lambda tx: retry_mail(tx, mail))
            logger.warning(
                "a notice could not be mailed (%s); %s",
                reason(error),
                "it is tried again" if is_tried_again else "it is in the dashboard only",
            )
        else:
            for address, why in carried.left_out.items():
                logger.warning("a notice was not mailed to %s: %s", address, why)
            await self._database.write(lambda tx: finish_mail(tx, mail))


def reason(error: Exception) -> str:
    """In one line; a timeout has no words of its own."""
    return " ".join(str(error).split()) or "the mail server did not answer in time"
