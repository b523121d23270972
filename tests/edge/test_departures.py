"""What a turn of the loop writes leaves at its end, on real sockets."""

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest
import uvloop

from deskwire.api.departures import Departing, Departures
from deskwire.model.limits import UNSENT_MAX_BYTES

Wire = tuple[Departing, socket.socket]


def on_wires(test: Callable[[Wire, Wire], Awaitable[None]]) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        departures = Departures(loop)

        async def wire() -> Wire:
            ours, theirs = socket.socketpair()
            theirs.setblocking(False)
            transport, _ = await loop.create_connection(asyncio.Protocol, sock=ours)
            return Departing(transport, departures), theirs

        wires = await wire(), await wire()
        try:
            await test(*wires)
        finally:
            for transport, theirs in wires:
                transport.abort()
                theirs.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


def has_come(theirs: socket.socket) -> bytes:
    try:
        return theirs.recv(2 * UNSENT_MAX_BYTES)
    except BlockingIOError:
        return b""


def test_what_is_written_in_a_turn_is_sent_at_its_end() -> None:
    async def test(one: Wire, other: Wire) -> None:
        one[0].write(b"a")
        other[0].write(b"b")
        one[0].write(b"c")
        assert (has_come(one[1]), has_come(other[1])) == (b"", b"")
        assert one[0].get_write_buffer_size() == 2
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (has_come(one[1]), has_come(other[1])) == (b"ac", b"b")
        assert one[0].get_write_buffer_size() == 0
        one[0].write(b"d")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert has_come(one[1]) == b"d"

    on_wires(test)


@pytest.mark.parametrize("end", ["close", "abort", "write_eof"])
def test_whatever_ends_a_connection_sends_first_what_waits(end: str) -> None:
    async def test(one: Wire, _other: Wire) -> None:
        one[0].write(b"last words")
        getattr(one[0], end)()
        await asyncio.sleep(0.01)
        assert has_come(one[1]) == b"last words"
        assert one[1].recv(1) == b""

    on_wires(test)


def test_what_is_large_does_not_wait() -> None:
    async def test(one: Wire, _other: Wire) -> None:
        one[0].write(bytes(UNSENT_MAX_BYTES))
        assert has_come(one[1]) == b""
        one[0].write(b"x")
        assert has_come(one[1]) != b""

    on_wires(test)


def test_a_connection_that_is_gone_keeps_nothing_from_the_others() -> None:
    async def test(one: Wire, other: Wire) -> None:
        one[0].close()
        one[0].write(b"too late")
        other[0].write(b"in time")
        await asyncio.sleep(0.01)
        assert has_come(other[1]) == b"in time"
        assert one[1].recv(8) == b""

    on_wires(test)
