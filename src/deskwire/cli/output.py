"""What a command prints: JSON for programs, lines and aligned columns for people."""

import re
from collections.abc import Sequence

import click
import msgspec

from deskwire.model.moments import Moment, encode_moment
from deskwire.model.times import format_time


def print_json(value: object) -> None:
    """One object on a line, in UTF-8 whatever the terminal speaks."""
    click.echo(msgspec.json.encode(value, enc_hook=encode_moment))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Aligned columns; free text belongs into the last one, where its width moves nothing."""
    print_rows([header, *rows])


def print_rows(rows: Sequence[Sequence[str]]) -> None:
    written = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*written, strict=True)]
    for row in written:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        click.echo("  ".join(cells).rstrip())


def complain(text: str) -> None:
    """One line on standard error."""
    click.echo(f"deskwire: {printable(' '.join(text.split()))}", err=True)


def printable(text: str) -> str:
    """Nothing that came from outside may steer the terminal that it is shown on."""
    return _STEERING.sub("\N{REPLACEMENT CHARACTER}", text)


def time_text(moment: Moment | None, otherwise: str) -> str:
    return otherwise if moment is None else format_time(moment)


_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
