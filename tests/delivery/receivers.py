"""Receivers for tests: real servers on this machine, good ones and bad ones."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address

from deskwire.delivery.resolving import Lookup, ResolutionFailed
from deskwire.delivery.sending import Sender
from deskwire.model.addresses import Address
from deskwire.model.deliveries import Outcome
from deskwire.model.moments import Moment

HOST = "hooks.example.com"
HERE: Address = ip_address("127.0.0.1")
HEADERS = {"Content-Type": "application/json", "X-Webhook-Signature": "sha256=00"}
BODY = b'{"kind":"message.created"}'
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
NOON = Moment(1_700_000_000_000_000)

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Receiver:
    """A server that is running, and what came to it."""

    port: int
    scheme: str
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    # One for each connection: set when the receiver is done with it or the other side has gone.
    ends: list[asyncio.Event] = field(default_factory=list)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"{self.scheme}://{HOST}:{self.port}/hook"

    @property
    def allow(self) -> list[tuple[str, int]]:
        return [(HOST, self.port)]


@asynccontextmanager
async def receiver(
    answer: Answer | bytes = OK, context: ssl.SSLContext | None = None, *, has_no_tls: bool = False
) -> AsyncIterator[Receiver]:
    """Bytes are the answer to every request; a function has the connection after each request was read.

    One that `has_no_tls`, though its URL begins with https://, has the connection after its first byte.
    """
    running: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        here.connections += 1
        end = asyncio.Event()
        here.ends.append(end)
        try:
            while request := await (reader.read(1) if has_no_tls else read_request(reader)):
                here.requests.append(request)
                here.arrived.set()
                if isinstance(answer, bytes):
                    writer.write(answer)
                    await writer.drain()
                else:
                    await answer(reader, writer)
        except (ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.transport.abort()
            end.set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        here.writers.append(writer)
        task = asyncio.create_task(serve(reader, writer))
        running.add(task)
        task.add_done_callback(running.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context)
    here = Receiver(server.sockets[0].getsockname()[1], "https" if context or has_no_tls else "http")
    try:
        yield here
    finally:
        server.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        for writer in here.writers:
            writer.transport.abort()


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """Head and body; nothing when the other side has gone."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        return head + await reader.readexactly(length)
    except asyncio.IncompleteReadError:
        return b""


def leads_to(*addresses: str) -> Lookup:
    async def lookup(host: str) -> Sequence[Address]:
        return [ip_address(each) for each in addresses]

    return lookup


async def unknown(host: str) -> Sequence[Address]:
    raise ResolutionFailed("there is no such name")


def sender(
    to: Receiver | None = None, lookup: Lookup | None = None, trust: ssl.SSLContext | None = None
) -> Sender:
    return Sender(
        lookup or leads_to("127.0.0.1"),
        allow=to.allow if to else (),
        ssl_context=trust,
        clock=lambda: NOON,
    )


async def send(to: Receiver, trust: ssl.SSLContext | None = None, limit_s: float = 10.0) -> Outcome:
    """One attempt by a sender of its own."""
    async with sender(to, trust=trust) as one:
        return await one.send(to.url, HEADERS, BODY, limit_s)


async def send_to_answer(answer: Answer | bytes, limit_s: float = 10.0) -> Outcome:
    async with receiver(answer) as to:
        return await send(to, limit_s=limit_s)
