"""What HTTP/1.1 asks of the connection."""

import pytest

from tests.edge.conftest import Desk

GET = b"GET %s HTTP/1.1\r\nHost: a\r\n\r\n"


def test_pipelined_requests_are_answered_in_order(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"".join(GET % b"/%d" % number for number in range(20)))
        assert [client.answer().body for _ in range(20)] == [b"/%d:" % number for number in range(20)]


def test_pipelined_bodies_reach_their_own_request(desk: Desk) -> None:
    post = b"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n%d"
    with desk.connect() as client:
        client.send(b"".join(post % number for number in (100, 101, 102)))
        assert [client.answer().body for _ in range(3)] == [b"/p:100", b"/p:101", b"/p:102"]


def test_a_pipeline_without_end_is_answered_in_part_and_closed(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(GET % b"/many" * 1000)
        answers = [client.answer()]
        while answers[-1].headers.get("connection") != "close":
            answers.append(client.answer())
        assert 64 <= len(answers) < 200
        assert client.is_closed()
    desk.assert_serves_promptly()


def test_head_has_the_length_and_no_body(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"HEAD /head HTTP/1.1\r\nHost: a\r\n\r\n" + GET % b"/next")
        assert client.answer(head=True).headers["content-length"] == "6"
        assert client.answer().body == b"/next:"


def test_100_continue_is_said_when_the_body_is_wanted(desk: Desk) -> None:
    head = b"POST /p HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    with desk.connect() as client:
        client.send(head)
        assert client.line() + client.line() == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.send(b"hi")
        assert client.answer().body == b"/p:hi"


def test_an_answer_before_the_body_closes_the_connection(desk: Desk) -> None:
    head = b"POST /early HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    with desk.connect() as client:
        client.send(head)
        answer = client.answer()
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        assert client.is_closed()


def test_an_early_answer_survives_a_client_that_sends_on(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n" + b"x" * 3_000_000)
        assert client.answer().status == 200


@pytest.mark.parametrize("protocol", [b"websocket", b"h2c"])
def test_an_upgrade_is_ignored(desk: Desk, protocol: bytes) -> None:
    upgrade = b"GET /up HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n" % protocol
    with desk.connect() as client:
        client.send(upgrade + GET % b"/next" + upgrade)
        assert [client.answer().body for _ in range(3)] == [b"/up:", b"/next:", b"/up:"]


def test_an_upgrade_with_a_body_keeps_its_body(desk: Desk) -> None:
    head = (
        b"POST /up HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 41\r\n\r\n"
    )
    with desk.connect() as client:
        client.send(head + b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n123456" + GET % b"/next")
        assert client.answer().body.startswith(b"/up:GET /smuggled")
        assert client.answer().body == b"/next:"


def test_a_client_that_has_said_all_still_gets_its_answer(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(GET % b"/wait")
        client.socket.shutdown(1)
        desk.release()
        assert client.answer().body == b"/wait:"
        assert client.is_closed()


def test_a_trailer_is_no_header(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(
            b"POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"2;a=b\r\nhi\r\n0\r\nAuthorization: later\r\n\r\n"
        )
        assert client.answer().body == b"/p:hi"
    assert b"authorization" not in dict(desk.calls.scopes[0]["headers"])


def test_http_1_0_is_answered_and_closed(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"GET /old HTTP/1.0\r\n\r\n")
        answer = client.answer()
        assert (answer.body, answer.headers["connection"]) == (b"/old:", "close")
        assert client.is_closed()


def test_a_target_may_be_a_url(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(GET % b"http://a/%ED%95%9C?q=1" + GET % b"http://a")
        assert client.answer().body == "/한:".encode()
        assert client.answer().body == b"/:"
    assert desk.calls.scopes[0]["query_string"] == b"q=1"


def test_an_answer_carries_a_date_and_no_server(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(GET % b"/x")
        headers = client.answer().headers
    assert headers["date"].endswith("GMT")
    assert "server" not in headers


def test_a_failing_application_gives_the_envelope_and_no_reason(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(GET % b"/fail")
        answer = client.answer()
    assert answer.status == 500
    assert answer.body == b'{"success":false,"error":{"code":"INTERNAL","message":""}}'
    assert len(answer.headers["x-request-id"]) == 36


@pytest.mark.parametrize("method", [b"FOO", b"get", b"GETX", b"M-SEARCHES", b"A" * 300])
def test_a_method_that_nobody_knows_is_a_request_like_any_other(desk: Desk, method: bytes) -> None:
    with desk.connect() as client:
        client.send(GET % b"/one" + GET % b"/two")
        assert [client.answer().body, client.answer().body] == [b"/one:", b"/two:"]
        client.send(b"%b /three HTTP/1.1\r\nHost: a\r\n\r\n" % method + GET % b"/four")
        assert [client.answer().body, client.answer().body] == [b"/three:", b"/four:"]
    assert [scope["method"] for scope in desk.calls.scopes] == ["GET", "GET", "UNLINK", "GET"]


@pytest.mark.parametrize(
    "data",
    [
        b"FOO\r\n\r\n",
        b"FOO  /two HTTP/1.1\r\nHost: a\r\n\r\n",
        b"F(O /two HTTP/1.1\r\nHost: a\r\n\r\n",
        b"FOO /two HTTP/2.0\r\nHost: a\r\n\r\n",
        b"\x16\x03\x01 / HTTP/1.1\r\n\r\n",
    ],
)
def test_what_only_resembles_a_request_is_refused(desk: Desk, data: bytes) -> None:
    with desk.connect() as client:
        client.send(data)
        assert client.answer().status == 400
        assert client.is_closed()
    assert desk.calls.scopes == []


def test_an_unknown_method_behind_another_request_does_that_one_once(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(GET % b"/one" + b"FOO /two HTTP/1.1\r\nHost: a\r\n\r\n")
        assert client.answer().body == b"/one:"
        assert client.answer().status == 400
    assert [scope["path"] for scope in desk.calls.scopes] == ["/one"]


def test_what_a_body_ends_with_is_never_taken_for_a_request(desk: Desk) -> None:
    with desk.connect() as client:
        client.send(b"POST /one HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n")
        client.send(b"FOO /two HTTP/1.1\r\nHost: a\r\n\r\n")
        client.answer()
        assert client.answer().status == 400
    assert [scope["path"] for scope in desk.calls.scopes] == ["/one"]


@pytest.mark.parametrize(
    ("sent", "is_echoed"), [(b"my-id", True), (b"my-id \t", True), (b"my id", False), (b"", False)]
)
def test_a_refusal_carries_the_id_of_the_request_that_is_refused(
    desk: Desk, sent: bytes, is_echoed: bool
) -> None:
    with desk.connect() as client:
        client.send(b"GET / HTTP/1.1\r\nX-Request-ID: earlier\r\nHost: a\r\n\r\n")
        client.answer()
        client.send(b"GET / HTTP/1.1\r\nX-Request-ID: %b\r\nHost: a\r\nHost: b\r\n\r\n" % sent)
        refused = client.answer()
    assert refused.status == 400
    assert (refused.headers["x-request-id"] == "my-id") == is_echoed
    assert refused.headers["x-request-id"] != "earlier"
