"""Why a signature does not match a body: whatever would make it match is tried, and what did is told."""

import hashlib
import hmac
from collections.abc import Iterator
from typing import NamedTuple

from deskwire.model.limits import WEBHOOK_SECRET_BYTES
from deskwire.model.signature_form import Unreadable, read_signature
from deskwire.model.signatures import is_signature
from deskwire.model.written_bodies import Change, bodies

SECRET_CHARACTERS = 2 * WEBHOOK_SECRET_BYTES


class Matches(NamedTuple):
    """The signature was made with this secret over this body."""


class Differs(NamedTuple):
    """`reason` is a word for programs, `told` a sentence for people."""

    reason: str
    told: str


def diagnose(secret: str, signature: str, body: bytes) -> Matches | Differs:
    if signature.isascii() and is_signature(secret, body, signature):
        return Matches()
    form = read_signature(signature)
    if isinstance(form, Unreadable):
        return Differs(form.reason, form.told)
    found = explanation(secret, form.digest, body)
    if found is None:
        return unexplained(secret, form.digest, body)
    changes = [*form.changes, *found]
    return Differs(changes[0].reason, "; ".join(change.told for change in changes))


def explanation(secret: str, digest: bytes, body: bytes) -> list[Change] | None:
    """What must be put right for the signature to match; the fewest changes come first."""
    for change, written in bodies(body):
        for key_change, key in keys(secret):
            if hmac.digest(key, written, "sha256") == digest:
                return [*key_change, *change]
    return None


def keys(secret: str) -> Iterator[tuple[list[Change], bytes]]:
    """What may have been taken for the key."""
    yield [], secret.encode()
    bare = secret.strip().strip("'\"")
    yield [SECRET_SURROUNDED], bare.encode()
    yield [SECRET_WITH_LINE_END], f"{bare}\n".encode()
    yield [SECRET_IN_WRONG_CASE], bare.lower().encode()
    yield [SECRET_IN_WRONG_CASE], bare.upper().encode()
    if is_secret(bare):
        yield [SECRET_DECODED], bytes.fromhex(bare)


def is_secret(text: str) -> bool:
    return len(text) == SECRET_CHARACTERS and set(text) <= set("0123456789abcdefABCDEF")


def unexplained(secret: str, digest: bytes, body: bytes) -> Differs:
    if digest == hashlib.sha256(body).digest():
        return Differs("no_key", "it is the plain SHA-256 of the body; it must be the HMAC with the secret")
    if not body:
        return Differs(
            "empty_body", "the body is empty: something read it before; keep the bytes as they were received"
        )
    if not is_secret(secret.strip()):
        return Differs(
            "wrong_secret",
            f"the secret is none of Deskwire's: it must be {SECRET_CHARACTERS} hexadecimal digits, "
            f"and this has {len(secret.strip())} characters",
        )
    return Differs(
        "wrong_secret_or_body",
        "the secret is another one, as after a rotation or of another webhook, or the body is not the one "
        f"that was signed (here it has {len(body):,} bytes, none of the usual changes explains it)",
    )


SECRET_SURROUNDED = Change(
    "secret_surrounded",
    "the secret was given with blanks, quotes or a line end around it; without them it matches",
)
SECRET_WITH_LINE_END = Change(
    "secret_with_line_end", "the key was the secret with a line end after it; leave the line end out"
)
SECRET_IN_WRONG_CASE = Change(
    "secret_in_wrong_case", "the secret's letters are in the wrong case; take it exactly as it was shown"
)
SECRET_DECODED = Change(
    "secret_decoded",
    f"the key was the {WEBHOOK_SECRET_BYTES} bytes that the secret's digits stand for; "
    f"the key is its {SECRET_CHARACTERS} characters themselves",
)
