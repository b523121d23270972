"""What many operations share in the OpenAPI document: failures, headers, the request id, the token."""

import msgspec

from deskwire.api import envelope
from deskwire.api.envelope import FailureEnvelope
from deskwire.api.failures import WHEN
from deskwire.api.idempotency_key import IDEMPOTENCY_KEY
from deskwire.api.request_id import FORM
from deskwire.api.schemas import Json, reference
from deskwire.api.statuses import RETRY_AFTER_S
from deskwire.model.errors import Code, DeskError
from deskwire.model.limits import IDEMPOTENCY_KEY_CHARACTERS, REQUEST_ID_CHARACTERS
from deskwire.model.tokens import TOKEN_FORM

SECURITY = "accessToken"
REQUEST_ID = "X-Request-ID"
REQUEST_ID_EXAMPLE = "3f0c8f5e-6a1b-4d37-9c52-e8b1d7a4f096"
# Beside X-Request-ID, which every answer has.
HEADERS_OF: dict[Code, tuple[str, ...]] = {
    "INVALID_TOKEN": ("WWW-Authenticate",),
    "METHOD_NOT_ALLOWED": ("Allow",),
    "RATE_LIMITED": ("Retry-After", "RateLimit", "RateLimit-Policy"),
    "UNAVAILABLE": ("Retry-After",),
}


def failure_response(errors: list[DeskError]) -> Json:
    codes = [error.code for error in errors]
    more = dict.fromkeys(name for code in codes for name in HEADERS_OF.get(code, ()))
    return {
        "description": " ".join(f"`{code}`: {WHEN[code]}" for code in codes),
        "headers": header_references(*more),
        "content": {
            "application/json": {
                "schema": reference(FailureEnvelope.__name__),
                "examples": {
                    error.code: {
                        "summary": WHEN[error.code],
                        "value": msgspec.json.decode(envelope.of_failure(error)),
                    }
                    for error in errors
                },
            }
        },
    }


def header_references(*more: str) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in (REQUEST_ID, *more)}


def headers() -> Json:
    return {
        REQUEST_ID: {
            "description": "The id of this request: the one that was sent, where it has the form, or a UUID.",
            "required": True,
            "schema": {"type": "string", "pattern": f"^{FORM.pattern.decode()}$"},
            "example": REQUEST_ID_EXAMPLE,
        },
        "WWW-Authenticate": {
            "description": "How to authenticate.",
            "required": True,
            "schema": {"type": "string"},
            "example": "Bearer",
        },
        "Allow": {
            "description": "The methods that the path has.",
            "required": True,
            "schema": {"type": "string"},
            "example": "GET, HEAD",
        },
        "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "required": True,
            "schema": {"type": "integer", "minimum": 0},
            "example": RETRY_AFTER_S,
        },
        "RateLimit": {
            "description": "What this token has left, `r`, and in how many seconds that is renewed, `t`.",
            "schema": {"type": "string"},
            "example": '"token";r=0;t=12',
        },
        "RateLimit-Policy": {
            "description": "How many requests a token may make, `q`, in how many seconds, `w`.",
            "schema": {"type": "string"},
            "example": '"token";q=600;w=60',
        },
    }


def request_id_parameter() -> Json:
    return {
        "name": REQUEST_ID,
        "in": "header",
        "required": False,
        "description": (
            "An id of your own for this request. It is answered and logged when it is at most "
            f"{REQUEST_ID_CHARACTERS} letters, digits, hyphens and underscores; otherwise it is ignored."
        ),
        "schema": {"type": "string"},
    }


def idempotency_key_parameter() -> Json:
    return {
        "name": IDEMPOTENCY_KEY,
        "in": "header",
        "required": False,
        "description": (
            "A key of your own under which this request may be sent again: for 24 hours the same token gets "
            "the first answer again, and nothing is done. With another body it is 422 "
            "`IDEMPOTENCY_MISMATCH`; while the first request is under way, 409 `CONFLICT` with `Retry-After`."
        ),
        "schema": {
            "type": "string",
            "minLength": 1,
            "maxLength": IDEMPOTENCY_KEY_CHARACTERS,
            "pattern": "^[!-~]+$",
        },
    }


def security_scheme() -> Json:
    return {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": TOKEN_FORM.pattern,
        "description": (
            "A personal access token. It gives access to the whole workspace within its scopes: keep it on "
            "a server. The scopes that an operation needs are listed in its `security` and in "
            "`x-required-scopes`."
        ),
    }
