"""The floor, a process: the same server, answering the same bytes from memory, without token or database.

It reads the bytes from standard input, and prints the port when it is ready.
"""

import asyncio
import signal
import socket
import sys

import uvloop
from starlette.types import Receive, Scope, Send

from bench.load import HOST
from deskwire.api.app import JSON
from deskwire.api.server import serve
from deskwire.model import limits


class Floor:
    def __init__(self, body: bytes) -> None:
        self._body = body
        self._headers = [
            *JSON,
            (b"content-length", b"%d" % len(body)),
            (b"x-request-id", b"00000000-0000-4000-8000-000000000000"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self._headers})
        await send({"type": "http.response.body", "body": self._body})


async def run(body: bytes) -> None:
    listener = socket.create_server((HOST, 0), backlog=limits.LISTEN_BACKLOG)
    listener.setblocking(False)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await serve(
        Floor(body), [listener], stop=stop, ready=lambda: print(listener.getsockname()[1], flush=True)
    )


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run(sys.stdin.buffer.read()))
