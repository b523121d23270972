"""Reading a request's body: from its bytes to what an operation takes, or to the field that is wrong."""

import json
import re
from typing import Any, Generic, TypeVar

import msgspec

from deskwire.api.bodies import Body
from deskwire.model.errors import DeskError, Problem

B = TypeVar("B", bound=Body)


class BodyParser(Generic[B]):
    def __init__(self, body: type[B]) -> None:
        self._decoder = msgspec.json.Decoder(body)
        self._names = [b'"%b"' % field.encode_name.encode() for field in msgspec.structs.fields(body)]

    def parse(self, raw: bytes) -> B:
        try:
            body = self._decoder.decode(raw)
            if self._may_repeat(raw):
                refuse_repeated(raw)
            if b"\\u0000" in raw:
                refuse_nul(json.loads(raw))
            body.check()
        except msgspec.ValidationError as error:
            raise invalid_body(*problem_of(str(error))) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            if field := half_character(raw):
                raise invalid_body(field, "must not contain half of a surrogate pair") from None
            raise invalid_body("body", "must be JSON in UTF-8") from None
        except ValueError as error:
            field, _, problem = str(error).partition(": ")
            raise invalid_body(field, problem) from None
        return body

    def _may_repeat(self, raw: bytes) -> bool:
        """A field named twice could be meant either way; so could one whose name is spelled with escapes."""
        return b"\\u" in raw or any(raw.count(name) > 1 for name in self._names)


def refuse_repeated(raw: bytes) -> None:
    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for name, value in members:
            if name in seen:
                raise ValueError(f"{name}: is there twice")
            seen[name] = value
        return seen

    json.loads(raw, object_pairs_hook=pairs)


def refuse_nul(body: dict[str, Any]) -> None:
    for name, value in body.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and "\0" in text:
                raise ValueError(f"{name}: must not contain NUL")


def half_character(raw: bytes) -> str | None:
    """The field of a body that is JSON but for half a character in a text."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    for name, value in body.items() if isinstance(body, dict) else ():
        for text in (name, *(value if isinstance(value, list) else [value])):
            if isinstance(text, str) and HALF.search(text):
                return readable(name)
    return None


def readable(name: str) -> str:
    """The name of a field that the client made up, bounded."""
    whole = HALF.sub("\ufffd", name)
    return whole if len(whole) <= SHOWN_CHARACTERS else f"{whole[:SHOWN_CHARACTERS]}…"


def invalid_body(field: str, problem: str) -> DeskError:
    return DeskError("INVALID_BODY", f"{field} {problem}.", Problem(field, problem))


def problem_of(message: str) -> tuple[str, str]:
    """What msgspec says of a body, as a field and what is wrong with it."""
    if unknown := UNKNOWN_FIELD.fullmatch(message):
        return readable(unknown["field"]), "is not a field of this request"
    said, _, path = message.partition(" - at `")
    field = path.rstrip("`").removeprefix("$").removeprefix(".").partition("[")[0]
    for pattern, problem in PROBLEMS:
        if found := pattern.fullmatch(said):
            field = found.groupdict().get("field") or field
            return field or "body", TYPES_IN_WORDS.sub(
                lambda name: WORDS.get(name[1], name[1]), found.expand(problem)
            )
    return field or "body", said[0].lower() + said[1:]


HALF = re.compile("[\ud800-\udfff]")
SHOWN_CHARACTERS = 64
# Bodies are flat, so no path follows, and whatever stands in the name belongs to it.
UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(?P<field>.*)`", re.DOTALL)
TYPES_IN_WORDS = re.compile(r"<([^<>]*)>")
WORDS = {
    "str": "a text",
    "str | null": "a text or null",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
PROBLEMS: list[tuple[re.Pattern[str], str]] = [
    (re.compile(pattern), problem)
    for pattern, problem in (
        (r"Object missing required field `(?P<field>\w+)`", "is required"),
        (r"Expected `str` matching regex .*", "must be a UUID"),
        (r"Expected `str` of length <= 36", "must be a UUID"),
        (r"Expected `str` of length >= 1", "must not be empty"),
        (r"Expected `str` of length <= (\d+)", r"must be at most \1 characters"),
        (r"Expected `([^`]*)`, got `([^`]*)`", r"must be <\1>, not <\2>"),
    )
]
