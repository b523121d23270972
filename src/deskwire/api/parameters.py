"""Query strings: each parameter declared once with its type, its parser, its schema and its sentence."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, Generic, TypeVar, get_type_hints
from urllib.parse import unquote_to_bytes

import msgspec

from deskwire.model.errors import Problem, refused
from deskwire.model.ids import parse_id
from deskwire.model.limits import (
    CHANNEL_TAG_CHARACTERS,
    DELIVERY_LOG_OFFSET_MAXIMUM,
    MAX_CURSOR_CHARACTERS,
    PAGE_DEFAULT,
    PAGE_MAXIMUM,
    SEARCH_MAXIMUM,
    SEARCH_QUERY_CHARACTERS,
)
from deskwire.model.moments import Moment
from deskwire.model.times import parse_time
from deskwire.model.vocabulary import TagMatch

Q = TypeVar("Q", bound=msgspec.Struct)

REMEMBERED_QUERIES = 1_024
REMEMBERED_BYTES = 200


class Parameter(msgspec.Struct, frozen=True):
    """How a parameter is read from its text; the parser raises ValueError with what it must be.

    One that may be repeated is read from all its texts, each by itself.
    """

    parse: Callable[[str], Any]
    schema: dict[str, Any]
    description: str
    is_repeated: bool = False


def whole_number(minimum: int, maximum: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if re.fullmatch(r"[0-9]{1,16}", text, re.ASCII) and minimum <= int(text) <= maximum:
            return int(text)
        raise ValueError(f"must be a whole number from {minimum} to {maximum}")

    return parse


def one_of(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text in words:
            return text
        raise ValueError(f"must be {' or '.join(words)}")

    return parse


def characters(minimum: int, maximum: int) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if minimum <= len(text) <= maximum:
            return text
        raise ValueError(f"must be {minimum} to {maximum} characters")

    return parse


def cursor_text(text: str) -> str:
    if 1 <= len(text) <= MAX_CURSOR_CHARACTERS:
        return text
    raise ValueError(f"must be a next_cursor of this list, at most {MAX_CURSOR_CHARACTERS} characters")


def timestamp(text: str) -> Moment:
    return Moment(parse_time(text))


def tag_names(text: str) -> tuple[str, ...]:
    """Names between commas; an empty text names none, one of blanks and commas alone is refused."""
    if not text:
        return ()
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise ValueError("must name at least one tag between its commas")
    return names


Limit = Annotated[
    int,
    Parameter(
        whole_number(1, PAGE_MAXIMUM),
        {"type": "integer", "minimum": 1, "maximum": PAGE_MAXIMUM, "default": PAGE_DEFAULT},
        "How many to answer at most.",
    ),
]
Cursor = Annotated[
    str | None,
    Parameter(
        cursor_text,
        {"type": "string", "maxLength": MAX_CURSOR_CHARACTERS},
        "The `meta.next_cursor` of the page before. It holds a position only, so filters must be repeated.",
    ),
]


class Query(msgspec.Struct):
    """A request whose query says nothing."""


class LimitQuery(Query):
    limit: Limit = PAGE_DEFAULT


class PageQuery(LimitQuery):
    cursor: Cursor = None


class LogQuery(LimitQuery):
    offset: Annotated[
        int,
        Parameter(
            whole_number(0, DELIVERY_LOG_OFFSET_MAXIMUM),
            {"type": "integer", "minimum": 0, "maximum": DELIVERY_LOG_OFFSET_MAXIMUM, "default": 0},
            "How many of the newest entries to pass over.",
        ),
    ] = 0


class ContactQuery(PageQuery):
    q: Annotated[
        str | None,
        Parameter(
            str,
            {"type": "string"},
            "A part of the name, e-mail address or phone number, in upper or lower case. "
            "`%` and `_` stand for themselves.",
        ),
    ] = None
    external_id: Annotated[
        str | None,
        Parameter(
            str,
            {"type": "string"},
            "An external id that the contact uses or ever used. Not together with `q`.",
        ),
    ] = None


class ChannelQuery(PageQuery):
    tags: Annotated[
        tuple[str, ...],
        Parameter(
            tag_names,
            {"type": "string"},
            "Names of channel tags, between commas; blanks around a name do not count, case does.",
        ),
    ] = ()
    tag_match: Annotated[
        TagMatch,
        Parameter(
            one_of("any", "all"),
            {"type": "string", "enum": ["any", "all"], "default": "any"},
            "Whether a channel must carry at least one of the tags or every one.",
        ),
    ] = "any"


class MessageQuery(PageQuery, kw_only=True):
    since: Annotated[
        Moment,
        Parameter(
            timestamp,
            {"type": "string", "format": "date-time"},
            "Only messages after this moment (RFC 3339).",
        ),
    ]
    until: Annotated[
        Moment | None,
        Parameter(
            timestamp,
            {"type": "string", "format": "date-time"},
            "Only messages up to and including this moment (RFC 3339); now, when left out. "
            "At most 30 days after `since`.",
        ),
    ] = None


def uuid(text: str) -> str:
    id = parse_id(text)
    if id is None:
        raise ValueError("must be a UUID")
    return id


class RemovedTagsQuery(Query, kw_only=True):
    name: Annotated[
        tuple[str, ...],
        Parameter(
            characters(1, CHANNEL_TAG_CHARACTERS),
            {"type": "string", "minLength": 1},
            "The name of a tag to remove; repeat it for several. A comma is part of a name.",
            is_repeated=True,
        ),
    ]


class RemovedChannelTagsQuery(RemovedTagsQuery, kw_only=True):
    actor_member_id: Annotated[
        str, Parameter(uuid, {"type": "string", "format": "uuid"}, "The member who acts.")
    ]


class SearchQuery(Query, kw_only=True):
    q: Annotated[
        str,
        Parameter(
            characters(1, SEARCH_QUERY_CHARACTERS),
            {"type": "string", "minLength": 1, "maxLength": SEARCH_QUERY_CHARACTERS},
            "Words that must all occur, in upper or lower case, also in part of a word.",
        ),
    ]
    limit: Annotated[
        int,
        Parameter(
            whole_number(1, SEARCH_MAXIMUM),
            {"type": "integer", "minimum": 1, "maximum": SEARCH_MAXIMUM, "default": PAGE_DEFAULT},
            "How many results to answer at most.",
        ),
    ] = PAGE_DEFAULT


class QueryParser(Generic[Q]):
    """Reads the parameters that a query type declares and ignores all others."""

    def __init__(self, query: type[Q]) -> None:
        self.query = query
        hints = get_type_hints(query, include_extras=True)
        self.parameters: dict[str, Parameter] = {
            field.name: hints[field.name].__metadata__[0] for field in msgspec.structs.fields(query)
        }
        self.required = {field.name for field in msgspec.structs.fields(query) if field.required}
        self._known = {name.encode(): name for name in self.parameters}
        self._parse_once = lru_cache(REMEMBERED_QUERIES)(self._parse)

    def parse(self, raw: bytes) -> Q:
        """Clients ask the same again and again; what is short is remembered."""
        return self._parse_once(raw) if len(raw) <= REMEMBERED_BYTES else self._parse(raw)

    def _parse(self, raw: bytes) -> Q:
        given = self._given(raw)
        values: dict[str, object] = {}
        problems: list[Problem] = []
        for name, parameter in self.parameters.items():
            try:
                if name in given:
                    values[name] = self._value(parameter, given[name])
                elif name in self.required:
                    raise ValueError("is required")
            except ValueError as error:
                problems.append(Problem(name, str(error)))
        if problems:
            raise refused("INVALID_QUERY", *problems)
        return self.query(**values)

    def _value(self, parameter: Parameter, texts: list[bytes]) -> object:
        if parameter.is_repeated:
            return tuple(parameter.parse(readable(text)) for text in texts)
        return parameter.parse(readable(texts[-1]))

    def _given(self, raw: bytes) -> dict[str, list[bytes]]:
        """The bytes of each known parameter; of one that is not made to be repeated the last counts."""
        given: dict[str, list[bytes]] = {}
        for pair in raw.split(b"&"):
            name, _, value = pair.partition(b"=")
            known = self._known.get(unescaped(name))
            if known is not None:
                given.setdefault(known, []).append(unescaped(value))
        return given


def unescaped(raw: bytes) -> bytes:
    return unquote_to_bytes(raw.replace(b"+", b" ")) if b"%" in raw or b"+" in raw else raw


def readable(raw: bytes) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise ValueError("must be UTF-8") from None
    if "\0" in text:
        raise ValueError("must not contain NUL")
    return text
