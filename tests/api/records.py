"""Records of the record format, each with what it must have; a later one is newer unless told."""

import itertools
from uuid import uuid4

from deskwire.model.times import format_time
from tests.engines import NEW_YEAR

JsonRecord = dict[str, object]

SECOND_US = 1_000_000
DAY_US = 24 * 60 * 60 * SECOND_US
YESTERDAY = NEW_YEAR - DAY_US

_NUMBERS = itertools.count(1)


def at(seconds: float) -> str:
    """So long after (or before) the moment at which the tests' clock stands."""
    return format_time(NEW_YEAR + round(seconds * SECOND_US))


def new_id() -> str:
    return str(uuid4())


def record(kind: str, **fields: object) -> JsonRecord:
    number = next(_NUMBERS)
    if kind == "business_hours":
        return {"kind": kind, **fields}
    created_at = format_time(YESTERDAY + number * 1000)
    basic: JsonRecord = {"kind": kind, "id": new_id(), "created_at": created_at}
    return basic | _needed(kind, number) | fields


def _needed(kind: str, number: int) -> JsonRecord:
    match kind:
        case "member":
            return {"email": f"member{number}@example.com", "name": f"Member {number}", "role": "agent"}
        case "team" | "contact_tag" | "channel_tag" | "campaign" | "macro":
            return {"name": f"{kind} {number}"}
        case "message":
            return {"sender_id": new_id(), "sender_type": "contact", "sender_name": "Kim", "content": "hello"}
        case "attachment":
            return {"filename": f"file{number}.pdf", "content_type": "application/pdf", "size_bytes": number}
        case "task":
            return {"title": f"Task {number}"}
        case "integration":
            return {"name": f"Integration {number}", "provider": "sms"}
        case "workflow":
            return {"name": f"Workflow {number}", "trigger_type": "T1"}
        case "voice_call":
            return {"direction": "inbound", "status": "completed", "started_at": at(-3600)}
        case _:
            return {}
