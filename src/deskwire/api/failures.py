"""What an endpoint can fail with: when each code is answered, and a true example of each."""

from collections.abc import Sequence

from deskwire.api.bodies import Body
from deskwire.api.body_parser import BodyParser
from deskwire.api.endpoint import Endpoint
from deskwire.api.parameters import Query, QueryParser
from deskwire.api.statuses import STATUSES
from deskwire.desk.idempotency import under_way
from deskwire.model import limits
from deskwire.model.errors import Code, DeskError, Problem, not_found
from deskwire.model.scopes import ALWAYS_GRANTED

# Whatever was asked for.
EVERYWHERE: tuple[Code, ...] = ("INVALID_TOKEN", "RATE_LIMITED", "INTERNAL", "UNAVAILABLE")

WHEN: dict[Code, str] = {
    "INVALID_QUERY": "A query parameter has a value that is not allowed, or a required one is missing.",
    "INVALID_BODY": "The body is not a JSON object, or one of its fields breaks a rule.",
    "INVALID_INPUT": "The id in the path is not a UUID.",
    "INVALID_TOKEN": "The access token is missing, malformed, unknown, expired or revoked.",
    "INSUFFICIENT_SCOPE": "The access token lacks a scope that the operation needs.",
    "FORBIDDEN": "The acting member is unknown, not active, or lacks the permission.",
    "NOT_FOUND": "There is no such thing in the workspace of the token, or no such path.",
    "METHOD_NOT_ALLOWED": "The path exists but does not have this method; `Allow` lists those it has.",
    "CONFLICT": "The value is taken, or the first request with the same `Idempotency-Key` is under way.",
    "PAYLOAD_TOO_LARGE": "The body is larger than the server accepts.",
    "UNSUPPORTED_MEDIA_TYPE": "The body was not sent as `application/json`.",
    "TAG_LIMIT_EXCEEDED": "There would be more tags than allowed; nothing was changed.",
    "IDEMPOTENCY_MISMATCH": "The idempotency key was used before, for another request.",
    "RATE_LIMITED": "The token has made too many requests; wait as long as `Retry-After` says.",
    "INTERNAL": "The service failed. The message is empty; retry with growing pauses.",
    "UNAVAILABLE": "The service is overloaded or cannot reach its database; retry after `Retry-After`.",
}

EXAMPLES: dict[Code, DeskError] = {
    "INVALID_INPUT": DeskError("INVALID_INPUT", "The id in the path is not a UUID."),
    "INVALID_TOKEN": DeskError("INVALID_TOKEN", "The access token is unknown or was revoked."),
    "FORBIDDEN": DeskError("FORBIDDEN", "The acting member is not an active member of this workspace."),
    "METHOD_NOT_ALLOWED": DeskError("METHOD_NOT_ALLOWED", "This path has no such method."),
    "CONFLICT": DeskError(
        "CONFLICT",
        "A contact uses this external_id or used it once; GET /contacts?external_id= finds it.",
        Problem("external_id", "is taken"),
    ),
    "PAYLOAD_TOO_LARGE": DeskError(
        "PAYLOAD_TOO_LARGE", f"The body is longer than {limits.MAX_BODY_BYTES} bytes."
    ),
    "UNSUPPORTED_MEDIA_TYPE": DeskError(
        "UNSUPPORTED_MEDIA_TYPE", "The body must be sent as application/json."
    ),
    "IDEMPOTENCY_MISMATCH": DeskError(
        "IDEMPOTENCY_MISMATCH", "This Idempotency-Key was used before, with another body."
    ),
    "RATE_LIMITED": DeskError("RATE_LIMITED", "Too many requests; try again shortly."),
    "INTERNAL": DeskError("INTERNAL", ""),
    "UNAVAILABLE": DeskError("UNAVAILABLE", "The service cannot answer just now; try again shortly."),
}


TOO_MANY_TAGS = {
    "contact": DeskError(
        "TAG_LIMIT_EXCEEDED",
        f"A contact has at most {limits.CONTACT_TAGS} tags; this one would have {limits.CONTACT_TAGS + 1}.",
    ),
    "channel": DeskError(
        "TAG_LIMIT_EXCEEDED",
        f"A conversation has at most {limits.CHANNEL_TAGS} tags; this one would have "
        f"{limits.CHANNEL_TAGS + 1}.",
    ),
}


def codes_of(endpoint: Endpoint) -> list[Code]:
    """Every code that the endpoint can answer, by status."""
    codes: set[Code] = {*EVERYWHERE, *endpoint.errors}
    if set(endpoint.scopes) - {ALWAYS_GRANTED}:
        codes.add("INSUFFICIENT_SCOPE")
    if endpoint.query.__struct_fields__:
        codes.add("INVALID_QUERY")
    if endpoint.body_read is not None:
        codes |= {"INVALID_BODY", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"}
    if endpoint.is_idempotent:
        codes |= {"CONFLICT", "IDEMPOTENCY_MISMATCH"}
    return sorted(codes, key=lambda code: (STATUSES[code], code))


def answered(endpoints: Sequence[Endpoint]) -> list[Code]:
    """Every code of the API, by status."""
    codes: set[Code] = {"NOT_FOUND", "METHOD_NOT_ALLOWED"}
    codes = codes.union(*map(codes_of, endpoints))
    return sorted(codes, key=lambda code: (STATUSES[code], code))


def failure_of(endpoint: Endpoint, code: Code) -> DeskError:
    """An example of the code as this endpoint answers it."""
    match code:
        case "INVALID_QUERY":
            return refusal(endpoint.query)
        case "INVALID_BODY":
            assert endpoint.body_read is not None
            return body_refusal(endpoint.body_read)
        case "CONFLICT" if code not in endpoint.errors:
            return under_way()
        case "TAG_LIMIT_EXCEEDED":
            return TOO_MANY_TAGS[endpoint.noun]
        case "INSUFFICIENT_SCOPE":
            return DeskError(code, f"The access token lacks the scope {endpoint.scopes[0]}.")
        case "NOT_FOUND":
            return not_found(endpoint.noun)
        case _:
            return EXAMPLES[code]


def refusal(query: type[Query]) -> DeskError:
    """What the parser itself says of a limit that is out of range."""
    try:
        QueryParser(query).parse(b"limit=0")
    except DeskError as error:
        return error
    raise LookupError(f"{query.__name__} has no example of a refused value")


def body_refusal(body: type[Body]) -> DeskError:
    """What the parser itself says where nothing is sent, or where all may be left out, of a wrong type."""
    for raw in REFUSED_BODIES:
        try:
            BodyParser(body).parse(raw)
        except DeskError as error:
            return error
    raise LookupError(f"{body.__name__} has no example of a refused body")


REFUSED_BODIES = (b"{}", b'{"name":17}')
