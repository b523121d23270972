"""Ids are UUID strings in lower case."""

import re

UUID_FORM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)


def parse_id(text: str) -> str | None:
    """The id in its one spelling, or None where the text is no UUID."""
    lowered = text.lower()
    return lowered if UUID_FORM.fullmatch(lowered) else None
