"""What is understood of a received request, and how it is shown, without any socket."""

import json
from typing import Any

import msgspec
import pytest

from deskwire.cli.reception import Reception, Receptionist, Request
from deskwire.cli.reception_text import block_of
from deskwire.model.limits import RECEIVED_BODY_SHOWN_CHARACTERS, RECEIVED_BODY_SHOWN_LINES
from deskwire.model.moments import Moment
from deskwire.model.signatures import sign

SECRET, OTHER = "a" * 64, "b" * 64
NOW = Moment(1_772_703_672_350_094)
EVENT = {
    "kind": "channel.closed",
    "workspace_id": "w",
    "timestamp": "2026-03-05T09:41:12.350094Z",
    "data": {"version": 3},
    "channel": {"id": "c"},
}


def request(body: bytes = b"", **headers: str) -> Request:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request(NOW, "POST", "/hook?a=1", named, body)


def received(body: bytes, *secrets: str, **headers: str) -> Reception:
    return Receptionist(secrets).receive(request(body, **headers), 200)


def bytes_of(event: Any) -> bytes:
    return msgspec.json.encode(event)


@pytest.mark.parametrize(
    ("event", "identifier"),
    [
        (EVENT, "c"),
        (EVENT | {"kind": "message.created", "data": {"message_id": "m"}}, "m"),
        (EVENT | {"kind": "contact.updated", "data": {"contact_id": "p"}, "channel": None}, "p"),
        (EVENT | {"channel": {"id": 1}}, None),
    ],
)
def test_the_identifier_is_that_of_what_the_event_tells_of(event: Any, identifier: str | None) -> None:
    assert received(bytes_of(event)).event_id == identifier


def test_a_request_is_told_with_everything_that_matters() -> None:
    body = bytes_of(EVENT)
    headers = {"x_webhook_signature": sign(OTHER, body), "x_webhook_timestamp": "1772703671", "cookie": "no"}
    told = json.loads(msgspec.json.encode(received(body, SECRET, OTHER, **headers), enc_hook=str))
    assert told.pop("headers").keys() == {"x-webhook-signature", "x-webhook-timestamp"}
    assert told == {
        "received_at": str(int(NOW)),
        "method": "POST",
        "path": "/hook?a=1",
        "kind": "channel.closed",
        "workspace_id": "w",
        "timestamp": EVENT["timestamp"],
        "event_id": "c",
        "attempted_at": "1772703671000000",
        "signature": "valid",
        "seen_before": False,
        "body": EVENT,
        "answered": 200,
    }


@pytest.mark.parametrize(
    ("secrets", "signature", "state"),
    [
        ((), None, "unchecked"),
        ((), sign(SECRET, b"x"), "unchecked"),
        ((SECRET,), None, "missing"),
        ((SECRET,), sign(SECRET, b"x"), "valid"),
        ((OTHER, SECRET), sign(SECRET, b"x"), "valid"),
        ((SECRET,), sign(SECRET, b"y"), "invalid"),
        ((SECRET,), "sha256=é\xff", "invalid"),
        ((SECRET,), "", "invalid"),
    ],
)
def test_the_signature_is_checked_with_every_secret(
    secrets: tuple[str, ...], signature: str | None, state: str
) -> None:
    headers = {} if signature is None else {"x_webhook_signature": signature}
    assert received(b"x", *secrets, **headers).signature == state


def test_an_event_is_the_same_when_kind_workspace_identifier_and_timestamp_are() -> None:
    desk = Receptionist([])
    assert not desk.receive(request(bytes_of(EVENT)), 500).seen_before
    assert desk.receive(request(bytes_of(EVENT | {"data": {"version": 4}})), 200).seen_before
    for other in ({"kind": "k"}, {"workspace_id": "v"}, {"timestamp": "t"}, {"channel": {"id": "d"}}):
        assert not desk.receive(request(bytes_of(EVENT | other)), 200).seen_before


def test_what_names_no_event_was_never_seen_before() -> None:
    desk = Receptionist([])
    for body in (b"", b"", b"{}", b"{}", b"[1]", b"[1]"):
        assert not desk.receive(request(body), 200).seen_before


def test_only_so_many_events_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deskwire.cli.reception.RECEIVED_EVENTS_REMEMBERED", 2)
    desk = Receptionist([])
    seen = [desk.receive(request(bytes_of(EVENT | {"kind": kind})), 200).seen_before for kind in "abacb"]
    assert seen == [False, False, True, False, False]


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"", ""),
        (b"not json", "not json"),
        (b"\xff\x00", "\ufffd\x00"),
        (b"[" * 5000, "[" * 5000),
        (b'{ "a": 1 }', {"a": 1}),
        (b"{}", {}),
    ],
)
def test_a_body_is_told_as_json_or_as_the_text_that_it_is(body: bytes, shown: object) -> None:
    assert json.loads(bytes(received(body).body)) == shown


@pytest.mark.parametrize("seconds", ["", "x", "-1", "1.5", "99999999999", "²"])
def test_a_timestamp_that_is_none_is_left_out(seconds: str) -> None:
    assert received(b"", x_webhook_timestamp=seconds).attempted_at is None


def test_a_block_tells_it_line_by_line() -> None:
    body = bytes_of(EVENT)
    block = block_of(
        received(body, SECRET, x_webhook_signature=sign(SECRET, body), x_webhook_timestamp="1772703600"),
        indented=False,
    )
    for wanted in (
        "2026-03-05T09:41:12.350094Z  POST /hook?a=1",
        "kind       channel.closed",
        "event      c",
        "attempt    2026-03-05T09:40:00.000000Z  72 s ago",
        "answered   200",
        '  {"kind":"channel.closed"',
    ):
        assert wanted in block
    assert "valid" in block and "INVALID" not in block


def test_a_block_says_what_is_wrong() -> None:
    desk = Receptionist([SECRET])
    desk.receive(request(bytes_of(EVENT)), 200)
    block = block_of(desk.receive(request(bytes_of(EVENT)), None), indented=True)
    for wanted in ("MISSING", "seen before", "answered   nothing", '    "version": 3'):
        assert wanted in block


def test_nothing_that_was_received_steers_the_terminal() -> None:
    block = block_of(
        Receptionist([]).receive(Request(NOW, "POST", "/\x1b[2J", {}, "\x1b[31m\x9b2J\u202e".encode()), 200),
        indented=True,
    )
    bare = block.replace("\x1b[1m", "").replace("\x1b[0m", "").replace("\x1b[33m", "")
    assert not set("\x1b\x9b\u202e") & set(bare)


def test_a_long_body_is_shown_in_part() -> None:
    long = block_of(received(bytes_of(list(range(500)))), indented=True)
    assert len(long.splitlines()) < RECEIVED_BODY_SHOWN_LINES + 10
    assert f"… and {502 - RECEIVED_BODY_SHOWN_LINES} lines more" in long
    wide = block_of(received(b"x" * (RECEIVED_BODY_SHOWN_CHARACTERS + 7)), indented=True)
    assert wide.rstrip().endswith("x… and 7 characters more")
