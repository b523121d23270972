"""Ids are UUID strings in lower case; new ones begin with the millisecond in which they were made."""

import re
from uuid import UUID

from deskwire.model.moments import Moment

UUID_FORM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)


def parse_id(text: str) -> str | None:
    """The id in its one spelling, or None where the text is no UUID."""
    lowered = text.lower()
    return lowered if UUID_FORM.fullmatch(lowered) else None


def first_id_at(moment: Moment) -> str:
    """The smallest id that can have been made then: all that were made earlier are smaller."""
    return str(UUID(int=(max(moment, 0) // 1000 << 80) | (7 << 76) | (2 << 62)))
