"""Log lines: their form, what is struck out of them, and files that cannot be written."""

import io
import json
import logging
import os
import threading
import time
from collections.abc import Iterator

import pytest
import structlog

from deskwire.api.request_id import REQUEST_ID
from deskwire.wiring.access_log import AccessLog
from deskwire.wiring.logs import LogFormat, configure
from deskwire.wiring.redaction import redact


@pytest.fixture
def stderr() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before = root.handlers, root.level, logging.raiseExceptions
    yield io.StringIO()
    root.handlers, root.level, logging.raiseExceptions = before
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def test_a_line_of_ours_in_text(stderr: io.StringIO) -> None:
    configure("text", stderr)
    structlog.get_logger("deskwire.x").warning("worker died", slot=2, why="no luck")
    time_, rest = stderr.getvalue().split(" ", 1)
    assert time_.endswith("Z")
    assert rest == "warning worker died slot=2 why='no luck' logger=deskwire.x\n"


@pytest.mark.parametrize("name", ["uvicorn.error", "asyncio", "alembic.runtime", "sqlalchemy"])
def test_a_librarys_line_has_the_same_form_and_the_request_id(stderr: io.StringIO, name: str) -> None:
    configure("json", stderr)
    structlog.contextvars.bind_contextvars(slot=1)
    token = REQUEST_ID.set("r-1")
    try:
        logging.getLogger(name).info("chatter")
        logging.getLogger(name).error("failed: %s", "disk")
    finally:
        REQUEST_ID.reset(token)
    line = json.loads(stderr.getvalue())
    assert line.pop("time").endswith("Z")
    assert line == {
        "event": "failed: disk",
        "level": "error",
        "logger": name,
        "request_id": "r-1",
        "slot": 1,
    }


@pytest.mark.parametrize("format", ["text", "json"])
def test_a_traceback_is_logged_and_redacted(stderr: io.StringIO, format: LogFormat) -> None:
    configure(format, stderr)
    try:
        raise ValueError("no such member: jané.doe@예시.한국")
    except ValueError:
        structlog.get_logger().exception("failed")
    assert "Traceback" in stderr.getvalue()
    assert "no such member: [e-mail]" in stderr.getvalue()
    if format == "json":
        json.loads(stderr.getvalue())


TOKEN = "dwp_" + "aB3" * 13 + "z"


@pytest.mark.parametrize(
    ("line", "redacted"),
    [
        (f"got {TOKEN}.", "got dwp_aB3aB3aB…."),
        (f"Authorization: Bearer {TOKEN}", "Authorization: Bearer dwp_aB3aB3aB…"),
        ('{"authorization": "Bearer abc.def-1"}', '{"authorization": "Bearer [secret]"}'),
        ("[(b'authorization', b'Basic eDp5')]", "[(b'authorization', b'Basic [secret]')]"),
        ("authorization=abcdef", "authorization=[secret]"),
        ("secret " + "0a" * 32, "secret [secret]"),
        ("postgresql://user:pa$$@db.internal/x", "postgresql://[secret]@db.internal/x"),
        ("to Jane <jane+x@mail.example.com>, now", "to Jane <[e-mail]>, now"),
        ("정우@예시.한국 wrote", "[e-mail] wrote"),
        ("id 3b241101-e2bb-4255-8caf-4136c566a962", "id 3b241101-e2bb-4255-8caf-4136c566a962"),
        ("sha256=" + "F" * 64, "sha256=[secret]"),
    ],
)
def test_what_must_not_be_logged_is_struck_out(line: str, redacted: str) -> None:
    assert redact(line) == redacted


def test_a_closed_stderr_fails_nobody(stderr: io.StringIO) -> None:
    configure("text", stderr)
    stderr.close()
    logging.getLogger("deskwire").error("lost")


def _read_lines(format: LogFormat) -> list[str]:
    read, write = os.pipe()
    log = AccessLog(format, write)
    log.note("r-1", "GET", "/channels/{id}", 200, 0.00123, "w-1", "dwp_12345678")
    log.note("r-2", "POST", "/contacts", 401, 0.5)
    log.close()
    os.close(write)
    with os.fdopen(read) as file:
        return file.read().splitlines()


def test_the_access_log_in_json() -> None:
    lines = [json.loads(line) for line in _read_lines("json")]
    assert [line.pop("time")[-1] for line in lines] == ["Z", "Z"]
    common = {"level": "info", "event": "request"}
    assert lines == [
        {
            **common,
            "request_id": "r-1",
            "method": "GET",
            "route": "/channels/{id}",
            "status": 200,
            "duration_ms": 1.23,
            "workspace_id": "w-1",
            "token": "dwp_12345678",
        },
        {
            **common,
            "request_id": "r-2",
            "method": "POST",
            "route": "/contacts",
            "status": 401,
            "duration_ms": 500.0,
        },
    ]


def test_the_access_log_in_text() -> None:
    line = _read_lines("text")[1]
    assert line.endswith(
        " info    request request_id=r-2 method=POST route=/contacts status=401 duration_ms=500.00"
    )
    assert len(line.split()[0]) == len("2026-01-01T00:00:00.000Z")


def test_the_end_of_a_second_is_still_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_767_225_600.9997)
    read, write = os.pipe()
    log = AccessLog("text", write)
    log.note("r-1", "GET", "/x", 200, 0.1)
    assert os.read(read, 9999).startswith(b"2026-01-01T00:00:00.999Z info")
    log.close()
    os.close(read)
    os.close(write)


def test_the_access_log_writes_within_its_interval() -> None:
    read, write = os.pipe()
    log = AccessLog("text", write)
    began_s = time.monotonic()
    log.note("r-1", "GET", "/x", 200, 0.1)
    assert os.read(read, 9999).count(b"\n") == 1
    assert 0.05 < time.monotonic() - began_s < 1
    log.close()
    os.close(read)
    os.close(write)


def test_no_line_is_lost_or_torn_under_load() -> None:
    read, write = os.pipe()
    received = bytearray()

    def receive() -> None:
        while chunk := os.read(read, 1 << 16):
            received.extend(chunk)

    reader = threading.Thread(target=receive)
    reader.start()
    log = AccessLog("json", write)
    for number in range(20_000):
        log.note(f"r-{number}", "GET", "/x", 200, 0.1)
        if number % 5000 == 0:
            time.sleep(0.12)
    log.close()
    os.close(write)
    reader.join()
    os.close(read)
    assert log.lost_lines == 0
    assert [json.loads(line)["request_id"] for line in received.splitlines()] == [
        f"r-{n}" for n in range(20_000)
    ]


def test_a_closed_pipe_costs_lines_and_no_request() -> None:
    read, write = os.pipe()
    os.close(read)
    log = AccessLog("text", write)
    log.note("r-1", "GET", "/x", 200, 0.1)
    log.close()
    os.close(write)
    assert log.lost_lines == 1


def test_a_full_disk_costs_lines_and_no_request() -> None:
    with open("/dev/full", "wb") as full:
        log = AccessLog("text", full.fileno())
        log.note("r-1", "GET", "/x", 200, 0.1)
        log.close()
    assert log.lost_lines == 1


def test_a_reader_that_does_not_read_blocks_nobody_and_memory_is_bounded() -> None:
    read, write = os.pipe()
    log = AccessLog("text", write)
    began_s = time.monotonic()
    while not log.lost_lines:
        log.note("r" * 64, "GET", "/x" * 1000, 200, 0.1)
        assert time.monotonic() - began_s < 5
    threading.Thread(target=lambda: [None for _ in iter(lambda: os.read(read, 1 << 20), b"")]).start()
    log.close()
    os.close(write)
