"""The other ways in which the body of a delivery may have been written before something changed it."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from deskwire.model.received_events import read_event, write_event


class Change(NamedTuple):
    """What happened to a secret, a signature or a body: a word for programs and a sentence for people."""

    reason: str
    told: str


Written = tuple[list[Change], bytes]


def bodies(body: bytes) -> Iterator[Written]:
    """The body as it is, and all that it may have been, each with what was done to it."""
    for encoding, text in encodings(body):
        yield encoding, text
        for change, written in line_ends(text):
            yield [*encoding, change], written
        for change, written in as_signed(text):
            yield [*encoding, change], written
        for change, written in as_others_write(text):
            yield [*encoding, change], written
    yield from SIGNED_INSTEAD


def encodings(body: bytes) -> Iterator[Written]:
    yield [], body
    if body.startswith(BOM):
        yield [BOM_ADDED], body.removeprefix(BOM)
    with suppress(UnicodeError):
        if body.startswith((b"\xff\xfe", b"\xfe\xff")):
            yield [ENCODED_AS_UTF_16], body.decode("utf-16").encode()
    for codec in ("latin-1", "cp1252"):
        with suppress(UnicodeError):
            if not body.isascii():
                yield [ENCODED_TWICE], body.decode().encode(codec)


def line_ends(body: bytes) -> Iterator[tuple[Change, bytes]]:
    yield WHITESPACE_ADDED, body.strip()
    yield LINE_END_REMOVED, body + b"\n"
    yield LINE_END_REMOVED, body + b"\r\n"
    as_unix = body.replace(b"\r\n", b"\n")
    yield LINE_ENDS_CHANGED, as_unix
    yield LINE_ENDS_CHANGED, as_unix.replace(b"\n", b"\r\n")
    yield LINE_ENDS_CHANGED, as_unix.strip()


def as_signed(body: bytes) -> Iterator[tuple[Change, bytes]]:
    """As deliveries are written: compact, in the order of the fields, escaping no more than it must."""
    with suppress(ValueError, RecursionError):
        compact = msgspec.json.encode(msgspec.json.decode(body))
        yield rewritten(body, compact), compact
        signed = write_event(read_event(body))
        yield rewritten(body, signed), signed


def as_others_write(body: bytes) -> Iterator[tuple[Change, bytes]]:
    with suppress(ValueError, RecursionError):
        # Of bytes it would take other encodings too, which have been told of by now.
        value = json.loads(body.decode())
        for how, write in WRITERS:
            yield (
                Change("json_written_otherwise", f"the signature was made over the same JSON {how}"),
                write(value).encode(),
            )


def rewritten(body: bytes, signed: bytes) -> Change:
    """Says what a parser did that read the body and wrote it anew."""
    traits = list(traits_of(body, signed))
    how = f": {', '.join(traits)}" if traits else ""
    return Change(
        "json_rewritten",
        f"the JSON was parsed and written anew{how}; verify the bytes as received, before any parser",
    )


def traits_of(body: bytes, signed: bytes) -> Iterator[str]:
    bare = _STRINGS.sub(b"", body).strip()
    if b"\n" in bare:
        yield "it was indented"
    elif _BLANKS.search(bare):
        yield "blanks were added"
    if len(_ESCAPES.findall(body)) > len(_ESCAPES.findall(signed)):
        yield "characters were escaped as \\u…"
    if b"\\/" in body and b"\\/" not in signed:
        yield "slashes were escaped"
    before, after = msgspec.json.decode(signed), msgspec.json.decode(body)
    if before != after:
        yield "keys or values were added, removed or changed"
    elif msgspec.json.encode(after) != signed:
        yield "keys were put in another order"


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def compact_ascii(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def compact_sorted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def spaced(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def spaced_ascii(value: object) -> str:
    return json.dumps(value)


def indented_by_2(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def indented_by_4(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=4)


WRITERS: Sequence[tuple[str, Callable[[object], str]]] = (
    ("written compactly", compact),
    ("written compactly, all but ASCII escaped", compact_ascii),
    ("written compactly with its keys sorted", compact_sorted),
    ("with blanks after colons and commas", spaced),
    ("with blanks after colons and commas, all but ASCII escaped", spaced_ascii),
    ("indented by 2", indented_by_2),
    ("indented by 4", indented_by_4),
)

BOM = b"\xef\xbb\xbf"
BOM_ADDED = Change("bom_added", "a byte order mark was put in front of the body")
ENCODED_AS_UTF_16 = Change("encoded_as_utf_16", "the body was written as UTF-16; it is sent in UTF-8")
ENCODED_TWICE = Change(
    "encoded_twice", "the body was read as if it were Latin-1 and encoded once more; it is UTF-8 already"
)
WHITESPACE_ADDED = Change("whitespace_added", "a line end or blanks were put around the body, as editors do")
LINE_END_REMOVED = Change("line_end_removed", "the signature was made over the body with a line end after it")
LINE_ENDS_CHANGED = Change("line_ends_changed", "the line ends of the body were changed")
SIGNED_INSTEAD: Sequence[Written] = (
    (
        [Change("signed_nothing", "the signature was made over nothing: the body had been read before")],
        b"",
    ),
    (
        [
            Change(
                "signed_an_object",
                "the signature was made over the text [object Object]: a parsed object, not the bytes",
            )
        ],
        b"[object Object]",
    ),
)

_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BLANKS = re.compile(rb"\s")
_ESCAPES = re.compile(rb"\\u[0-9a-fA-F]{4}")
