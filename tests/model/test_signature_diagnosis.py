"""Whatever is usually done to a body, a secret or a signature is recognised by what it did."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskwire.model.channels import ChannelRecord, show_channel
from deskwire.model.events import MessageEventData
from deskwire.model.moments import Moment
from deskwire.model.received_events import MessageEvent, read_event, write_event
from deskwire.model.signature_diagnosis import Differs, Matches, diagnose
from deskwire.model.signatures import sign

SECRET = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
ID = "0192f1c0-7a3e-7c4d-9b1a-2f6d8e5c4b3a"
BODY = write_event(
    MessageEvent(
        kind="message.created",
        workspace_id=ID,
        timestamp=Moment(1_772_703_672_350_094),
        data=MessageEventData(
            message_id=ID,
            seq=7,
            created_at=Moment(1_772_703_672_350_094),
            channel_id=ID,
            sender_id=ID,
            sender_type="contact",
            sender_name="Mina",
            content_type="text",
            content='환불 é "quoted" <b> a/b\nnext',
        ),
        channel=show_channel(ChannelRecord(id=ID, created_at=Moment(0), tags=["vip"])),
    )
)
SIGNATURE = sign(SECRET, BODY)
DIGEST = SIGNATURE.removeprefix("sha256=")


def told(secret: str = SECRET, signature: str = SIGNATURE, body: bytes = BODY) -> Differs:
    found = diagnose(secret, signature, body)
    assert isinstance(found, Differs)
    return found


def php(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).replace("/", "\\/").encode()


def test_what_was_signed_matches() -> None:
    assert diagnose(SECRET, SIGNATURE, BODY) == Matches()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda body: body + b"\n", "whitespace_added"),
        (lambda body: body + b"\r\n", "whitespace_added"),
        (lambda body: b"  " + body, "whitespace_added"),
        (lambda body: b"\xef\xbb\xbf" + body, "bom_added"),
        (lambda body: b"\xef\xbb\xbf" + body + b"\r\n", "bom_added"),
        (lambda body: body.decode().encode("utf-16"), "encoded_as_utf_16"),
        (lambda body: body.decode("latin-1").encode(), "encoded_twice"),
    ],
)
def test_a_change_of_bytes_is_named(change: Callable[[bytes], bytes], reason: str) -> None:
    assert told(body=change(BODY)).reason == reason


@pytest.mark.parametrize(
    ("write", "trait"),
    [
        (lambda value: json.dumps(value).encode(), "blanks were added, characters were escaped"),
        (lambda value: json.dumps(value, ensure_ascii=False).encode(), "blanks were added"),
        (lambda value: json.dumps(value, indent=2, ensure_ascii=False).encode(), "it was indented"),
        (lambda value: json.dumps(value, indent=4).encode() + b"\r\n", "it was indented, characters"),
        (lambda value: json.dumps(value, indent=2).replace("\n", "\r\n").encode(), "it was indented"),
        (lambda value: json.dumps(value, separators=(",", ":")).encode(), "characters were escaped"),
        (
            lambda value: json.dumps(
                value, separators=(",", ":"), ensure_ascii=False, sort_keys=True
            ).encode(),
            "keys were put in another order",
        ),
        (php, "slashes were escaped"),
        (
            lambda value: msgspec.json.encode({k: v for k, v in value.items() if v is not None}),
            "keys or values were added, removed or changed",
        ),
        (lambda value: msgspec.json.encode(value | {"traced": 1}), "keys or values were added"),
    ],
)
def test_json_that_a_parser_wrote_anew_is_told_with_what_it_did(
    write: Callable[[dict[str, object]], bytes], trait: str
) -> None:
    found = told(body=write(json.loads(BODY)))
    assert found.reason == "json_rewritten"
    assert trait in found.told


@pytest.mark.parametrize(
    ("signed", "reason"),
    [
        (BODY + b"\n", "line_end_removed"),
        (json.dumps(json.loads(BODY)).encode(), "json_written_otherwise"),
        (json.dumps(json.loads(BODY), indent=2, ensure_ascii=False).encode(), "json_written_otherwise"),
        (b"", "signed_nothing"),
        (b"[object Object]", "signed_an_object"),
    ],
)
def test_a_signature_over_something_else_is_told_with_what_it_was_made_over(
    signed: bytes, reason: str
) -> None:
    assert told(signature=sign(SECRET, signed)).reason == reason


def test_line_ends_that_were_changed_are_named() -> None:
    pretty = json.dumps({"not": "an event", "of": "ours"}, indent=2).encode()
    found = told(signature=sign(SECRET, pretty), body=pretty.replace(b"\n", b"\r\n"))
    assert found.reason == "line_ends_changed"


@pytest.mark.parametrize(
    ("signature", "reason"),
    [
        (DIGEST, "prefix_missing"),
        (f"sha1={DIGEST}", "wrong_prefix"),
        (f"SHA256={DIGEST}", "wrong_prefix"),
        (f"sha256={DIGEST.upper()}", "upper_case"),
        (f" {SIGNATURE}\n", "signature_surrounded"),
        (f"X-Webhook-Signature: {SIGNATURE}", "signature_surrounded"),
        (base64.b64encode(bytes.fromhex(DIGEST)).decode(), "prefix_missing"),
        ("sha256=" + base64.b64encode(bytes.fromhex(DIGEST)).decode(), "base64"),
        ("sha256=" + base64.urlsafe_b64encode(bytes.fromhex(DIGEST)).decode().rstrip("="), "base64"),
        (SIGNATURE[:-1], "wrong_length"),
        (SIGNATURE + "0", "wrong_length"),
        ("sha1=" + hmac.digest(SECRET.encode(), BODY, "sha1").hex(), "other_digest"),
        ("sha512=" + hmac.digest(SECRET.encode(), BODY, "sha512").hex(), "other_digest"),
        ("", "empty"),
        ("sha256=", "not_hexadecimal"),
        ("sha256=서명", "not_hexadecimal"),
    ],
)
def test_the_form_of_a_signature_is_told(signature: str, reason: str) -> None:
    assert told(signature=signature).reason == reason


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (bytes.fromhex(SECRET), "secret_decoded"),
        (SECRET.encode() + b"\n", "secret_with_line_end"),
        (SECRET.upper().encode(), "secret_in_wrong_case"),
    ],
)
def test_a_key_that_was_made_wrongly_is_named(key: bytes, reason: str) -> None:
    signature = "sha256=" + hmac.digest(key, BODY, "sha256").hex()
    assert told(signature=signature).reason == reason


@pytest.mark.parametrize("secret", [f" {SECRET}", f"{SECRET}\n", f'"{SECRET}"'])
def test_a_secret_with_something_around_it_is_named(secret: str) -> None:
    assert told(secret=secret).reason == "secret_surrounded"


def test_two_mistakes_at_once_are_both_told() -> None:
    found = told(secret=f"{SECRET} ", signature=DIGEST, body=BODY + b"\n")
    assert found.reason == "prefix_missing"
    assert "blanks, quotes or a line end around it" in found.told
    assert "editors" in found.told


def test_what_nothing_explains_is_another_secret_or_another_body() -> None:
    assert told(secret="0" * 64).reason == "wrong_secret_or_body"
    assert told(body=BODY.replace(b"Mina", b"Nina")).reason == "wrong_secret_or_body"
    assert told(body=b"").reason == "empty_body"
    assert told(secret="whsec_1").reason == "wrong_secret"
    assert told(signature="sha256=" + hashlib.sha256(BODY).hexdigest()).reason == "no_key"


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(), st.binary())
def test_nothing_that_is_given_is_too_odd_to_be_told(secret: str, signature: str, body: bytes) -> None:
    assert isinstance(diagnose(secret, signature, body), Differs)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=70), st.binary())
def test_every_signature_of_ours_matches(secret: str, body: bytes) -> None:
    assert diagnose(secret, sign(secret, body), body) == Matches()


def test_a_body_is_read_as_the_event_that_it_is() -> None:
    assert write_event(read_event(BODY)) == BODY
    for odd in (b"", b"[]", b"{}", b'{"kind":"message.deleted"}', b'{"kind":"message.created"}', b"[" * 9999):
        with pytest.raises(ValueError, match=r"\S"):
            read_event(odd)
