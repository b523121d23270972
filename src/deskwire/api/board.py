"""Where one process keeps its figures, so that other processes of the same program can read them at any time.

A board is a row of 64-bit floats and a list of names that says what stands where. A process that is alone
keeps it in its memory. Among several, each has a file, open in all of them, and maps its own floats into its
memory: to count is to write to memory, and to read another's board is to read a file, with nobody to ask and
nobody to wait for. A worker that replaces a dead one goes on with its board: no count ever falls."""

import mmap
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

CELLS = 1 << 16
_CELLS_BYTES = CELLS * 8


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """A figure, such as `("request", "GET", "/hours", "200")`, and how many cells it takes."""

    name: tuple[str, ...]
    size: int


@dataclass
class Board:
    """`file` is absent for a process that is alone."""

    file: int | None = None
    cells: "memoryview[float]" = field(init=False)

    def __post_init__(self) -> None:
        self._entries: dict[tuple[str, ...], tuple[int, int]] = {}
        self._end = 0
        if self.file is None:
            self.cells = memoryview(bytearray(_CELLS_BYTES)).cast("d")
            return
        if os.fstat(self.file).st_size < _CELLS_BYTES:
            os.ftruncate(self.file, _CELLS_BYTES)
        self.cells = memoryview(mmap.mmap(self.file, _CELLS_BYTES)).cast("d")
        for entry in _names(self.file):
            self._place(entry)

    def open(self, name: tuple[str, ...], size: int = 1) -> int | None:
        """The figure's first cell; None when the board is full, as hostile names could make it."""
        if name in self._entries:
            return self._entries[name][0]
        if self._end + size > CELLS:
            return None
        entry = Entry(name, size)
        if self.file is not None:
            os.pwrite(self.file, msgspec.json.encode(entry) + b"\n", os.fstat(self.file).st_size)
        return self._place(entry)

    def figures(self) -> Iterator[tuple[tuple[str, ...], list[float]]]:
        for name, (at, size) in self._entries.items():
            yield name, list(self.cells[at : at + size])

    def _place(self, entry: Entry) -> int:
        at = self._end
        self._entries[entry.name] = (at, entry.size)
        self._end = at + entry.size
        return at


def read_figures(file: int) -> Iterator[tuple[tuple[str, ...], list[float]]]:
    """Those of another process, which goes on counting meanwhile."""
    at = 0
    for entry in _names(file):
        cells = os.pread(file, entry.size * 8, at * 8)
        yield entry.name, list(struct.unpack(f"{entry.size}d", cells))
        at += entry.size


def _names(file: int) -> list[Entry]:
    text = os.pread(file, max(0, os.fstat(file).st_size - _CELLS_BYTES), _CELLS_BYTES)
    whole_lines, _, _ = text.rpartition(b"\n")
    return [msgspec.json.decode(line, type=Entry) for line in whole_lines.splitlines()]
