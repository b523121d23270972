"""Clients that mean harm: each loses its own connection, and everybody else is served promptly."""

import contextlib
import os
import resource
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.edge.conftest import Desk

CHUNKED = b"POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_a_megabyte_of_header_is_refused(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 1_000_000 + b"\r\n\r\n")
        desk.assert_serves_promptly()
        answer = client.answer()
        assert (answer.status, answer.error) == (431, "HEADERS_TOO_LARGE")
        assert client.is_closed()


def test_a_head_that_comes_in_one_read_is_measured(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 65_600 + b"\r\n\r\n")
        assert client.answer().error == "HEADERS_TOO_LARGE"


def test_a_head_within_the_limit_is_served_whatever_follows_it(desk: Desk) -> None:
    head = b"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\nX: " + b"x" * 60_000 + b"\r\n\r\n"
    with desk.connect() as client:
        client.send(head + b"y" * 200_000)
        assert len(client.answer().body) == 200_003


def test_2000_headers_are_refused_and_100_are_not(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 99 + b"\r\n")
        assert client.answer().status == 200
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 2000 + b"\r\n")
        desk.assert_serves_promptly()
        answer = client.answer()
        assert (answer.status, answer.error) == (431, "HEADERS_TOO_LARGE")


def test_a_head_that_drips_is_timed_out(desk: Desk) -> None:
    with desk.connect() as client:
        client.drip(b"GET / HTTP/1.1\r\nHost: aaaaaaaaaaaa", 0.03)
        desk.assert_serves_promptly()
        answer = client.answer()
        assert (answer.status, answer.error) == (408, "REQUEST_TIMEOUT")
        assert client.is_closed()


@pytest.mark.parametrize("pause_s", [0.05, 0.5])
def test_a_body_that_drips_is_timed_out(desk: Desk, pause_s: float) -> None:
    with desk.connect() as client:
        client.send(b"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
        client.drip(b"x" * int(1.2 / pause_s), pause_s)
        desk.assert_serves_promptly()
        answer = client.answer()
        assert (answer.status, answer.error) == (408, "REQUEST_TIMEOUT")
    assert desk.calls.disconnects == 1


def test_a_connection_that_says_nothing_is_closed(desk: Desk) -> None:
    with desk.connect() as client:
        began_s = time.monotonic()
        assert client.is_closed()
        assert 0.25 < time.monotonic() - began_s < 1


def test_blank_lines_count_as_nothing_said(desk: Desk) -> None:
    with desk.connect() as client:
        client.drip(b"\r\n" * 10, 0.03)
        assert client.is_closed()


def test_an_idle_connection_is_closed_after_its_time_and_not_before(desk: Desk) -> None:
    with desk.connect() as client:
        for _ in range(4):
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert client.answer().status == 200
            time.sleep(0.25)
        began_s = time.monotonic()
        assert client.is_closed()
        assert time.monotonic() - began_s < 1


def test_a_slow_application_is_not_the_clients_fault(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
        time.sleep(1)
        desk.release()
        assert client.answer().body == b"/wait:hi"


def test_a_client_that_never_reads_is_cut(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n" * 4)
        time.sleep(1)
        desk.assert_serves_promptly()
        client.socket.settimeout(2)
        received = 0
        with contextlib.suppress(ConnectionResetError):
            while chunk := client.socket.recv(1 << 20):
                received += len(chunk)
        assert received < 4 * 3_000_000


def test_a_client_that_reads_slowly_is_not_cut(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        for _ in range(8):
            client.socket.recv(100_000)
            time.sleep(0.1)
        remaining = 3_000_000
        while remaining > 2_000_000 and (chunk := client.socket.recv(1 << 20)):
            remaining -= len(chunk)
        assert remaining <= 2_000_000


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"hello\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/3.0\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /한 HTTP/1.1\r\nHost: a\r\n\r\n".encode(),
        b"GET /?q=\xff HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused(desk: Desk, garbage: bytes) -> None:
    with desk.connect() as client:
        client.send(garbage)
        answer = client.answer()
        assert (answer.status, answer.error) == (400, "INVALID_REQUEST")
        assert client.is_closed()
    assert desk.calls.scopes == []
    desk.assert_serves_promptly()


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 3\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: chunked\r\nContent-Length: 3",
        b"Content-Length: 3\r\nContent-Length: 4",
        b"Content-Length: 3\r\nContent-Length: 3",
        b"Content-Length: 3, 3",
        b"Content-Length: +3",
        b"Content-Length: -3",
        b"Content-Length: 99999999999999999999999",
        b"Transfer-Encoding: gzip",
        b"Transfer-Encoding: gzip, chunked",
        b"Transfer-Encoding: chunked, identity",
        b"Transfer-Encoding: xchunked",
        b"Transfer-Encoding : chunked",
    ],
)
def test_a_length_in_doubt_is_refused(desk: Desk, headers: bytes) -> None:
    with desk.connect() as client:
        client.send(b"POST /p HTTP/1.1\r\nHost: a\r\n" + headers + b"\r\n\r\nabc")
        assert client.answer().error == "INVALID_REQUEST"
        assert client.is_closed()
    assert desk.calls.bodies == []


@pytest.mark.parametrize("chunk", [b"xyz\r\n", b"-1\r\n", b"fffffffffffffffff\r\n", b"2\r\nabc\r\n"])
def test_a_broken_chunk_is_refused(desk: Desk, chunk: bytes) -> None:
    with desk.connect() as client:
        client.send(CHUNKED + chunk)
        assert client.answer().error == "INVALID_REQUEST"
    desk.assert_serves_promptly()
    assert desk.calls.bodies == [b""]


@pytest.mark.parametrize("flood", [b"1;" + b"x" * 1_000_000, b"0\r\nT: " + b"x" * 1_000_000])
def test_chunk_extensions_and_trailers_are_bounded(desk: Desk, flood: bytes) -> None:
    with desk.connect() as client:
        client.send(CHUNKED + flood)
        desk.assert_serves_promptly()
        assert client.answer().error == "HEADERS_TOO_LARGE"


def test_garbage_after_a_request_is_refused_after_its_answer(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(
            b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n" + b"GET /2 HTTP/1.1\r\nHost: a\r\n\r\n" + b"\x00\x01\x02"
        )
        desk.release()
        assert client.answer().body == b"/wait:"
        assert client.answer().body == b"/2:"
        assert client.answer().error == "INVALID_REQUEST"


def test_a_bad_body_behind_a_waiting_request_is_refused_after_its_answer(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n" + CHUNKED + b"xyz\r\n")
        time.sleep(0.05)
        desk.release()
        assert client.answer().body == b"/wait:"
        assert client.answer().error == "INVALID_REQUEST"
    assert [scope["path"] for scope in desk.calls.scopes] == ["/wait"]


def test_a_bad_body_under_an_answer_that_has_begun_cuts_it(start_desk: Callable[..., Desk]) -> None:
    async def begin(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass

    desk = start_desk(app=begin)
    with desk.connect() as client:
        client.send(CHUNKED)
        while client.line() != b"\r\n":
            pass
        client.send(b"xyz\r\n")
        assert client.is_closed() or client.is_closed()


def test_a_drip_behind_a_waiting_request_is_refused_after_its_answer(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\nGET /2")
        time.sleep(0.5)
        desk.release()
        assert client.answer().body == b"/wait:"
        assert client.answer().error == "REQUEST_TIMEOUT"


def test_a_refused_client_that_sends_on_is_cut_at_last(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"\x00")
        began_s = time.monotonic()
        with contextlib.suppress(OSError):
            while time.monotonic() - began_s < 3:
                client.socket.send(b"x" * 1000)
                time.sleep(0.01)
        assert time.monotonic() - began_s < 2


def test_300_idle_connections_cost_nothing_but_themselves(desk: Desk) -> None:
    clients = [desk.connect() for _ in range(300)]
    try:
        desk.assert_serves_promptly()
        assert all(client.is_closed() for client in clients)
    finally:
        for client in clients:
            client.__exit__()


def test_a_client_that_leaves_is_reported_to_the_application(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
    desk.assert_serves_promptly()
    deadline_s = time.monotonic() + 2
    while desk.calls.disconnects == 0:
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def test_out_of_file_descriptors_the_next_client_waits_for_one(desk: Desk) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with desk.connect() as first:
        first.send(b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
        assert first.answer().status == 200
        next_free = os.dup(0)
        os.close(next_free)
        # Room for the client's own end and not for the server's.
        resource.setrlimit(resource.RLIMIT_NOFILE, (next_free + 1, before[1]))
        try:
            with desk.connect() as second:
                second.send(b"GET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
                time.sleep(0.1)
                first.__exit__()
                assert second.answer().status == 200
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
