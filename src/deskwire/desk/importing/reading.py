"""The first look at a file: each line by itself, put aside by kind for what comes after."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from deskwire.desk.importing.report import BadLines
from deskwire.model.connections import AiAgentRecord
from deskwire.model.limits import RECORD_LINE_BYTES
from deskwire.model.lines import BadLine, BusinessHoursLine, WorkspaceLine, decode_line, id_in, kind_of, pack
from deskwire.store.spool import Spool

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class RawLine(NamedTuple):
    """A line as it stands in the file, or the start of one that is too long to be read whole."""

    number: int
    line: bytes
    whole: bool


def read(path: Path, spool: Spool, advance: Callable[[int], None]) -> BadLines:
    """Puts the good lines into the spool and answers the bad ones."""
    bad = BadLines()
    with path.open("rb") as file:
        for raw in lines(file):
            try:
                spool_line(spool, raw)
            except BadLine as problem:
                bad.add(raw.number, str(problem))
                spool.suspects.add(id for id in [id_in(raw.line)] if id)
            advance(len(raw.line))
    spool.settle()
    return bad


def lines(file: BinaryIO) -> Iterator[RawLine]:
    number = 0
    while line := file.readline(RECORD_LINE_BYTES + 1):
        number += 1
        whole = len(line) <= RECORD_LINE_BYTES or line.endswith(b"\n")
        if not whole:
            skip_line(file)
        if number == 1:
            line = line.removeprefix(BYTE_ORDER_MARK)
        yield RawLine(number, line, whole)


def skip_line(file: BinaryIO) -> None:
    while rest := file.readline(RECORD_LINE_BYTES):
        if rest.endswith(b"\n"):
            return


def spool_line(spool: Spool, raw: RawLine) -> None:
    if not raw.whole:
        raise BadLine(f"the line is longer than {RECORD_LINE_BYTES // 1024 // 1024} MiB")
    line = raw.line.strip(b" \t\r\n")
    if not line:
        return
    record = decode_line(line)
    if isinstance(record, WorkspaceLine | BusinessHoursLine | AiAgentRecord):
        # A workspace has one of each, so the last one counts.
        spool.add(kind_of(record), "", 0, raw.number, pack(record))
    else:
        spool.add(kind_of(record), record.id, record.created_at, raw.number, pack(record))
