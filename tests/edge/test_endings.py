"""However a connection ends, nothing of it waits for the garbage collector, which a server runs seldom."""

import gc
import time

import pytest

from deskwire.api.protocol import BoundedProtocol
from tests.edge.conftest import Client, Desk

GET = b"GET /p HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST %b HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"
GONE_S = 5
SAID = {
    "nothing": b"",
    "a request": GET,
    "many requests": GET * 5,
    "more requests than are answered": GET * 200,
    "a whole body": POST % b"/p" + b"x" * 1_000_000,
    "half a body": POST % b"/p" + b"x" * 500_000,
    "a body that nobody reads": POST % b"/early" + b"x" * 500_000,
    "a body for an application that waits": POST % b"/wait" + b"x" * 500_000,
    "a request that fails": b"GET /fail HTTP/1.1\r\nHost: a\r\n\r\n",
    "a request whose answer is never read": b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n",
    "half a head": GET[:-8],
    "a head too large": GET[:-2] + b"X: " + b"x" * 100_000 + b"\r\n\r\n",
    "no HTTP": b"\x16\x03\x01 hello\r\n\r\n",
    "an upgrade": GET[:-2] + b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    "bad chunks": b"POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
}


@pytest.mark.parametrize("stays", [False, True], ids=["the client leaves", "the client stays"])
@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_nothing_of_a_connection_waits_for_the_garbage_collector(
    desk: Desk, said: bytes, stays: bool
) -> None:
    gc.collect()
    gc.disable()
    try:
        with desk.connect() as client:
            speak(client, said)
            desk.release()
            if stays:
                wait_until_gone()
        wait_until_gone()
    finally:
        gc.enable()


def speak(client: Client, said: bytes) -> None:
    """As much of it as the other side takes."""
    client.socket.settimeout(0.2)
    try:
        client.send(said)
    except OSError:
        return
    time.sleep(0.05)


def wait_until_gone() -> None:
    give_up_at = time.monotonic() + GONE_S
    while left := [each for each in gc.get_objects() if type(each) is BoundedProtocol]:
        assert time.monotonic() < give_up_at, f"{len(left)} connections are still there"
        del left
        time.sleep(0.02)
