"""Answers that leave together: what connections write in one turn of the loop is sent at its end.

A client that waits is woken by the first bytes that reach it, and the sender pays for that. Sent one right
after another, the answers of a turn wake it once.
"""

import asyncio

from deskwire.model.limits import UNSENT_MAX_BYTES


class Departures:
    """The transports of all connections that have something to send when the turn ends."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: list[Departing] = []

    def await_end_of_turn(self, transport: "Departing") -> None:
        if not self._waiting:
            self._loop.call_soon(self._send)
        self._waiting.append(transport)

    def _send(self) -> None:
        waiting, self._waiting = self._waiting, []
        for transport in waiting:
            transport.send()


class Departing(asyncio.Transport):
    """A transport as its connection sees it; whatever ends it sends first what waits."""

    def __init__(self, transport: asyncio.Transport, departures: Departures) -> None:
        super().__init__()
        self._transport = transport
        self._departures = departures
        self._unsent: list[bytes] = []
        self._unsent_bytes = 0
        # Given as they are: most of them are called for every request.
        self.is_closing = transport.is_closing  # type: ignore[method-assign]
        self.pause_reading = transport.pause_reading  # type: ignore[method-assign]
        self.resume_reading = transport.resume_reading  # type: ignore[method-assign]
        self.get_extra_info = transport.get_extra_info  # type: ignore[method-assign]

    def write(self, data: bytes) -> None:  # type: ignore[override]
        if not self._unsent:
            self._departures.await_end_of_turn(self)
        self._unsent.append(data)
        self._unsent_bytes += len(data)
        if self._unsent_bytes > UNSENT_MAX_BYTES:
            # The transport says when it is more than the client takes.
            self.send()

    def send(self) -> None:
        unsent, self._unsent, self._unsent_bytes = self._unsent, [], 0
        if self._transport.is_closing():
            return
        for data in unsent:
            self._transport.write(data)

    def get_write_buffer_size(self) -> int:
        return self._unsent_bytes + self._transport.get_write_buffer_size()

    def write_eof(self) -> None:
        self.send()
        self._transport.write_eof()

    def close(self) -> None:
        self.send()
        self._transport.close()

    def abort(self) -> None:
        self.send()
        self._transport.abort()
