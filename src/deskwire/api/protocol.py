"""The HTTP/1.1 connection: uvicorn's, bounded, so that a hostile client harms no connection but its own."""

import asyncio
import re
from collections.abc import Callable
from typing import Final, cast

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from deskwire.api.departures import Departing, Departures
from deskwire.api.exchange import Exchange, Outlet
from deskwire.api.pace import BODY, DEAF, FRESH, HEAD, IDLE, Lapse, Pace, Sight, Watch
from deskwire.api.refusal import (
    BODY_TOO_SLOW,
    HEAD_TOO_LARGE,
    HEAD_TOO_SLOW,
    NOT_HTTP,
    Refusal,
    Refused,
    invalid,
)
from deskwire.api.request_id import request_id_of
from deskwire.api.target import split_target
from deskwire.model import limits

WATCHED_HEADERS: Final = frozenset((b"host", b"expect", b"transfer-encoding"))
BODY_HIGH_WATER_BYTES: Final = 64 * 1024
UNKNOWN_METHOD: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+(?= [^ \r\n]+ HTTP/1\.[01]\r\n)")
# Of those that the parser knows, one that no endpoint has.
NOBODYS_METHOD: Final = b"UNLINK"


class BoundedProtocol(HttpToolsProtocol):
    """The request path reads no clock and sets no timer: it leaves counters behind, and `check`, which the
    server calls for every connection about once a second, sees from them for how long nothing has moved."""

    cycle: Exchange
    transport: Departing

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        loop: asyncio.AbstractEventLoop,
        pace: Pace,
        departures: Departures,
        note_refused: Callable[[int, str], None],
    ) -> None:
        super().__init__(config, server_state, {}, loop)
        self.departures = departures
        self.note_refused = note_refused
        self.watch = Watch(pace, loop.time())
        self.phase = FRESH
        self.requests = 0
        self.hosts = 0
        # Received since the last thing of use: bounds heads, chunk extensions, trailers and blank lines.
        self.framing_bytes = 0
        self.body_bytes = 0
        self.answering: Exchange | None = None
        # What to say, and the id of the request of which it is said.
        self.last_words: tuple[Refusal, str] | None = None
        self.is_ending = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        departing = Departing(transport, self.departures)
        super().connection_made(departing)
        self.outlet = Outlet(departing, self.hang_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self.connections.discard(self)
        if self.answering is not None:
            self.answering.hang_up()
        self.pipeline.clear()
        self.flow.resume_writing()
        self.parser = None  # type: ignore[assignment]
        # Otherwise it would be in a circle with its last exchange, whose body would stay until a collection.
        self.outlet.close = self.transport.close

    def data_received(self, data: bytes) -> None:
        phase = self.phase
        if phase == DEAF:
            return
        self.framing_bytes += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._ignore_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserInvalidMethodError:
            begun = UNKNOWN_METHOD.match(data) if phase in (FRESH, IDLE) else None
            if begun is not None and not is_known(begun[0]):
                # The answer is the same as for a method that nobody has.
                self._parse_anew(NOBODYS_METHOD + data[begun.end() :])
            else:
                self._refuse(NOT_HTTP)
        except httptools.HttpParserError as error:
            match error.__context__:
                case None:
                    self._refuse(NOT_HTTP)
                # Not the exception itself: it would be in a circle with this frame.
                case Refused(refusal=refusal):
                    self._refuse(refusal)
                case unexpected:
                    raise unexpected from None
        else:
            if self.framing_bytes > limits.REQUEST_HEAD_MAX_BYTES:
                self._refuse(HEAD_TOO_LARGE)

    def eof_received(self) -> bool:  # type: ignore[override]
        """A client that has said all it wants to say still gets its answer."""
        self.transport.send()
        if self.answering is None or self.phase not in (IDLE, DEAF):
            return False
        self.cycle.keep_alive = False
        return True

    # What the parser calls, in its order.

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= limits.PIPELINE_MAX_REQUESTS:
            self.cycle.keep_alive = False
            raise Refused(None)
        self.phase = HEAD
        self.requests += 1
        self.hosts = 0
        self.url = b""
        self.headers = []
        self.expect_100_continue = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.phase == BODY:
            return  # A trailer is no header: it could carry what was checked in the head.
        headers = self.headers
        if len(headers) >= limits.REQUEST_MAX_HEADERS:
            raise Refused(HEAD_TOO_LARGE)
        name = name.lower()
        if name in WATCHED_HEADERS:
            self._note(name, value)
        headers.append((name, value))

    def _note(self, name: bytes, value: bytes) -> None:
        if name == b"host":
            self.hosts += 1
        elif name == b"expect":
            self.expect_100_continue = value.lower() == b"100-continue"
        elif value.strip().lower() != b"chunked":
            raise Refused(invalid("the only Transfer-Encoding understood is chunked"))

    def on_headers_complete(self) -> None:
        parser = self.parser
        if parser.should_upgrade():
            return
        if self.framing_bytes > limits.REQUEST_HEAD_MAX_BYTES:
            self._measure_head()
        version = parser.get_http_version()
        if version == "1.1":
            if self.hosts != 1:
                raise Refused(invalid("an HTTP/1.1 request has exactly one Host header"))
        elif version != "1.0":
            raise Refused(NOT_HTTP)
        path, raw_path, query = split_target(self.url)
        self.scope = {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": version,
            "server": self.server,
            "client": self.client,
            "scheme": "http",
            "root_path": "",
            "headers": self.headers,
            "state": {},
            "method": parser.get_method().decode("ascii"),
            "path": path,
            "raw_path": raw_path,
            "query_string": query,
        }
        self._begin(version == "1.1" and parser.should_keep_alive() and not self.is_ending)

    def _begin(self, keep_alive: bool) -> None:
        self.phase = BODY
        self.body_bytes = self.framing_bytes = 0
        self.cycle = exchange = Exchange(
            self.scope,
            self.outlet,  # type: ignore[arg-type]
            self.flow,
            self.logger,
            self.access_logger,
            False,
            self.server_state.default_headers,
            asyncio.Event(),
            self.expect_100_continue,
            keep_alive,
            self.on_response_complete,
        )
        if self.answering is None:
            self.answering = exchange
            self._start_asgi_task(exchange, self.app)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((exchange, self.app))

    def on_body(self, body: bytes) -> None:
        self.framing_bytes = 0
        self.body_bytes += len(body)
        exchange = self.cycle
        exchange.body += body
        if len(exchange.body) > BODY_HIGH_WATER_BYTES:
            self.flow.pause_reading()
        exchange.message_event.set()

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        self.phase = IDLE
        self.framing_bytes = 0
        self.cycle.more_body = False
        self.cycle.message_event.set()

    def on_response_complete(self) -> None:
        if self.pipeline and not self.transport.is_closing():
            exchange, app = self.pipeline.pop()
            self.answering = cast("Exchange", exchange)
            self._start_asgi_task(exchange, app)
            return
        self.answering = None
        if self.transport.is_closing():
            return
        if self.last_words is not None:
            self._say(*self.last_words)
        elif self.phase != DEAF:
            self.flow.resume_reading()

    def resume_writing(self) -> None:
        self.watch.note_drained()
        super().resume_writing()

    # Endings.

    def shutdown(self) -> None:
        """Closes now what is idle, and what is under way with its answer."""
        self.is_ending = True
        if self.answering is not None:
            self.cycle.keep_alive = False
        elif self.phase not in (HEAD, BODY):
            self.transport.close()

    def hang_up(self) -> None:
        """Closes the connection, without destroying the answer of a client that is still sending."""
        if self.phase in (FRESH, IDLE) or self.transport.is_closing():
            self.transport.close()
            return
        self.phase = DEAF
        self.answering = None
        self.pipeline.clear()
        self.flow.resume_reading()
        self.transport.write_eof()

    def _refuse(self, refusal: Refusal | None) -> None:
        """Reads no further, and says why after the answers to what came before."""
        phase, self.phase = self.phase, DEAF
        if phase == BODY:
            self._abandon(self.cycle)
        if refusal is None or self.transport.is_closing():
            return
        request_id = request_id_of(self._sent_id() if phase in (HEAD, BODY) else None)
        if self.answering is None:
            self._say(refusal, request_id)
        else:
            self.last_words = refusal, request_id

    def _abandon(self, exchange: Exchange) -> None:
        if exchange is not self.answering:
            self.pipeline.popleft()
            return
        exchange.hang_up()
        self.answering = None
        if exchange.response_started:
            self.transport.abort()

    def _sent_id(self) -> bytes | None:
        return next((value for name, value in self.headers if name == b"x-request-id"), None)

    def _say(self, refusal: Refusal, request_id: str) -> None:
        self.last_words = None
        self.transport.write(refusal.render(request_id, self.server_state.default_headers))
        self.note_refused(refusal.status, request_id)
        self.hang_up()

    def _ignore_upgrade(self, rest: bytes) -> None:
        """Gives the parser, which stops at an upgrade, the same head without it: no upgrade is obligatory."""
        method = self.parser.get_method()
        if method == b"CONNECT":
            self._refuse(invalid("this is no proxy"))
            return
        lines = [
            b"%s %s HTTP/%s" % (method, self.url, self.parser.get_http_version().encode()),
            *(b"%s: %s" % header for header in self.headers if header[0] != b"upgrade"),
        ]
        self._parse_anew(b"\r\n".join([*lines, b"", b""]))
        self.data_received(rest)

    def _parse_anew(self, data: bytes) -> None:
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self.framing_bytes = 0
        self.data_received(data)

    def _measure_head(self) -> None:
        lines_bytes = sum(len(name) + len(value) + len(b": \r\n") for name, value in self.headers)
        if len(self.url) + lines_bytes > limits.REQUEST_HEAD_MAX_BYTES:
            raise Refused(HEAD_TOO_LARGE)

    def check(self, now_s: float) -> None:
        """Ends the connection when its client has not kept pace."""
        sight = Sight(
            phase=self.phase,
            requests=self.requests,
            body_bytes=self.body_bytes,
            unsent_bytes=self.transport.get_write_buffer_size(),
            is_answering=self.answering is not None,
            is_reading=not self.flow.read_paused,
        )
        match self.watch.look(sight, now_s):
            case Lapse.HEAD:
                self._refuse(HEAD_TOO_SLOW)
            case Lapse.BODY:
                self._refuse(BODY_TOO_SLOW)
            case Lapse.IDLE if self.phase != DEAF:
                self.transport.close()
            case Lapse.IDLE | Lapse.READING:
                self.transport.abort()


def is_known(method: bytes) -> bool:
    """Whether the parser, which has a list of them, knows a method."""
    try:
        httptools.HttpRequestParser(object()).feed_data(method + b" ")
    except httptools.HttpParserInvalidMethodError:
        return False
    return True
