"""Lengths of time as they are typed: a whole number and its unit, `45s`, `30m`, `12h` or `90d`."""

import re

from deskwire.model.limits import DURATION_MAXIMUM_DAYS


def parse_duration(text: str) -> int:
    """The microseconds of a duration; ValueError says what is wrong with a text."""
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError("must be a positive whole number with its unit, such as 45s, 30m, 12h or 90d")
    number, unit = found.groups()
    us = int(number) * _UNITS_US[unit]
    if us > DURATION_MAXIMUM_DAYS * _UNITS_US["d"]:
        raise ValueError(f"must be at most {DURATION_MAXIMUM_DAYS}d")
    return us


_DURATION = re.compile("([1-9][0-9]{0,17})([smhd])")
_UNITS_US = {"s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
