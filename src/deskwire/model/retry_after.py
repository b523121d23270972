"""How long a receiver asks to be left alone."""

import math
import re
from datetime import UTC
from email.utils import parsedate_to_datetime

from deskwire.model.limits import RETRY_AFTER_MAXIMUM_S
from deskwire.model.moments import Moment

SECONDS = re.compile(r"[0-9]+", re.ASCII)
DIGITS_LOOKED_AT = 9


def parse_retry_after(text: str, now: Moment) -> int | None:
    """Seconds, or a date of HTTP's; None: neither. What is past is no wait."""
    value = text.strip()
    if SECONDS.fullmatch(value):
        significant = value.lstrip("0") or "0"
        return min(int(significant[:DIGITS_LOOKED_AT]), RETRY_AFTER_MAXIMUM_S)
    try:
        date = parsedate_to_datetime(value)
        until_s = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0, min(math.ceil(until_s - now / 1_000_000), RETRY_AFTER_MAXIMUM_S))
