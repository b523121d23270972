"""The bytes around what an operation returns: success, a page, a failure."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from deskwire.model.errors import Code, DeskError, Problem


class Details(msgspec.Struct):
    fields: Annotated[Sequence[Problem], Meta(description="Each field that was refused.")]


class Failure(msgspec.Struct):
    code: Code
    message: Annotated[str, Meta(description="For people to read; its wording may change.")]
    details: Annotated[Details | UnsetType, Meta(description="Left out when there is nothing to add.")] = (
        UNSET
    )


class FailureEnvelope(msgspec.Struct):
    success: Annotated[bool, Meta(extra_json_schema={"const": False})]
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
    details = Details(error.problems) if error.problems else UNSET
    return msgspec.json.encode(FailureEnvelope(False, Failure(error.code, error.message, details)))
