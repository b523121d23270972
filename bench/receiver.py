"""A receiver of webhooks, a process as light as can be; paths that begin with /hang are never answered.

It prints its port. For each line on standard input it prints, as JSON, what came to the other paths since the
last one: when, in seconds of the machine's monotonic clock, and some of the bodies.
"""

import asyncio
import json
import sys
import time
from typing import cast

import uvloop

from bench.load import HOST

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
BODIES_KEPT = 100
BACKLOG = 4096


class Seen:
    def __init__(self) -> None:
        self.at_s: list[float] = []
        self.bodies: list[str] = []

    def take(self) -> str:
        report = json.dumps({"at_s": self.at_s, "bodies": self.bodies})
        self.at_s, self.bodies = [], []
        return report


class Receiving(asyncio.Protocol):
    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self._received = b""
        self._began_s = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if not self._received:
            self._began_s = time.monotonic()
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end or len(body) < int(head.lower().partition(b"content-length: ")[2].split(b"\r", 1)[0]):
            return
        self._received = b""
        if head.startswith(b"POST /hang"):
            return
        self._seen.at_s.append(self._began_s)
        if len(self._seen.bodies) < BODIES_KEPT:
            self._seen.bodies.append(body.decode())
        self._transport.write(ANSWER)


async def run() -> None:
    seen = Seen()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Receiving(seen), HOST, 0, backlog=BACKLOG)
    print(server.sockets[0].getsockname()[1], flush=True)
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.readline():
        print(seen.take(), flush=True)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())
