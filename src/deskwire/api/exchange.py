"""One request and its answer on a connection: uvicorn's cycle, with an answer that leaves in one write."""

import asyncio
from collections.abc import Callable, Iterable

from uvicorn._types import ASGI3Application, ASGISendEvent
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from deskwire.api.refusal import INTERNAL
from deskwire.api.request_id import request_id_of

# Up to here copying a body behind its head is cheaper than a second write.
_JOINED_MAX_BYTES = 64 * 1024
_BODILESS = (204, 304)


class Outlet:
    """What an exchange sees of its transport: closing it goes through the connection, which may linger."""

    __slots__ = ("close", "is_closing", "write")

    def __init__(self, transport: asyncio.Transport, close: Callable[[], None]) -> None:
        self.write = transport.write
        self.is_closing = transport.is_closing
        self.close = close


class Exchange(RequestResponseCycle):
    """The head of an answer waits for the first piece of the body."""

    _head = b""
    _has_body = True

    async def run_asgi(self, app: ASGI3Application) -> None:
        try:
            await app(self.scope, self.receive, self.send)
        except Exception:
            self.logger.exception("the application failed")
            await self._end()
        else:
            if not (self.response_complete or self.disconnected):
                self.logger.error("the application returned without a complete answer")
                await self._end()
        finally:
            self.on_response = _nothing

    async def _end(self) -> None:
        if self.response_complete:
            return
        if self.response_started and not self._head:
            self.transport.close()
            return
        self.response_started = False
        await self.send(
            {
                "type": "http.response.start",
                "status": INTERNAL.status,
                "headers": INTERNAL.headers(request_id_of(None)),
            }
        )
        await self.send({"type": "http.response.body", "body": INTERNAL.body(), "more_body": False})

    async def send(self, message: ASGISendEvent) -> None:
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        if message["type"] == "http.response.start" and not self.response_started:
            self.waiting_for_100_continue = False
            self._head = self._render_head(message["status"], message.get("headers", ()))
            self.response_started = True
        elif message["type"] == "http.response.body" and self.response_started and not self.response_complete:
            self._send_body(message.get("body", b""), message.get("more_body", False))
        else:
            raise RuntimeError(f"{message['type']} is out of place")

    def _render_head(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
        # A client that was promised `100 Continue`, or is still sending, could take the rest of its body for
        # the next request.
        keep_alive = self.keep_alive and not self.more_body
        self._has_body = self.scope["method"] != "HEAD" and status not in _BODILESS
        self.chunked_encoding = self._has_body
        lines = [STATUS_LINE[status][:-2], *(b"%b: %b" % header for header in self.default_headers)]
        for name, value in headers:
            if name == b"connection":
                keep_alive = keep_alive and value.lower() != b"close"
                continue
            if name == b"content-length":
                self.expected_content_length = int(value)
                self.chunked_encoding = False
            lines.append(b"%b: %b" % (name, value))
        if self.chunked_encoding:
            lines.append(b"transfer-encoding: chunked")
        if not keep_alive:
            lines.append(b"connection: close")
        self.keep_alive = keep_alive
        lines.append(b"\r\n")
        head = b"\r\n".join(lines)
        # A header with a line break of its own would let its author write the rest of the answer.
        if not head.count(b"\n") == head.count(b"\r") == len(lines):
            raise RuntimeError("a header holds a line break")
        return head

    def _send_body(self, body: bytes, more_body: bool) -> None:
        if not self._has_body:
            body = b""
        elif self.chunked_encoding:
            body = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + (
                b"" if more_body else b"0\r\n\r\n"
            )
        else:
            self.expected_content_length -= len(body)
            if self.expected_content_length < 0 or (self.expected_content_length and not more_body):
                raise RuntimeError("the body has not the length that Content-Length says")
        self._write(body)
        if not more_body:
            self.response_complete = True
            self.message_event.set()
            if not self.keep_alive:
                self.transport.close()
            self.on_response()

    def _write(self, body: bytes) -> None:
        head, self._head = self._head, b""
        if head and len(body) <= _JOINED_MAX_BYTES:
            self.transport.write(head + body)
            return
        self.transport.write(head)
        self.transport.write(body)

    def hang_up(self) -> None:
        """Tells the application that its client is gone."""
        self.disconnected = True
        self.message_event.set()


def _nothing() -> None:
    """Stands for a callback that has been called."""
