"""`deskwire listen` as a process of its own, with real clients, good and bad."""

import http.client
import json
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from deskwire.model.limits import (
    PIPELINE_MAX_REQUESTS,
    RECEIVED_BODY_MAX_BYTES,
    RECEIVER_CONNECTIONS,
    REQUEST_HEAD_MAX_BYTES,
)
from deskwire.model.signatures import sign
from tests.cli.conftest import Deskwire
from tests.cli.program import command, environment

SECRET = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
EVENT = {
    "kind": "message.created",
    "workspace_id": "w",
    "timestamp": "2026-03-05T09:41:12.350094Z",
    "data": {"message_id": "m"},
}
BODY = json.dumps(EVENT).encode()
WAIT_S = 30


class Listening:
    """The process, and what it says."""

    def __init__(self, folder: Path, *options: object) -> None:
        self.process = subprocess.Popen(
            command(folder / "nowhere", "listen", "--port", "0", *options),
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        said = self.line()
        self.url = (
            json.loads(said)["listening"] if "--json" in options else said.removeprefix("listening on ")
        )
        self.port = urlsplit(self.url).port or 0

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().removesuffix("\n")

    def told(self) -> Any:
        return json.loads(self.line())

    def post(self, body: bytes = BODY, headers: Mapping[str, str] = {}) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        connection.request("POST", "/hook", body, dict(headers))
        answer = connection.getresponse()
        connection.close()
        return answer

    def connect(self, sent: bytes = b"") -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)
        connection.sendall(sent)
        return connection

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=WAIT_S)
        return self.process.returncode, out, err


Start = Callable[..., Listening]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Listening] = []

    def begin(*options: object) -> Listening:
        started.append(Listening(tmp_path, *options))
        return started[-1]

    yield begin
    for each in started:
        each.process.kill()
        each.process.communicate()


def test_a_signed_delivery_is_told_as_one_json_object_a_line(start: Start, tmp_path: Path) -> None:
    listening = start("--secret", SECRET, "--json")
    signed = {"X-Webhook-Signature": sign(SECRET, BODY), "X-Webhook-Timestamp": "1772703671"}
    assert listening.post(headers=signed).status == 200
    first = listening.told()
    assert first["received_at"].endswith("Z")
    assert first["attempted_at"] == "2026-03-05T09:41:11.000000Z"
    assert first["headers"]["x-webhook-signature"] == sign(SECRET, BODY)
    assert {key: first[key] for key in ("method", "path", "signature", "seen_before", "answered")} == {
        "method": "POST",
        "path": "/hook",
        "signature": "valid",
        "seen_before": False,
        "answered": 200,
    }
    assert (first["kind"], first["event_id"], first["body"]) == ("message.created", "m", EVENT)
    listening.post(BODY + b" ", signed)
    second = listening.told()
    assert (second["signature"], second["seen_before"]) == ("invalid", True)
    assert listening.end() == (0, "", "")
    assert not (tmp_path / "nowhere").exists()


def test_a_person_reads_a_block(start: Start) -> None:
    listening = start("--secret", SECRET)
    assert listening.url.startswith("http://127.0.0.1:")
    listening.post(headers={"X-Webhook-Signature": sign(SECRET, BODY)})
    block = [listening.line() for _ in range(9)]
    assert block[0].endswith("  POST /hook")
    assert "  kind       message.created" in block
    assert "  signature  valid" in block
    assert block[-1] == ""
    assert listening.end() == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_as_done_though_clients_are_connected(start: Start, number: int) -> None:
    listening = start("--delay", "1d", "--json")
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
    with listening.connect(), listening.connect(head % 9), listening.connect(head % 0):
        assert listening.end(number) == (0, "", "")


def test_a_port_that_is_taken_is_a_failure(deskwire: Deskwire) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        failed = deskwire("listen", "--port", port)
    assert failed.code == 1
    assert failed.complaint == f"cannot listen on 127.0.0.1 port {port}: Address already in use"


def test_a_host_that_is_none_is_a_failure(deskwire: Deskwire) -> None:
    failed = deskwire("listen", "--host", "256.0.0.1.invalid", "--port", 0)
    assert failed.code == 1
    assert failed.complaint.startswith("cannot listen on 256.0.0.1.invalid port 0: ")


@pytest.mark.parametrize(
    "argv",
    [
        ("--drop", "--status", "500"),
        ("--drop", "--retry-after", "5s"),
        ("--status", "199"),
        ("--secret", "abc"),
        ("--secret", "g" * 64),
        ("--delay", "5"),
        ("--fail-first", "0"),
    ],
)
def test_wrong_usage_is_refused(deskwire: Deskwire, argv: tuple[str, ...]) -> None:
    refused = deskwire("listen", "--port", 0, *argv)
    assert refused.code == 2
    assert refused.complaint.endswith("see `deskwire listen --help`")


def test_the_first_requests_fail_and_then_all_is_well(start: Start) -> None:
    listening = start("--fail-first", 2, "--retry-after", "30s", "--json")
    answers = [listening.post() for _ in range(3)]
    assert [answer.status for answer in answers] == [503, 503, 200]
    assert [answer.headers["Retry-After"] for answer in answers] == ["30", "30", None]
    assert [listening.told()["answered"] for _ in answers] == [503, 503, 200]


@pytest.mark.parametrize("status", [200, 204, 302, 429, 599])
def test_it_answers_with_the_status_that_is_wanted(start: Start, status: int) -> None:
    listening = start("--status", status, "--json")
    connection = http.client.HTTPConnection("127.0.0.1", listening.port, timeout=WAIT_S)
    for _ in range(2):
        connection.request("POST", "/", BODY)
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (status, b"")
    connection.close()


def test_a_connection_is_dropped_without_an_answer(start: Start) -> None:
    listening = start("--drop", "--fail-first", 1, "--json")
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        listening.post()
    assert listening.told()["answered"] is None
    assert listening.post().status == 200


def test_an_answer_can_be_delayed(start: Start) -> None:
    listening = start("--delay", "1s", "--json")
    began = time.monotonic()
    assert listening.post().status == 200
    assert time.monotonic() - began >= 1


def test_a_sender_that_does_not_wait_is_told_as_unanswered(start: Start) -> None:
    listening = start("--delay", "1d", "--json")
    request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)
    listening.connect(request).close()
    told = listening.told()
    assert (told["answered"], told["event_id"]) == (None, "m")


def test_requests_that_come_at_once_are_answered_in_order(start: Start) -> None:
    listening = start("--json")
    one = b"POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
    with listening.connect(b"".join(one % n for n in range(20))) as connection:
        assert [listening.told()["path"] for _ in range(20)] == [f"/{n}" for n in range(20)]
        received = b""
        while received.count(b"HTTP/1.1 200 OK") < 20:
            received += connection.recv(65536)


def test_a_body_in_chunks_is_put_together_and_one_that_asks_first_is_welcome(start: Start) -> None:
    listening = start("--json")
    head = b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"
    with listening.connect(head) as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        connection.sendall(b"2\r\n[1\r\n3\r\n,2]\r\n0\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
    assert listening.told()["body"] == [1, 2]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00", 400),
        (b"NOT HTTP AT ALL\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"GET /%b HTTP/1.1\r\nHost: x\r\n\r\n" % (b"x" * 16 * REQUEST_HEAD_MAX_BYTES), 431),
        (b"GET / HTTP/1.1\r\n%b" % (b"a: b\r\n" * 200), 431),
        (
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n"
            + bytes(RECEIVED_BODY_MAX_BYTES + 1),
            413,
        ),
    ],
)
def test_a_bad_client_is_refused_and_the_next_good_one_is_served(
    start: Start, sent: bytes, status: int
) -> None:
    listening = start("--json")
    with listening.connect() as connection:
        try:
            connection.sendall(sent)
            assert connection.recv(100).startswith(b"HTTP/1.1 %d " % status)
        except (ConnectionResetError, BrokenPipeError):
            # It may be cut off while it still sends, and the answer with it.
            pass
    assert listening.post().status == 200
    assert listening.told()["path"] == "/hook"
    code, _, err = listening.end()
    assert code == 0
    assert err.count("\n") == 1
    assert err.startswith(f"deskwire: a client was answered {status} ")


def test_more_connections_than_it_takes_are_refused_and_harm_nobody(start: Start) -> None:
    listening = start("--json")
    crowd = [listening.connect() for _ in range(RECEIVER_CONNECTIONS)]
    with listening.connect() as one_more:
        assert one_more.recv(100).startswith(b"HTTP/1.1 503 ")
    crowd[0].sendall(b"GET /still HTTP/1.1\r\nHost: x\r\n\r\n")
    assert listening.told()["path"] == "/still"
    for connection in crowd:
        connection.close()


def test_more_requests_at_once_than_it_keeps_end_their_connection(start: Start) -> None:
    listening = start("--delay", "1d", "--json")
    one = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    with listening.connect(one * (PIPELINE_MAX_REQUESTS + 2)) as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 429 ")
    assert [listening.told()["answered"] for _ in range(PIPELINE_MAX_REQUESTS + 2)] == [None] * (
        PIPELINE_MAX_REQUESTS + 2
    )


def test_it_ends_when_nobody_reads_what_it_says(start: Start) -> None:
    listening = start("--json")
    assert listening.process.stdout is not None
    listening.process.stdout.close()
    listening.process.stdout = None
    listening.post()
    assert listening.process.wait(WAIT_S) == 1


def test_it_loads_no_database(folder: Path) -> None:
    heavy = {"sqlalchemy", "apsw", "asyncpg", "alembic", "aiodns", "obstore", "rich", "starlette", "uvicorn"}
    script = (
        "import sys, deskwire.cli.main, deskwire.cli.listening, deskwire.cli.verifying\n"
        f"print(sorted({heavy!r} & set(sys.modules)))"
    )
    ended = subprocess.run(
        command(folder, script=script), env=environment(), capture_output=True, text=True, check=True
    )
    assert ended.stdout == "[]\n"
