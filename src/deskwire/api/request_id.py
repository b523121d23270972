"""The id that a request carries from its answer to every line of the log."""

import re
from contextvars import ContextVar

import uuid_utils

from deskwire.model.limits import REQUEST_ID_CHARACTERS

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")

FORM = re.compile(rb"[A-Za-z0-9_-]{1,%d}" % REQUEST_ID_CHARACTERS, re.ASCII)


def request_id_of(sent: bytes | None) -> str:
    """What the client sent, where it has the form; otherwise a fresh UUID."""
    # Blanks around the value of a header are no part of it.
    if sent is not None and FORM.fullmatch(trimmed := sent.strip()):
        return trimmed.decode("ascii")
    return str(uuid_utils.uuid4())
