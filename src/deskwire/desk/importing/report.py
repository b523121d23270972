"""What an import tells: how much there was of each kind, and what is wrong with which lines."""

import bisect
from typing import NamedTuple

import msgspec

from deskwire.model.limits import BAD_LINES_SHOWN


class BadLine(NamedTuple):
    line: int
    reason: str


class ImportReport(msgspec.Struct, frozen=True):
    """`more_bad_lines` says that there are bad lines besides those listed; with any, nothing was imported.

    `not_analysed` says why what was imported is there, but may be found less fast than all else.
    """

    records: dict[str, int]
    bad_lines: list[BadLine]
    more_bad_lines: bool = False
    not_analysed: str | None = None


class BadLines:
    """The first bad lines of a file in the order of the file, in whatever order they are found."""

    def __init__(self, found: "BadLines | None" = None) -> None:
        self.shown: list[BadLine] = [] if found is None else list(found.shown)
        self.more: bool = found is not None and found.more

    def add(self, line: int, reason: str) -> None:
        bisect.insort(self.shown, BadLine(line, reason))
        if len(self.shown) > BAD_LINES_SHOWN:
            self.shown.pop()
            self.more = True
