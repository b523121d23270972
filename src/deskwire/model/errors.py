"""The one error of the desk: a code of the specification, a sentence, and the fields it speaks of."""

from typing import Literal

import msgspec

Code = Literal[
    "INVALID_QUERY",
    "INVALID_BODY",
    "INVALID_INPUT",
    "INVALID_TOKEN",
    "INSUFFICIENT_SCOPE",
    "FORBIDDEN",
    "NOT_FOUND",
    "METHOD_NOT_ALLOWED",
    "CONFLICT",
    "PAYLOAD_TOO_LARGE",
    "UNSUPPORTED_MEDIA_TYPE",
    "TAG_LIMIT_EXCEEDED",
    "IDEMPOTENCY_MISMATCH",
    "RATE_LIMITED",
    "INTERNAL",
    "UNAVAILABLE",
]


class Problem(msgspec.Struct, frozen=True):
    """One field of a request and what is wrong with it."""

    field: str
    problem: str


class DeskError(Exception):
    """What an operation answers when it cannot do what was asked."""

    def __init__(
        self, code: Code, message: str, *problems: Problem, retry_after_s: int | None = None
    ) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message
        self.problems = problems
        self.retry_after_s = retry_after_s


class Unavailable(Exception):
    """The database or the attachment store cannot be used just now; trying again later may help."""


def not_found(what: str) -> DeskError:
    return DeskError("NOT_FOUND", f"There is no such {what} in this workspace.")


def invalid_query(field: str, problem: str) -> DeskError:
    return refused("INVALID_QUERY", Problem(field, problem))


def refused(code: Code, first: Problem, *others: Problem) -> DeskError:
    """Fields that were refused: the message speaks of the first."""
    return DeskError(code, f"{first.field} {first.problem}.", first, *others)
