"""How an application's answer becomes bytes, and what a faulty application's answer becomes."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.edge.conftest import Client, Desk

GET = b"GET %s HTTP/1.1\r\nHost: a\r\n\r\n"
START = "http.response.start"
BODY = "http.response.body"

Messages = list[dict[str, Any]]

ANSWERS: dict[str, Messages] = {
    "/stream": [
        {"type": START, "status": 200, "headers": []},
        {"type": BODY, "body": b"one", "more_body": True},
        {"type": BODY, "body": b"", "more_body": True},
        {"type": BODY, "body": b"two"},
    ],
    "/parts": [
        {"type": START, "status": 200, "headers": [(b"content-length", b"100002")]},
        {"type": BODY, "body": b"x" * 100_000, "more_body": True},
        {"type": BODY, "body": b"yz"},
    ],
    "/204": [{"type": START, "status": 204, "headers": []}, {"type": BODY}],
    "/304": [{"type": START, "status": 304, "headers": [(b"content-length", b"7")]}, {"type": BODY}],
    "/close": [
        {"type": START, "status": 200, "headers": [(b"connection", b"close"), (b"content-length", b"2")]},
        {"type": BODY, "body": b"ok"},
    ],
    "/injected": [{"type": START, "status": 200, "headers": [(b"x", b"a\r\nset-cookie: b")]}, {"type": BODY}],
    "/long": [
        {"type": START, "status": 200, "headers": [(b"content-length", b"1")]},
        {"type": BODY, "body": b"xy"},
    ],
    "/short": [
        {"type": START, "status": 200, "headers": [(b"content-length", b"2")]},
        {"type": BODY, "body": b"x"},
    ],
    "/nothing": [],
    "/headless": [{"type": BODY, "body": b"x"}],
    "/only-head": [{"type": START, "status": 200, "headers": []}],
    "/torn": [
        {"type": START, "status": 200, "headers": [(b"content-length", b"9")]},
        {"type": BODY, "body": b"x", "more_body": True},
    ],
    "/twice": [
        {"type": START, "status": 200, "headers": [(b"content-length", b"2")]},
        {"type": BODY, "body": b"ok"},
        {"type": BODY, "body": b"ok"},
    ],
}


async def answer_by_table(scope: Any, receive: Any, send: Any) -> None:
    for message in ANSWERS[scope["path"]]:
        await send(message)
        await asyncio.sleep(0)


@pytest.fixture
def client(start_desk: Callable[..., Desk]) -> Client:
    return start_desk(app=answer_by_table).connect()


def test_an_answer_without_length_is_chunked(client: Client) -> None:
    with client:
        client.send(GET % b"/stream" + GET % b"/close")
        lines = [client.line() for _ in range(8)]
        assert lines[2] == b"transfer-encoding: chunked\r\n"
        assert b"".join(lines[3:]) == b"\r\n3\r\none\r\n3\r\ntwo\r\n"
        assert client.line() + client.line() == b"0\r\n\r\n"
        assert client.answer().body == b"ok"


def test_an_answer_in_parts_keeps_its_length(client: Client) -> None:
    with client:
        client.send(GET % b"/parts")
        assert client.answer().body == b"x" * 100_000 + b"yz"


@pytest.mark.parametrize("status", [204, 304])
def test_what_has_no_body_has_none(client: Client, status: int) -> None:
    with client:
        client.send(GET % b"/%d" % status + GET % b"/close")
        answer = client.answer(head=True)
        assert answer.status == status
        assert "transfer-encoding" not in answer.headers
        assert client.answer().body == b"ok"


def test_an_application_may_close(client: Client) -> None:
    with client:
        client.send(GET % b"/close" + GET % b"/parts")
        assert client.answer().headers["connection"] == "close"
        assert client.is_closed()


@pytest.mark.parametrize(
    "path", [b"/injected", b"/long", b"/short", b"/nothing", b"/headless", b"/only-head", b"/x"]
)
def test_a_faulty_answer_is_an_internal_error(client: Client, path: bytes) -> None:
    with client:
        client.send(GET % path)
        answer = client.answer()
        assert answer.body == b'{"success":false,"error":{"code":"INTERNAL","message":""}}'
        assert (answer.status, answer.headers["connection"]) == (500, "close")
        assert "set-cookie" not in answer.headers
        assert client.is_closed()


def test_an_answer_that_breaks_off_is_cut(client: Client) -> None:
    with client:
        client.send(GET % b"/torn")
        assert client.line().startswith(b"HTTP/1.1 200")
        while client.line() != b"\r\n":
            pass
        assert client.line() == b"x"
        assert client.is_closed()


def test_what_follows_a_complete_answer_is_dropped(client: Client) -> None:
    with client:
        client.send(GET % b"/twice" + GET % b"/close")
        assert client.answer().body == b"ok"
        assert client.answer().body == b"ok"
        assert client.is_closed()
