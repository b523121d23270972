"""A connection that takes no more of an answer than anybody needs, whatever the receiver sends."""

import asyncio
import re
from typing import Any

from aiohttp import ClientResponse
from aiohttp.client_exceptions import ClientError
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import RawResponseMessage
from aiohttp.streams import StreamReader

from deskwire.model.limits import (
    ANSWER_BODY_PIECE_BYTES,
    ANSWER_HEAD_MAX_BYTES,
    ANSWER_PIECE_BYTES,
    ANSWER_READ_MAX_BYTES,
)

END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
LONGEST_END_OF_HEAD = 4


class HeadTooLong(Exception):
    """So much came before the body that what is sent there is no answer."""


class BoundedConnection(ResponseHandler):
    """aiohttp bounds each header and their number, but not interim answers, nor what nobody asked for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.requests = 0
        self.received_bytes = 0
        self._body: StreamReader | None = None
        self._end_of_last = b""

    def set_response_params(self, **params: Any) -> None:
        """The start of a request, the first on this connection or a further one."""
        self.requests += 1
        self.received_bytes = 0
        self._body = None
        self._end_of_last = b""
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        if len(data) <= ANSWER_PIECE_BYTES:
            self._take(data)
            return
        for start in range(0, len(data), ANSWER_PIECE_BYTES):
            self._take(data[start : start + ANSWER_PIECE_BYTES])

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        self._body = None

    def _take(self, piece: bytes) -> None:
        while self._body is None and (end := self._end_of_head(piece)):
            self._parse(piece[:end])
            piece = piece[end:]
            if not piece:
                return
        if self._body is None:
            self._parse(piece)
            return
        for start in range(0, len(piece), ANSWER_BODY_PIECE_BYTES):
            if self._body.is_eof():
                self._cut_off()
                return
            self._parse(piece[start : start + ANSWER_BODY_PIECE_BYTES])

    def _end_of_head(self, piece: bytes) -> int:
        """How much of the piece belongs to a head that ends in it; 0: none does.

        The parser drops a head that it has read whole if what follows it in the same piece is faulty, but a
        receiver has said what it had to say by then.
        """
        text = self._end_of_last + piece
        found = END_OF_HEAD.search(text)
        if found is None:
            self._end_of_last = text[-LONGEST_END_OF_HEAD + 1 :]
            return 0
        end = found.end() - len(self._end_of_last)
        self._end_of_last = b""
        return end

    def _parse(self, piece: bytes) -> None:
        self.received_bytes += len(piece)
        super().data_received(piece)
        if self._body is None and self.received_bytes >= ANSWER_HEAD_MAX_BYTES and self.requests:
            self.set_exception(HeadTooLong())
            self._cut_off()
        elif self.received_bytes >= ANSWER_HEAD_MAX_BYTES + ANSWER_READ_MAX_BYTES:
            # What frames a body can be without end too, and nobody who reads the body would ever see it.
            self._cut_off()

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        message, body = data
        is_interim = 100 <= message.code <= 199 and message.code != 101
        if is_interim or self._body is not None:
            return
        self._body = body
        super().feed_data(data, size)

    def _cut_off(self) -> None:
        if self.transport is not None:
            self.transport.abort()


async def read_body(response: ClientResponse) -> None:
    """Reads to the end, so that the connection can serve again, or gives it up where the end is far.

    What the body says is of no use to anybody, and neither is how it ends.
    """
    content, read_bytes = response.content, 0
    try:
        while not content.is_eof() and read_bytes < ANSWER_READ_MAX_BYTES:
            read_bytes += len(await content.readany())
    except (ClientError, OSError) as failure:
        let_go_of_frames(failure)
    finally:
        response.close()


def let_go_of_frames(failure: BaseException) -> None:
    """They hold pieces of the answer, in circles with the failure that would be collected late."""
    link: BaseException | None = failure
    while link is not None:
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
