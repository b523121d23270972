"""The few answers that are given before a request exists: the specification's error envelope as raw HTTP."""

from dataclasses import dataclass
from http import HTTPStatus

import msgspec


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a connection is given up, as its client is told."""

    status: HTTPStatus
    code: str
    message: str

    def render(self, request_id: str, default_headers: list[tuple[bytes, bytes]]) -> bytes:
        body = self.body()
        lines = [
            b"HTTP/1.1 %d %s" % (self.status, self.status.phrase.encode()),
            *(b"%s: %s" % header for header in (*default_headers, *self.headers(request_id))),
        ]
        return b"\r\n".join([*lines, b"", body])

    def headers(self, request_id: str) -> list[tuple[bytes, bytes]]:
        return [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(self.body())),
            (b"x-request-id", request_id.encode()),
            (b"connection", b"close"),
        ]

    def body(self) -> bytes:
        return msgspec.json.encode({"success": False, "error": {"code": self.code, "message": self.message}})


class Refused(Exception):
    """Stops the parser where it stands; the refusal is absent when there is nothing to say."""

    def __init__(self, refusal: Refusal | None) -> None:
        self.refusal = refusal


def invalid(message: str) -> Refusal:
    return Refusal(HTTPStatus.BAD_REQUEST, "INVALID_REQUEST", message)


NOT_HTTP = invalid("the bytes received are not an HTTP/1.1 request")
HEAD_TOO_LARGE = Refusal(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    "HEADERS_TOO_LARGE",
    "the request line and headers may have 64 KiB and 100 headers at most",
)
HEAD_TOO_SLOW = Refusal(HTTPStatus.REQUEST_TIMEOUT, "REQUEST_TIMEOUT", "the request's headers took too long")
BODY_TOO_SLOW = Refusal(HTTPStatus.REQUEST_TIMEOUT, "REQUEST_TIMEOUT", "the request's body took too long")
INTERNAL = Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "INTERNAL", "")
