"""What the values on the command line must look like; what does not is wrong usage."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from deskwire.model.durations import parse_duration
from deskwire.model.emails import parse_email
from deskwire.model.ids import parse_id
from deskwire.model.limits import NAME_CHARACTERS, WEBHOOK_SECRET_BYTES
from deskwire.model.moments import Moment
from deskwire.model.scopes import SCOPES
from deskwire.model.times import parse_time
from deskwire.model.vocabulary import EventKind, words
from deskwire.store.clock import system_clock


class Parsed(click.ParamType[Any]):
    """A value that a function reads, whose ValueError completes "Invalid value: …"."""

    def __init__(self, name: str, parse: Callable[[str], object]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> object:
        try:
            return self._parse(value)
        except ValueError as problem:
            self.fail(str(problem), param, ctx)


def _id(text: str) -> str:
    found = parse_id(text)
    if found is None:
        raise ValueError("must be a UUID such as 018f3e1c-7c2a-7b11-9a53-000000000001")
    return found


def _name(text: str) -> str:
    if not text.strip() or len(text) > NAME_CHARACTERS:
        raise ValueError(f"must have 1 to {NAME_CHARACTERS} characters")
    if _UNWRITABLE.search(text):
        raise ValueError("must be UTF-8 text on one line")
    return text


def _since(text: str) -> Moment:
    """So long ago, or since that time."""
    with suppress(ValueError):
        return Moment(system_clock() - parse_duration(text))
    try:
        return Moment(parse_time(text))
    except ValueError:
        raise ValueError("must be a duration such as 2h, or a time such as 2024-01-31T12:00:00Z") from None


def _secret(text: str) -> str:
    if not _SECRET.fullmatch(text):
        raise ValueError(
            f"must be the {2 * WEBHOOK_SECRET_BYTES} hexadecimal digits that the webhook came with"
        )
    return text


def _text(text: str) -> str:
    if _UNDECODED.search(text):
        raise ValueError("must be UTF-8 text")
    return text


_SECRET = re.compile(f"[0-9a-fA-F]{{{2 * WEBHOOK_SECRET_BYTES}}}")
_UNDECODED = re.compile("[\ud800-\udfff]")
# Controls, line separators, and the surrogates that stand for bytes which are no UTF-8.
_UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

ID = Parsed("uuid", _id)
NAME = Parsed("text", _name)
EMAIL = Parsed("e-mail", parse_email)
DURATION = Parsed("duration", parse_duration)
SINCE = Parsed("duration or time", _since)
SECRET = Parsed("secret", _secret)
TEXT = Parsed("text", _text)
SCOPE = click.Choice(list(SCOPES))
KIND = click.Choice(words(EventKind))
STATUS = click.IntRange(200, 599)
PORT = click.IntRange(0, 65535)
COUNT = click.IntRange(min=1)
# A file that is missing is a failure and no wrong usage, so it is not looked for here.
FILE = click.Path(path_type=Path)
