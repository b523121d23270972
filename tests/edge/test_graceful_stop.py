"""A stop answers what is under way and keeps nobody waiting."""

import time
from collections.abc import Callable

from tests.edge.conftest import Desk

GET = b"GET %s HTTP/1.1\r\nHost: a\r\n\r\n"


def _wait_for_request(desk: Desk) -> None:
    deadline_s = time.monotonic() + 2
    while not desk.calls.scopes:
        assert time.monotonic() < deadline_s
        time.sleep(0.005)


def test_a_request_under_way_is_answered_and_closed(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(GET % b"/wait")
        _wait_for_request(desk)
        desk.stop()
        time.sleep(0.1)
        desk.release()
        answer = client.answer()
        assert (answer.body, answer.headers["connection"]) == (b"/wait:", "close")
        assert client.is_closed()
    desk.join()


def test_a_body_under_way_may_still_come(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab")
        _wait_for_request(desk)
        desk.stop()
        time.sleep(0.1)
        client.send(b"c")
        assert client.answer().body == b"/p:abc"
    desk.join()


def test_idle_connections_are_closed_at_once(start_desk: Callable[..., Desk]) -> None:
    desk = start_desk(grace_s=30)
    with desk.connect() as fresh, desk.connect() as idle:
        idle.send(GET % b"/x")
        idle.answer()
        began_s = time.monotonic()
        desk.stop()
        assert idle.is_closed()
        assert fresh.is_closed()
        desk.join()
        assert time.monotonic() - began_s < 0.5


def test_no_connection_is_accepted_after_the_stop(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(GET % b"/wait")
        _wait_for_request(desk)
        desk.stop()
        time.sleep(0.1)
        try:
            desk.connect()
            raise AssertionError("accepted")
        except ConnectionRefusedError:
            pass
        desk.release()
        assert client.answer().status == 200


def test_what_exceeds_the_grace_is_cut(start_desk: Callable[..., Desk]) -> None:
    desk = start_desk(grace_s=0.2)
    with desk.connect() as client:
        client.send(GET % b"/wait")
        _wait_for_request(desk)
        began_s = time.monotonic()
        desk.stop()
        assert client.is_closed()
        desk.join()
        assert 0.15 < time.monotonic() - began_s < 1
