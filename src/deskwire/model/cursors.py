"""Cursors: where a page of a list ended, opaque, signed, and good for that one list only."""

import binascii
import hmac
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b
from uuid import UUID

import msgspec

from deskwire.model.limits import MAX_CURSOR_CHARACTERS


class Position(msgspec.Struct, frozen=True):
    """The last record of a page: when it was made, in microseconds since the epoch, and its UUID."""

    created_at: int
    id: str


class BadCursor(ValueError):
    """A cursor that is refused; its text says why, as in "is expired"."""


def encode(key: bytes, scope: str, position: Position, issued_at: int) -> str:
    """The cursor of a position, bound to the scope: the text that names the workspace and the list."""
    payload = _PAYLOAD.pack(position.created_at, bytes.fromhex(position.id.replace("-", "")), issued_at)
    return urlsafe_b64encode(payload + _signature(key, scope, payload)).decode()


def decode(key: bytes, scope: str, cursor: str, now: int, lifetime_us: int | None) -> Position:
    """The position that `encode` was given; BadCursor when it was given none, or a lifetime ago or more."""
    if len(cursor) > MAX_CURSOR_CHARACTERS:
        raise BadCursor(f"is longer than {MAX_CURSOR_CHARACTERS} characters")
    raw = _raw(cursor)
    payload, signature = raw[: _PAYLOAD.size], raw[_PAYLOAD.size :]
    if not hmac.compare_digest(signature, _signature(key, scope, payload)):
        raise BadCursor("was changed or belongs to another list")
    created_at, record_id, issued_at = _PAYLOAD.unpack(payload)
    if lifetime_us is not None and now - issued_at >= lifetime_us:
        raise BadCursor("is expired")
    return Position(created_at, str(UUID(bytes=record_id)))


def _signature(key: bytes, scope: str, payload: bytes) -> bytes:
    return blake2b(payload + scope.encode(), key=key, digest_size=_SIGNATURE_BYTES).digest()


def _raw(cursor: str) -> bytes:
    """The bytes of a cursor; as one text stands for them, any other spelling is refused."""
    try:
        spelled = cursor.encode("ascii")
        raw = urlsafe_b64decode(spelled)
    except (UnicodeEncodeError, binascii.Error):
        raise BadCursor("is malformed") from None
    if len(raw) != _PAYLOAD.size + _SIGNATURE_BYTES or urlsafe_b64encode(raw) != spelled:
        raise BadCursor("is malformed")
    return raw


# created_at, id, issued_at. With the signature it is a multiple of three bytes, so base64 needs no padding.
_PAYLOAD = struct.Struct(">q16sq")
_SIGNATURE_BYTES = 16
