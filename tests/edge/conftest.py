"""A real server on a real socket, with time limits short enough for tests."""

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvloop

from deskwire.api.pace import Pace
from deskwire.api.server import serve

SHORT = Pace(
    head_s=0.3, body_gap_s=0.3, body_s=0.8, idle_s=0.5, stall_s=0.3, linger_s=0.3, check_interval_s=0.03
)


class Calls:
    """What the application has seen."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.scopes: list[dict[str, Any]] = []
        self.disconnects = 0
        self.release = asyncio.Event()


class Desk:
    """A server in a thread of its own."""

    def __init__(self, pace: Pace, grace_s: float, app: Any) -> None:
        self.calls = Calls()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self._pace, self._grace_s, self._app = pace, grace_s, app or self._note
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(5)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        await serve(
            self._app,
            [self.listener],
            stop=self._stop,
            ready=self._ready.set,
            grace_s=self._grace_s,
            pace=self._pace,
        )

    async def _note(self, scope: Any, receive: Any, send: Any) -> None:
        self.calls.scopes.append(scope)
        path = scope["path"]
        if path == "/fail":
            raise RuntimeError("secret of the house")
        if path == "/wait":
            await self.calls.release.wait()
        body = b""
        if path not in ("/early", "/stream"):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    self.calls.disconnects += 1
                    return
                body += message["body"]
                if not message["more_body"]:
                    break
        self.calls.bodies.append(body)
        answer = b"x" * 3_000_000 if path == "/large" else path.encode() + b":" + body
        headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(answer))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)

    def release(self) -> None:
        self._loop.call_soon_threadsafe(self.calls.release.set)

    def join(self) -> None:
        self._thread.join(10)
        assert not self._thread.is_alive()

    def connect(self) -> "Client":
        return Client(self.port)

    def assert_serves_promptly(self) -> None:
        began_s = time.monotonic()
        with self.connect() as client:
            client.send(b"GET /prompt HTTP/1.1\r\nHost: a\r\n\r\n")
            assert client.answer().status == 200
        assert time.monotonic() - began_s < 0.5


class Answer:
    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def error(self) -> str:
        document = json.loads(self.body)
        assert document["success"] is False
        assert document["error"]["message"]
        assert self.headers["content-type"] == "application/json"
        assert self.headers["connection"] == "close"
        assert len(self.headers["x-request-id"]) == 36
        return str(document["error"]["code"])


class Client:
    """A client that sends whatever bytes it is told to."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self._file = self.socket.makefile("rb")

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def drip(self, data: bytes, every_s: float) -> None:
        for byte in data:
            try:
                self.socket.send(bytes([byte]))
            except OSError:
                return
            time.sleep(every_s)

    def line(self) -> bytes:
        return self._file.readline()

    def answer(self, *, head: bool = False) -> Answer:
        status = self.line()
        assert status.startswith(b"HTTP/1.1 "), status
        headers = {}
        while (line := self.line().strip()) != b"":
            name, _, value = line.decode().partition(": ")
            headers[name.lower()] = value
        body = b"" if head else self._file.read(int(headers["content-length"]))
        return Answer(int(status.split()[1]), headers, body)

    def is_closed(self) -> bool:
        """Waits for the other side to close."""
        try:
            return self._file.read(1) == b""
        except ConnectionResetError:
            return True


@pytest.fixture
def start_desk() -> Iterator[Callable[..., Desk]]:
    started: list[Desk] = []

    def start(pace: Pace = SHORT, grace_s: float = 1.0, app: Any = None) -> Desk:
        desk = Desk(pace, grace_s, app)
        desk.start()
        started.append(desk)
        return desk

    yield start
    for desk in started:
        with contextlib.suppress(RuntimeError):  # The loop is closed when the test has stopped it.
            desk.release()
            desk.stop()
        desk.join()


@pytest.fixture
def desk(start_desk: Callable[..., Desk]) -> Desk:
    return start_desk()
