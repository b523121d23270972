"""Deliveries of events in the OpenAPI document: what a webhook's receiver is sent, and how it answers."""

from collections.abc import Mapping

from deskwire.api.schemas import Json, reference
from deskwire.model.event_examples import ATTEMPTED_AT_S, EVENT_EXAMPLES, SIGNATURE
from deskwire.model.events import EventKind
from deskwire.model.limits import ANSWER_SHOULD_S, WEBHOOK_SECRET_BYTES
from deskwire.model.received_events import EVENT_OF
from deskwire.model.signatures import PREFIX, SIGNATURE_HEADER, TIMESTAMP_HEADER

SIGNED = "webhookSignature"

WHEN_EMITTED: Mapping[EventKind, str] = {
    "message.created": "A message was added to a channel; replies sent through the API come back as an echo.",
    "channel.created": "A channel was opened.",
    "channel.assigned": "A channel was assigned to somebody else, or to nobody, as when it is closed.",
    "channel.closed": "A channel was closed.",
    "channel.reopened": "A closed or snoozed channel was reopened.",
    "contact.created": "A contact was created.",
    "contact.updated": "A contact was changed, or merged with another; changes of its tags are not told.",
}


def webhooks() -> Json:
    return {kind: {"post": delivery(kind)} for kind in WHEN_EMITTED}


def delivery(kind: EventKind) -> Json:
    return {
        "operationId": f"on{''.join(word.capitalize() for word in kind.split('.'))}",
        "summary": WHEN_EMITTED[kind].partition(";")[0].rstrip("."),
        "description": WHEN_EMITTED[kind],
        "security": [{SIGNED: []}],
        "parameters": [{"$ref": f"#/components/parameters/{TIMESTAMP_HEADER}"}],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {
                        "allOf": [reference(EVENT_OF[kind].__name__)],
                        "properties": {"kind": {"const": kind}},
                    },
                    "example": EVENT_EXAMPLES[kind],
                }
            },
        },
        "responses": RESPONSES,
    }


def timestamp_parameter() -> Json:
    return {
        "name": TIMESTAMP_HEADER,
        "in": "header",
        "required": True,
        "description": "When this attempt was made, in Unix seconds. The event's `timestamp` never changes.",
        "schema": {"type": "integer"},
        "example": ATTEMPTED_AT_S,
    }


def signature_scheme() -> Json:
    return {
        "type": "apiKey",
        "in": "header",
        "name": SIGNATURE_HEADER,
        "description": (
            f"`{PREFIX}` and the HMAC-SHA256 of the raw body in lower-case hexadecimal, such as "
            f"`{SIGNATURE}`. "
            f"The key is the webhook's secret as it was shown: its {2 * WEBHOOK_SECRET_BYTES} characters, as "
            "bytes. Verify the bytes as they were received, before any parser, and compare in constant time."
        ),
    }


RESPONSES: Json = {
    "2XX": {
        "description": f"The event was received. Answer within {ANSWER_SHOULD_S} seconds; do the work later."
    },
    "429": {"description": "Too much at once: tried again, after its `Retry-After`."},
    "5XX": {"description": "The receiver failed: tried again; a 503 after its `Retry-After`."},
    "default": {"description": "A failure that is tried again in a later cycle. Redirects are not followed."},
}
