"""The bytes around what an operation returns: success, a page, a failure."""

from collections.abc import Sequence

import msgspec

from deskwire.model.errors import DeskError, Problem


class Details(msgspec.Struct):
    fields: Sequence[Problem]


class Failure(msgspec.Struct, omit_defaults=True):
    code: str
    message: str
    details: Details | None = None


class FailureEnvelope(msgspec.Struct):
    success: bool
    error: Failure


def of_object(document: bytes) -> bytes:
    return b'{"success":true,"data":%b}' % document


def of_array(documents: Sequence[bytes]) -> bytes:
    return b'{"success":true,"data":[%b]}' % b",".join(documents)


def of_page(documents: Sequence[bytes], next_cursor: str | None) -> bytes:
    if next_cursor is None:
        meta = b'{"has_more":false}'
    else:
        meta = b'{"has_more":true,"next_cursor":"%b"}' % next_cursor.encode()
    return b'{"success":true,"data":[%b],"meta":%b}' % (b",".join(documents), meta)


def of_failure(error: DeskError) -> bytes:
    details = Details(error.problems) if error.problems else None
    return msgspec.json.encode(FailureEnvelope(False, Failure(error.code, error.message, details)))
