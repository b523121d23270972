"""A received request as a block of lines for the terminal."""

from collections.abc import Iterator

import click
import msgspec

from deskwire.cli.output import printable
from deskwire.cli.reception import Reception, SignatureState
from deskwire.model.limits import RECEIVED_BODY_SHOWN_CHARACTERS, RECEIVED_BODY_SHOWN_LINES
from deskwire.model.times import format_time

COLOURS: dict[SignatureState, str] = {
    "valid": "green",
    "invalid": "red",
    "missing": "red",
    "unchecked": "yellow",
}
MEANINGS: dict[SignatureState, str] = {
    "valid": "valid",
    "invalid": "INVALID: not made with this secret over this body; `deskwire verify` looks for the reason",
    "missing": "MISSING: the request has no X-Webhook-Signature",
    "unchecked": "unchecked: no --secret was given",
}


def block_of(reception: Reception, *, indented: bool) -> str:
    """What stands on its own line begins at the left; the rest is indented below it."""
    head = f"{format_time(reception.received_at)}  {reception.method} {reception.path}"
    rows = [f"  {name.ljust(9)}  {told}" for name, told in rows_of(reception)]
    body = [f"  {line}" for line in body_lines(reception.body, indented=indented)]
    return "\n".join([click.style(shortened(head), bold=True), *rows, *body, ""])


def rows_of(reception: Reception) -> Iterator[tuple[str, str]]:
    if reception.kind is not None:
        yield "kind", shortened(reception.kind)
    if reception.event_id is not None:
        again = click.style("  seen before", fg="yellow") if reception.seen_before else ""
        yield "event", shortened(reception.event_id) + again
    if reception.workspace_id is not None:
        yield "workspace", shortened(reception.workspace_id)
    if reception.timestamp is not None:
        yield "accepted", shortened(reception.timestamp)
    if reception.attempted_at is not None:
        yield "attempt", attempt_of(reception.attempted_at, reception.received_at)
    yield "signature", click.style(MEANINGS[reception.signature], fg=COLOURS[reception.signature])
    yield "answered", "nothing" if reception.answered is None else str(reception.answered)


def attempt_of(attempted_at: int, received_at: int) -> str:
    off_s = round((received_at - attempted_at) / 1_000_000)
    drift = f"  {abs(off_s):,} s {'ago' if off_s > 0 else 'ahead of this clock'}" if abs(off_s) > 1 else ""
    return f"{format_time(attempted_at)}{drift}"


def body_lines(body: msgspec.Raw, *, indented: bool) -> Iterator[str]:
    written = bytes(body)
    if written.startswith(b'"'):
        lines = msgspec.json.decode(written, type=str).splitlines()
    else:
        lines = (msgspec.json.format(written, indent=2) if indented else written).decode().split("\n")
    yield from map(shortened, lines[:RECEIVED_BODY_SHOWN_LINES])
    if len(lines) > RECEIVED_BODY_SHOWN_LINES:
        yield f"… and {len(lines) - RECEIVED_BODY_SHOWN_LINES:,} lines more"


def shortened(line: str) -> str:
    shown = printable(line[:RECEIVED_BODY_SHOWN_CHARACTERS])
    more = len(line) - RECEIVED_BODY_SHOWN_CHARACTERS
    return f"{shown}… and {more:,} characters more" if more > 0 else shown
