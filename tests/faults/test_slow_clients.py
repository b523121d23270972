"""Hundreds of clients that drip, linger or do not read: the others are answered all the while."""

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

import pytest

from tests.faults.desk import FaultyDesk
from tests.faults.report import Report, spread
from tests.system.conftest import Hire
from tests.system.operators import PREFIX
from tests.system.writers import REPLIES

DRIP_S = 0.5
PATIENCE_S = 40
# Each has to be answered; a machine with much else to do may take its time.
ANSWERED_S = 10
MANY = [pytest.mark.stress, pytest.mark.timeout(600)]


class Slow:
    """A connection on which a byte comes now and then, if any, and nothing is read until the end."""

    def __init__(self, port: int, beginning: bytes, drip: bytes) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), 20)
        self._socket.sendall(beginning)
        self._socket.setblocking(False)
        self._drip = drip

    def drip(self) -> None:
        with suppress(OSError):
            self._socket.send(self._drip)

    @property
    def first_line(self) -> bytes:
        """What it was told so far."""
        try:
            return self._socket.recv(1024).partition(b"\r\n")[0]
        except OSError:
            return b""

    def __enter__(self) -> "Slow":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()


@contextmanager
def dripping(clients: Sequence[Slow]) -> Iterator[None]:
    done = threading.Event()

    def drip() -> None:
        while not done.wait(DRIP_S):
            for each in clients:
                each.drip()

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("each", [60, pytest.param(150, marks=MANY)])
def test_slow_clients_by_the_hundred_hold_up_nobody(hire: Hire, report: Report, each: int) -> None:
    desk = FaultyDesk(hire("sqlite"), "--no-delivery")
    authorization = b"Host: a\r\nAuthorization: Bearer %s\r\n" % desk.token.encode()
    body = b"POST %s HTTP/1.1\r\n%sContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{" % (
        (PREFIX + REPLIES).encode(),
        authorization,
    )
    page = b"GET %s/channels HTTP/1.1\r\n%s\r\n" % (PREFIX.encode(), authorization)
    port, took_s, written = desk.served.port, [], 0
    with ExitStack() as crowd:
        heads = [crowd.enter_context(Slow(port, b"GET / HTTP/1.1\r\nX: a", b"a")) for _ in range(each)]
        bodies = [crowd.enter_context(Slow(port, body, b" ")) for _ in range(each)]
        deaf = [crowd.enter_context(Slow(port, page * 50, b"")) for _ in range(each)]
        timed_out = 0
        crowd.enter_context(dripping([*heads, *bodies]))
        give_up_at = time.monotonic() + PATIENCE_S
        while timed_out < each:
            assert time.monotonic() < give_up_at
            began_at = time.monotonic()
            with desk.client() as client:
                assert client.api("/channels").status == 200
                reply = {"content_type": "text", "content": f"w0 {written}"}
                assert client.post(REPLIES, reply).status == 201
            took_s.append(time.monotonic() - began_at)
            written += 1
            time.sleep(0.02)
            timed_out += sum(b" 408 " in slow.first_line for slow in heads)
        assert len(deaf) == each
    assert max(took_s) < ANSWERED_S
    with desk.client() as client:
        assert client.api(REPLIES.removesuffix("/messages")).data["message_count"] == written
    assert desk.served.stop() == 0
    desk.assert_sound()
    report(
        slow_clients=3 * each,
        cut_off_heads=timed_out,
        others_asked_meanwhile=2 * written,
        a_read_and_a_write_took=spread(took_s),
        lost=0,
    )
