"""What is told of a request that was received: the event in it, and whether its signature is right."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from deskwire.model.limits import RECEIVED_EVENTS_REMEMBERED
from deskwire.model.moments import Moment
from deskwire.model.signatures import SIGNATURE_HEADER, TIMESTAMP_HEADER, is_signature

SHOWN_HEADERS = ("content-type", "user-agent", SIGNATURE_HEADER.lower(), TIMESTAMP_HEADER.lower())

SignatureState = Literal["valid", "invalid", "missing", "unchecked"]


class Request(NamedTuple):
    """As it was received; names of headers are in lower case, and of one that is repeated the last counts."""

    received_at: Moment
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Event(NamedTuple):
    """What identifies an event, as far as a body names it; together it is the idempotency key."""

    kind: str | None = None
    workspace_id: str | None = None
    event_id: str | None = None
    timestamp: str | None = None


class Reception(msgspec.Struct):
    """A request, understood; `answered` is None when the connection ended without an answer."""

    received_at: Moment
    method: str
    path: str
    headers: dict[str, str]
    kind: str | None
    workspace_id: str | None
    timestamp: str | None
    event_id: str | None
    attempted_at: Moment | None
    signature: SignatureState
    seen_before: bool
    body: msgspec.Raw
    answered: int | None


class Receptionist:
    """Understands requests, and remembers the events that were in them."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = secrets
        self._seen: dict[Event, None] = {}

    def receive(self, request: Request, answered: int | None) -> Reception:
        value, body = parse_body(request.body)
        event = event_of(value)
        return Reception(
            received_at=request.received_at,
            method=request.method,
            path=request.target,
            headers={name: request.headers[name] for name in SHOWN_HEADERS if name in request.headers},
            kind=event.kind,
            workspace_id=event.workspace_id,
            timestamp=event.timestamp,
            event_id=event.event_id,
            attempted_at=attempt_time(request.headers.get(TIMESTAMP_HEADER.lower(), "")),
            signature=signature_state(self._secrets, request),
            seen_before=self._see(event),
            body=body,
            answered=answered,
        )

    def _see(self, event: Event) -> bool:
        if None in event:
            return False
        was_seen = event in self._seen
        self._seen.pop(event, None)
        self._seen[event] = None
        if len(self._seen) > RECEIVED_EVENTS_REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return was_seen


def parse_body(body: bytes) -> tuple[object, msgspec.Raw]:
    """The value and the JSON of a body, on one line; what is no JSON becomes a text."""
    try:
        value: object = msgspec.json.decode(body)
        return value, msgspec.Raw(msgspec.json.encode(value))
    except (ValueError, RecursionError):
        text = body.decode(errors="replace")
        return text, msgspec.Raw(msgspec.json.encode(text))


def event_of(body: object) -> Event:
    if not isinstance(body, dict):
        return Event()
    return Event(
        text_at(body, "kind"),
        text_at(body, "workspace_id"),
        text_at(body, "data", "message_id")
        or text_at(body, "channel", "id")
        or text_at(body, "data", "contact_id"),
        text_at(body, "timestamp"),
    )


def text_at(value: object, *path: str) -> str | None:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


def signature_state(secrets: Sequence[str], request: Request) -> SignatureState:
    if not secrets:
        return "unchecked"
    signature = request.headers.get(SIGNATURE_HEADER.lower())
    if signature is None:
        return "missing"
    return "valid" if any(is_signature(secret, request.body, signature) for secret in secrets) else "invalid"


def attempt_time(seconds: str) -> Moment | None:
    """X-Webhook-Timestamp holds Unix seconds; more than ten digits lie beyond the year 2286."""
    is_time = seconds.isascii() and seconds.isdigit() and len(seconds) <= 10
    return Moment(int(seconds) * 1_000_000) if is_time else None
