"""Reading a request's body: from its bytes to what an operation takes, or to the fields that are wrong."""

import json
import re
from typing import Any, Generic, TypeVar

import msgspec

from deskwire.api.bodies import Body
from deskwire.model.errors import DeskError, Problem, refused
from deskwire.model.limits import UNKNOWN_FIELDS_SHOWN

B = TypeVar("B", bound=Body)


class BodyParser(Generic[B]):
    def __init__(self, body: type[B]) -> None:
        fields = msgspec.structs.fields(body)
        self._decoder = msgspec.json.Decoder(body)
        self._names = [b'"%b"' % field.encode_name.encode() for field in fields]
        self._required = {field.encode_name for field in fields if field.required}
        self._alone = {field.encode_name: msgspec.json.Decoder(field.type) for field in fields}

    def parse(self, raw: bytes) -> B:
        try:
            body = self._decoder.decode(raw)
            if self._may_repeat(raw):
                refuse_repeated(raw)
            if b"\\u0000" in raw:
                refuse_nul(json.loads(raw))
            body.check()
        except msgspec.ValidationError as error:
            raise refused("INVALID_BODY", *(self._problems(raw) or [problem_of(str(error))])) from None
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

    def _problems(self, raw: bytes) -> list[Problem]:
        """Of each field by itself, since the decoder stops at the first; none where the body is no object."""
        try:
            given = EACH_BY_ITSELF.decode(raw)
            declared = {name: self._problem(name, given.get(name)) for name in self._alone}
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return []
        unknown = [name for name in given if name not in declared][:UNKNOWN_FIELDS_SHOWN]
        return [
            *(Problem(name, problem) for name, problem in declared.items() if problem),
            *(Problem(readable(name), UNKNOWN) for name in unknown),
        ]

    def _problem(self, name: str, value: msgspec.Raw | None) -> str | None:
        if value is None:
            return REQUIRED if name in self._required else None
        try:
            self._alone[name].decode(value)
        except msgspec.ValidationError as error:
            return problem_of(str(error)).problem
        return None


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
    return refused("INVALID_BODY", Problem(field, problem))


def problem_of(message: str) -> Problem:
    """What msgspec says of a body, as a field and what is wrong with it."""
    if unknown := UNKNOWN_FIELD.fullmatch(message):
        return Problem(readable(unknown["field"]), UNKNOWN)
    said, _, path = message.partition(" - at `")
    field = path.rstrip("`").removeprefix("$").removeprefix(".").partition("[")[0]
    for pattern, problem in PROBLEMS:
        if found := pattern.fullmatch(said):
            field = found.groupdict().get("field") or field
            words = TYPES_IN_WORDS.sub(lambda name: WORDS.get(name[1], name[1]), found.expand(problem))
            return Problem(field or "body", words)
    return Problem(field or "body", said[0].lower() + said[1:])


EACH_BY_ITSELF = msgspec.json.Decoder(dict[str, msgspec.Raw])
REQUIRED = "is required"
UNKNOWN = "is not a field of this request"
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
        (r"Object missing required field `(?P<field>\w+)`", REQUIRED),
        (r"Expected `str` matching regex .*", "must be a UUID"),
        (r"Expected `str` of length <= 36", "must be a UUID"),
        (r"Expected `str` of length >= 1", "must not be empty"),
        (r"Expected `str` of length <= (\d+)", r"must be at most \1 characters"),
        (r"Expected `([^`]*)`, got `([^`]*)`", r"must be <\1>, not <\2>"),
    )
]
