"""Which HTTP status each code is answered with: the one place where the two meet."""

from deskwire.model.errors import Code

STATUSES: dict[Code, int] = {
    "INVALID_QUERY": 400,
    "INVALID_BODY": 400,
    "INVALID_INPUT": 400,
    "INVALID_TOKEN": 401,
    "INSUFFICIENT_SCOPE": 403,
    "FORBIDDEN": 403,
    "NOT_FOUND": 404,
    "METHOD_NOT_ALLOWED": 405,
    "CONFLICT": 409,
    "PAYLOAD_TOO_LARGE": 413,
    "UNSUPPORTED_MEDIA_TYPE": 415,
    "TAG_LIMIT_EXCEEDED": 422,
    "IDEMPOTENCY_MISMATCH": 422,
    "RATE_LIMITED": 429,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
}

RETRY_AFTER_S = 1
