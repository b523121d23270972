"""The header under which a request may be sent again without being done again."""

import re

from deskwire.api.body_parser import invalid_body
from deskwire.model.limits import IDEMPOTENCY_KEY_CHARACTERS

IDEMPOTENCY_KEY = "Idempotency-Key"
FORM = re.compile(rb"[\x21-\x7e]{1,%d}" % IDEMPOTENCY_KEY_CHARACTERS)


def parse_key(value: bytes) -> str:
    if FORM.fullmatch(value) is None:
        raise invalid_body(
            IDEMPOTENCY_KEY,
            f"must be sent once and be 1 to {IDEMPOTENCY_KEY_CHARACTERS} visible ASCII characters",
        )
    return value.decode("ascii")
