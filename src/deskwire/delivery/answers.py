"""A connection to a receiver, which takes no more of an answer than anybody needs, whatever is sent."""

import asyncio
import select

import httptools

from deskwire.delivery.exchange import Exchange
from deskwire.model.limits import ANSWER_HEAD_MAX_BYTES, ANSWER_PIECE_BYTES, ANSWER_READ_MAX_BYTES

# What frames a body can be without end, too.
ANSWER_MAX_BYTES = ANSWER_HEAD_MAX_BYTES + ANSWER_READ_MAX_BYTES
# Of an answer, unless empty lines come before it. The parser takes RTSP and ICE as well.
FIRST_BYTES = (b"H", b"\r", b"\n")


class HeadTooLong(Exception):
    """So much came before the body that what is sent there is no answer."""


class NotHttp(Exception):
    """What came is no answer."""


class Closed(Exception):
    """Nothing more comes, and there was no answer."""


class Superfluous(Exception):
    """An answer follows the one that was asked for."""


class Connection(asyncio.Protocol):
    """One request after another. The head of an answer decides; its body is read, up to a limit, so that the
    connection can serve again."""

    def __init__(self, open_ones: "set[Connection]") -> None:
        # Its last answer is whole, and it may serve again.
        self.is_free = False
        self.idle_since = 0.0
        self._open_ones = open_ones
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._requests = self._received_bytes = 0
        self._exchange: Exchange | None = None
        self._answered: asyncio.Future[None] | None = None
        self._is_interim = self._is_whole = self._may_stay = False
        self._body_bytes = 0
        self._parser: httptools.HttpResponseParser | None = None

    @property
    def was_dead(self) -> bool:
        """Whether it had served before, and brought not one byte of an answer to the last request."""
        return self._requests > 1 and not self._received_bytes

    async def ask(self, exchange: Exchange, request: bytes) -> None:
        """Sends a request, and waits for the end of its answer, or of what is taken of it."""
        self._requests += 1
        self._received_bytes = self._body_bytes = 0
        self.is_free = self._is_whole = False
        if self._transport is None:
            exchange.failure = Closed()
            return
        self._exchange = exchange
        self._answered = self._loop.create_future()
        self._transport.write(request)
        await self._answered

    def is_quiet(self) -> bool:
        """Whether nothing came since the last answer, its end included, nor waits to be read."""
        if self._transport is None or self._transport.is_closing():
            return False
        opened = self._transport.get_extra_info("socket")
        # Under TLS the socket can be gone before the loop has said so.
        if opened is None or opened.fileno() < 0:
            return False
        look = select.poll()
        look.register(opened, select.POLLIN)
        return not look.poll(0)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    # What the transport calls.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        self._parser = httptools.HttpResponseParser(self)
        # As browsers read answers, and small servers write them.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        self._open_ones.add(self)

    def data_received(self, data: bytes) -> None:
        if len(data) <= ANSWER_PIECE_BYTES:
            self._take(data)
            return
        for start in range(0, len(data), ANSWER_PIECE_BYTES):
            self._take(data[start : start + ANSWER_PIECE_BYTES])

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(exc or Closed())
        self.is_free = False
        # It would be in a circle with its parser and its transport.
        self._parser = self._transport = None
        self._open_ones.discard(self)

    # What the parser calls, in its order.

    def on_message_begin(self) -> None:
        if self._is_whole:
            raise Superfluous

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(name) != len(b"retry-after") or name.lower() != b"retry-after":
            return
        # What follows a body in chunks is no part of the head.
        if self._exchange is not None and self._exchange.status is None:
            self._exchange.retry_after = value

    def on_headers_complete(self) -> None:
        assert self._parser is not None and self._exchange is not None
        status = self._parser.get_status_code()
        self._is_interim = 100 <= status <= 199 and status != 101
        if self._is_interim:
            self._exchange.retry_after = b""
            return
        self._exchange.status = status
        self._may_stay = self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)

    def on_message_complete(self) -> None:
        self._is_whole = not self._is_interim

    def _take(self, piece: bytes) -> None:
        exchange = self._exchange
        if exchange is None or self._parser is None:
            # Nobody asked for it, so nothing that comes here can be trusted to be the answer to anything.
            self._cut_off(None)
            return
        is_first = not self._received_bytes
        self._received_bytes += len(piece)
        if is_first and not piece.startswith(FIRST_BYTES):
            self._cut_off(NotHttp())
            return
        try:
            self._parser.feed_data(piece)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._cut_off(NotHttp())
            return
        if self._is_whole:
            # What was not sent yet would come before the next request.
            self.is_free = self._may_stay and not self._has_unsent
            self._end(None)
        elif exchange.status is None and self._received_bytes >= ANSWER_HEAD_MAX_BYTES:
            self._cut_off(HeadTooLong())
        elif self._body_bytes >= ANSWER_READ_MAX_BYTES or self._received_bytes >= ANSWER_MAX_BYTES:
            self._cut_off(None)

    def _cut_off(self, failure: Exception | None) -> None:
        self._end(failure)
        self.is_free = False
        self.abort()

    def _end(self, failure: Exception | None) -> None:
        """The head of an answer has decided; without one, the failure does."""
        if self._exchange is None or self._answered is None:
            return
        if self._exchange.status is None:
            self._exchange.failure = failure
        if not self._answered.done():
            self._answered.set_result(None)
        self._exchange = self._answered = None

    @property
    def _has_unsent(self) -> bool:
        return self._transport is None or self._transport.get_write_buffer_size() > 0
