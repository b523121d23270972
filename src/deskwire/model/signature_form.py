"""The form of a signature that was received: the digest in it, and what is wrong with how it is written."""

import base64
import binascii
import hashlib
import re
from typing import NamedTuple

from deskwire.model.signatures import PREFIX, SIGNATURE_HEADER
from deskwire.model.written_bodies import Change

DIGEST_BYTES = hashlib.sha256().digest_size
OTHER_DIGESTS = {
    2 * hashlib.new(name, usedforsecurity=False).digest_size: shown
    for name, shown in (("md5", "MD5"), ("sha1", "SHA-1"), ("sha384", "SHA-384"), ("sha512", "SHA-512"))
}


class Readable(NamedTuple):
    """A digest of the right length; `changes` are what would put its form right."""

    digest: bytes
    changes: list[Change]


class Unreadable(NamedTuple):
    reason: str
    told: str


def read_signature(signature: str) -> Readable | Unreadable:
    changes: list[Change] = []
    text = _HEADER_NAME.sub("", signature.strip().strip("'\"")).strip()
    if text != signature:
        changes.append(SURROUNDED)
    found = _PREFIXED.match(text)
    label, rest = (found.group(1), text[found.end() :]) if found else ("", text)
    if not label:
        changes.append(PREFIX_MISSING)
    elif f"{label}=" != PREFIX:
        changes.append(
            Change("wrong_prefix", f"the signature begins with {label}= where it must begin with {PREFIX}")
        )
    return _read_digest(rest, changes)


def _read_digest(text: str, changes: list[Change]) -> Readable | Unreadable:
    if _HEX.fullmatch(text):
        if len(text) != 2 * DIGEST_BYTES:
            return _of_other_length(text)
        written = [] if text == text.lower() else [UPPER_CASE]
        return Readable(bytes.fromhex(text), [*changes, *written])
    if (decoded := _from_base64(text)) is not None:
        return Readable(decoded, [*changes, BASE64])
    if not text:
        return Unreadable("empty", f"the signature is empty; it is what the header {SIGNATURE_HEADER} holds")
    return Unreadable(
        "not_hexadecimal",
        f"the signature must be {PREFIX} and {2 * DIGEST_BYTES} hexadecimal digits; this is something else",
    )


def _of_other_length(text: str) -> Unreadable:
    other = OTHER_DIGESTS.get(len(text))
    if other is not None:
        return Unreadable(
            "other_digest", f"the signature is as long as one made with {other}; it must be made with SHA-256"
        )
    return Unreadable(
        "wrong_length",
        f"the signature has {len(text)} hexadecimal digits where there must be {2 * DIGEST_BYTES}: "
        + ("it was cut off" if len(text) < 2 * DIGEST_BYTES else "something was added to it"),
    )


def _from_base64(text: str) -> bytes | None:
    """The digest that a text stands for in either alphabet of base64."""
    if not _BASE64.fullmatch(text):
        return None
    try:
        decoded = base64.b64decode(text.translate(_STANDARD).rstrip("=") + "=")
    except binascii.Error:
        return None
    return decoded if len(decoded) == DIGEST_BYTES else None


SURROUNDED = Change(
    "signature_surrounded",
    "the signature was given with more than the header's value: blanks, quotes or its name",
)
PREFIX_MISSING = Change("prefix_missing", f"the signature lacks the prefix {PREFIX}")
UPPER_CASE = Change("upper_case", "the signature is in upper case; compare it in lower case")
BASE64 = Change("base64", "the signature is written in base64; it must be hexadecimal")

_HEADER_NAME = re.compile(rf"{SIGNATURE_HEADER}\s*:", re.IGNORECASE)
_PREFIXED = re.compile(r"([A-Za-z0-9-]{1,20})=(?=.)")
_HEX = re.compile("[0-9a-fA-F]+")
_BASE64 = re.compile("[A-Za-z0-9+/_-]{43}=?")
_STANDARD = str.maketrans("-_", "+/")
