"""A moment in time: microseconds since 1970 UTC, shown as an RFC 3339 string."""

from deskwire.model.times import format_time, parse_time


class Moment(int):
    """An int of its own type, so that encoding and decoding know what it is."""


def encode_moment(value: object) -> str:
    if isinstance(value, Moment):
        return format_time(value)
    raise NotImplementedError(f"{type(value).__name__} has no JSON form")


def decode_moment(kind: type, value: object) -> Moment:
    if kind is Moment and isinstance(value, str):
        return Moment(parse_time(value))
    raise ValueError("must be an RFC 3339 timestamp")
