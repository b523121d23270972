"""Points in time: microseconds since the epoch inside, RFC 3339 outside."""

import re
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import lru_cache


# One operation shows the same moment several times, and all that run together share their now.
@lru_cache(maxsize=512)
def format_time(us: int) -> str:
    """RFC 3339 in UTC, always with microseconds and `Z`."""
    minutes, rest = divmod(us, _MINUTE_US)
    days, minute = divmod(minutes, _DAY_MINUTES)
    seconds = f"{rest:08}"
    return f"{_day(days)}{_CLOCK[minute]}{seconds[:2]}.{seconds[2:]}Z"


def parse_time(text: str) -> int:
    """The microseconds since the epoch of an RFC 3339 date-time; ValueError says what is wrong with a text.

    What is finer than a microsecond is cut off, and a leap second is the second after it.
    """
    if _PLAIN_TIME.fullmatch(text):
        with suppress(ValueError):
            since = datetime.fromisoformat(text) - _EPOCH
            return (since.days * _DAY_S + since.seconds) * 1_000_000 + since.microseconds
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError(_reason(text))
    year, month, day, hour, minute, second, fraction, offset = found.groups()
    days = _days(int(year), int(month), int(day))
    if int(hour) > 23 or int(minute) > 59 or int(second) > 60:
        raise ValueError("has a time of day that does not exist")
    minutes = days * _DAY_MINUTES + int(hour) * 60 + int(minute) - _offset_minutes(offset)
    if int(second) == 60 and not _begins_a_month(minutes + 1):
        raise ValueError("has second 60, which only the last minute of a month in UTC can have")
    us = minutes * _MINUTE_US + int(second) * 1_000_000 + int((fraction or "0")[:6].ljust(6, "0"))
    if not _EARLIEST_US <= us <= _LATEST_US:
        raise ValueError("is outside the years 0001 to 9999 in UTC")
    return us


def _reason(text: str) -> str:
    if re.fullmatch(r".* [0-9]{2}:[0-9]{2}", text) and _TIME.fullmatch(f"{text[:-6]}+{text[-5:]}"):
        return "has a blank where the offset's sign belongs: in a query, + must be sent as %2B"
    if _TIME.fullmatch(f"{text}Z"):
        return "has no offset: end it with Z or with one like +09:00"
    return "must be an RFC 3339 date-time such as 2024-01-31T12:00:00Z"


def _days(year: int, month: int, day: int) -> int:
    try:
        return date(year, month, day).toordinal() - _EPOCH_DAY
    except ValueError as problem:
        raise ValueError("has a date that does not exist") from problem


def _offset_minutes(offset: str) -> int:
    if offset in "Zz":
        return 0
    hours, minutes = int(offset[1:3]), int(offset[4:])
    if hours > 23 or minutes > 59:
        raise ValueError("has an offset that does not exist")
    return (hours * 60 + minutes) * (-1 if offset[0] == "-" else 1)


def _begins_a_month(minutes: int) -> bool:
    days, minute = divmod(minutes, _DAY_MINUTES)
    return minute == 0 and (days > _LAST_DAY or date.fromordinal(days + _EPOCH_DAY).day == 1)


@lru_cache(maxsize=4096)
def _day(days: int) -> str:
    return date.fromordinal(days + _EPOCH_DAY).isoformat()


_MINUTE_US = 60_000_000
_DAY_MINUTES = 24 * 60
_DAY_S = 24 * 60 * 60
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_LAST_DAY = date.max.toordinal() - _EPOCH_DAY
_EARLIEST_US = (date.min.toordinal() - _EPOCH_DAY) * _DAY_MINUTES * _MINUTE_US
_LATEST_US = (_LAST_DAY + 1) * _DAY_MINUTES * _MINUTE_US - 1
_CLOCK = [f"T{hour:02}:{minute:02}:" for hour in range(24) for minute in range(60)]
# The form that every answer has, which the standard library reads fast; what it refuses is looked at closely.
_PLAIN_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{6})?Z")
_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
