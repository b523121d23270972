"""How a difference is told to a person."""

from collections.abc import Iterator

import msgspec

SHOWN_CHARACTERS = 200


def difference(table: str, id: str, column: str, kept: object, right: object) -> Iterator[str]:
    """Nothing where both are the same; of documents, a line for each key that differs."""
    if kept == right:
        return
    found, wanted = parsed(kept), parsed(right)
    if not (isinstance(found, dict) and isinstance(wanted, dict)) or found == wanted:
        yield f"{table} {id}: {column} is {shown(kept)} and should be {shown(right)}"
        return
    for key in {**found, **wanted}:
        if found.get(key, ABSENT) != wanted.get(key, ABSENT):
            is_now, should_be = shown(found.get(key, ABSENT)), shown(wanted.get(key, ABSENT))
            yield f"{table} {id}: {column} has {key} {is_now} and should have {should_be}"


class Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT = Absent()


def parsed(value: object) -> object:
    if not isinstance(value, bytes):
        return None
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
