"""A small HTTP/1.1 server that takes whatever it is sent, within bounds, and answers as it was told to."""

import asyncio
from collections import deque
from collections.abc import Callable
from http import HTTPStatus
from typing import NamedTuple, cast

import httptools

from deskwire.cli.reception import Request
from deskwire.model import limits
from deskwire.store.clock import system_clock

PHRASES = {status.value: status.phrase for status in HTTPStatus}
BODILESS = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Manners(NamedTuple):
    """How to answer; with `fail_first` only so many requests, and those after them at once with 200."""

    status: int = 200
    delay_s: float = 0
    drop: bool = False
    retry_after_s: int | None = None
    fail_first: int | None = None


class Answer(NamedTuple):
    """Without a status the connection is closed instead."""

    status: int | None
    retry_after_s: int | None
    delay_s: float


class Told(NamedTuple):
    """A request, and the status that it was answered with; None where the connection ended before."""

    request: Request
    answered: int | None


class Refused(NamedTuple):
    """Somebody sent what is no request, or too much of one."""

    status: HTTPStatus


class Receiver:
    """Decides on answers, and tells of each request once it has been answered or its sender has left."""

    def __init__(self, manners: Manners, tell: Callable[[Told | Refused], None]) -> None:
        self._manners = manners
        self._requests = 0
        self.tell = tell
        self.connections: set[Connection] = set()

    def decide(self) -> Answer:
        manners = self._manners
        self._requests += 1
        if manners.fail_first is not None and self._requests > manners.fail_first:
            return Answer(HTTPStatus.OK, None, 0)
        return Answer(None if manners.drop else manners.status, manners.retry_after_s, manners.delay_s)

    def close(self) -> None:
        for connection in list(self.connections):
            connection.abort()


class Connection(asyncio.Protocol):
    """One request at a time; what its sender does wrong ends it and nothing else."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._waiting: deque[tuple[Request, bool]] = deque()
        # The request that is being answered, and when that will happen.
        self._asked: tuple[Request, asyncio.TimerHandle] | None = None
        self._is_reading = False
        # Received since the last part of a body: bounds heads, trailers and the frames of chunks.
        self._framing_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._receiver.connections.add(self)
        self._deadline = self._loop.call_later(limits.KEEP_ALIVE_IDLE_S, self.abort)
        if len(self._receiver.connections) > limits.RECEIVER_CONNECTIONS:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE)

    def connection_lost(self, exc: Exception | None) -> None:
        self._receiver.connections.discard(self)
        self._deadline.cancel()
        if self._asked is not None:
            request, timer = self._asked
            timer.cancel()
            self._receiver.tell(Told(request, None))
        for request, _ in self._waiting:
            self._receiver.tell(Told(request, None))

    def data_received(self, data: bytes) -> None:
        if self._transport.is_closing():
            return
        self._framing_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            reason = error.__context__
            self._refuse(reason.status if isinstance(reason, Unacceptable) else HTTPStatus.BAD_REQUEST)
        else:
            if self._framing_bytes > limits.REQUEST_HEAD_MAX_BYTES:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def on_message_begin(self) -> None:
        self._is_reading = True
        self._expect_within(limits.REQUEST_BODY_TIMEOUT_S)
        self._target = b""
        self._headers: dict[str, str] = {}
        self._lines = 0
        self._body = bytearray()

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._lines += 1
        if self._lines > limits.REQUEST_MAX_HEADERS:
            raise Unacceptable(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        if self._parser.should_upgrade():
            raise Unacceptable(HTTPStatus.BAD_REQUEST)
        if self._headers.get("expect", "").lower() == "100-continue":
            self._transport.write(CONTINUE)

    def on_body(self, body: bytes) -> None:
        self._framing_bytes = 0
        self._body += body
        if len(self._body) > limits.RECEIVED_BODY_MAX_BYTES:
            raise Unacceptable(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)

    def on_message_complete(self) -> None:
        self._is_reading = False
        self._deadline.cancel()
        self._framing_bytes = 0
        request = Request(
            system_clock(),
            self._parser.get_method().decode("latin-1"),
            self._target.decode("latin-1"),
            self._headers,
            bytes(self._body),
        )
        self._waiting.append((request, self._parser.should_keep_alive()))
        waiting_bytes = sum(len(one.body) for one, _ in self._waiting)
        if (
            len(self._waiting) > limits.PIPELINE_MAX_REQUESTS
            or waiting_bytes > limits.RECEIVED_BODY_MAX_BYTES
        ):
            raise Unacceptable(HTTPStatus.TOO_MANY_REQUESTS)
        if self._asked is None:
            self._take_next()

    def abort(self) -> None:
        self._transport.abort()

    def _take_next(self) -> None:
        request, stays = self._waiting.popleft()
        answer = self._receiver.decide()
        if answer.delay_s:
            timer = self._loop.call_later(answer.delay_s, self._answer, request, answer, stays)
            self._asked = request, timer
        else:
            self._answer(request, answer, stays)

    def _answer(self, request: Request, answer: Answer, stays: bool) -> None:
        self._asked = None
        self._receiver.tell(Told(request, answer.status))
        if answer.status is None:
            self.abort()
            return
        self._transport.write(rendered(answer.status, answer.retry_after_s, stays=stays))
        if not stays:
            self._transport.close()
        elif self._waiting:
            self._take_next()
        elif not self._is_reading:
            self._expect_within(limits.KEEP_ALIVE_IDLE_S)

    def _expect_within(self, seconds: float) -> None:
        self._deadline.cancel()
        self._deadline = self._loop.call_later(seconds, self.abort)

    def _refuse(self, status: HTTPStatus) -> None:
        if not self._transport.is_closing():
            self._receiver.tell(Refused(status))
            self._transport.write(rendered(status, None, stays=False))
            self._transport.close()


class Unacceptable(Exception):
    """Raised while a request is parsed, which ends there."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status)
        self.status = status


def rendered(status: int, retry_after_s: int | None, *, stays: bool) -> bytes:
    lines = [f"HTTP/1.1 {int(status)} {PHRASES.get(status, '')}"]
    if status not in BODILESS:
        lines.append("Content-Length: 0")
    if retry_after_s is not None:
        lines.append(f"Retry-After: {retry_after_s}")
    lines.append(f"Connection: {'keep-alive' if stays else 'close'}")
    return "\r\n".join([*lines, "", ""]).encode()
