"""A mail server for tests: real sockets, the commands of SMTP, and as bad as it is told to be."""

import asyncio
import base64
import email
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default

USER, PASSWORD = "mailer", "pass word:/@"


@dataclass
class Letter:
    """One that was taken."""

    sender: str
    recipients: list[str]
    message: EmailMessage
    over_tls: bool
    user: str | None


@dataclass
class MailHost:
    """What it does, and what came to it."""

    port: int = 0
    tls: ssl.SSLContext | None = None
    wants_user: bool = False
    refuses: Sequence[str] = ()
    knows_utf8: bool = False
    # The command that it does not answer any more, and the one that it answers with a failure.
    hangs_at: str = ""
    fails_at: str = ""
    letters: list[Letter] = field(default_factory=list)
    connections: int = 0
    hanging: asyncio.Event = field(default_factory=asyncio.Event)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)


@asynccontextmanager
async def mail_host(here: MailHost | None = None, *, speaks_tls: bool = False) -> AsyncIterator[MailHost]:
    here = here or MailHost()
    running: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(Session(here, reader, writer, speaks_tls).run())
        running.add(task)
        task.add_done_callback(running.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", here.port, ssl=here.tls if speaks_tls else None)
    here.port = server.sockets[0].getsockname()[1]
    try:
        yield here
    finally:
        server.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


class Session:
    def __init__(
        self, here: MailHost, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, over_tls: bool
    ) -> None:
        self.here, self.reader, self.writer = here, reader, writer
        self.over_tls = over_tls
        self.user: str | None = None
        self.sender = ""
        self.recipients: list[str] = []

    async def run(self) -> None:
        self.here.connections += 1
        answers: dict[str, Callable[[str], str]] = {
            "EHLO": self.ehlo,
            "AUTH": self.auth,
            "MAIL": self.mail,
            "RCPT": self.rcpt,
            "RSET": lambda _: "250 ok",
            "QUIT": lambda _: "221 bye",
        }
        try:
            self.say("220 mail.example.com")
            while line := (await self.reader.readline()).decode().rstrip("\r\n"):
                verb = line[:4].upper()
                if verb == self.here.hangs_at:
                    self.here.hanging.set()
                    await asyncio.sleep(3600)
                if verb == self.here.fails_at:
                    self.say("451 not now")
                elif verb == "STAR":
                    await self.start_tls()
                elif verb == "DATA":
                    await self.take_letter()
                else:
                    self.say(answers[verb](line))
        except ConnectionError:
            pass
        finally:
            self.writer.transport.abort()

    def say(self, *lines: str) -> None:
        self.writer.write("".join(f"{line}\r\n" for line in lines).encode())

    def ehlo(self, _line: str) -> str:
        offered = ["mail.example.com"]
        offered += ["STARTTLS"] if self.here.tls and not self.over_tls else []
        offered += ["AUTH PLAIN"] if self.here.wants_user else []
        offered += ["SMTPUTF8"] if self.here.knows_utf8 else []
        return "".join(f"250-{one}\r\n" for one in offered) + "250 8BITMIME"

    def auth(self, line: str) -> str:
        _, user, password = base64.b64decode(line.split()[2]).decode().split("\0")
        if (user, password) != (USER, PASSWORD):
            return "535 wrong password"
        self.user = user
        return "235 welcome"

    def mail(self, line: str) -> str:
        if self.here.wants_user and self.user is None:
            return "530 who are you"
        self.sender, self.recipients = address_in(line), []
        return "250 ok"

    def rcpt(self, line: str) -> str:
        if address_in(line) in self.here.refuses:
            return "550 no such mailbox"
        self.recipients.append(address_in(line))
        return "250 ok"

    async def start_tls(self) -> None:
        self.say("220 go on")
        await self.writer.drain()
        await self.writer.start_tls(self.here.tls)  # type: ignore[arg-type]
        self.over_tls = True

    async def take_letter(self) -> None:
        self.say("354 go on")
        content = (await self.reader.readuntil(b"\r\n.\r\n")).removesuffix(b".\r\n")
        message = email.message_from_bytes(content, policy=default)
        assert isinstance(message, EmailMessage)
        self.here.letters.append(Letter(self.sender, self.recipients, message, self.over_tls, self.user))
        self.here.arrived.set()
        self.say("250 taken")


def address_in(line: str) -> str:
    return line[line.index("<") + 1 : line.index(">")]
