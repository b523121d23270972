"""Puts each piece of the search index on SQLite on the level that is for its size.

FTS5 keeps an index in pieces, and the pieces on levels. What is written begins on the lowest. Four pieces of
a level become one of the next by and by, while others write; but sixteen do at once, whatever their size, in
the middle of a commit. So a level has pieces four times as large as those of the level below, but for what an
import has left: pieces of many megabytes on the lowest levels, for which those who write a few words later
would wait. FTS5 has no command that moves a piece, so what it remembers of them is rewritten here: their
levels, and nothing else.
"""

from typing import NamedTuple

import apsw

from deskwire.store.search import Subject

# So many of a level become one of the next.
PIECES_TO_MERGE = 4
# The row in which FTS5 remembers the pieces, as it is for an index of which entries can be deleted.
ROW = 10
FORM = slice(4, 8)
DELETABLE = b"\xff\x00\x00\x01"
PIECE_NUMBERS = 8
LONGEST_NUMBER = 9


class Piece(NamedTuple):
    pages: int
    bytes: bytes


class Reader:
    def __init__(self, memory: bytes) -> None:
        self._memory = memory
        self.at = FORM.stop

    def piece(self) -> Piece:
        """Its id, first page and last page come first."""
        begin = self.at
        _, first, last, *_ = [self.number() for _ in range(PIECE_NUMBERS)]
        return Piece(last - first + 1, self._memory[begin : self.at])

    def number(self) -> int:
        value = 0
        for place in range(LONGEST_NUMBER):
            byte = self._memory[self.at]
            self.at += 1
            if place == LONGEST_NUMBER - 1:
                return value << 8 | byte
            value = value << 7 | byte & 0x7F
            if byte < 0x80:
                break
        return value


def arrange(connection: apsw.Connection, subject: Subject) -> None:
    """Needs a connection that has not looked at the index before, and would not see that it has changed."""
    table = f"{subject.value}_terms_data"
    connection.execute("BEGIN IMMEDIATE")
    before = connection.execute(f"SELECT block FROM {table} WHERE id = ?", (ROW,)).get
    assert isinstance(before, bytes)
    if before[FORM] == DELETABLE:
        connection.execute(f"UPDATE {table} SET block = ? WHERE id = ?", (arranged(before), ROW))
    connection.execute("COMMIT")


def arranged(memory: bytes) -> bytes:
    """What FTS5 remembers, each piece being on the level of its size, or of a newer one's if it is higher."""
    reader = Reader(memory)
    levels, pieces, written = reader.number(), reader.number(), reader.number()
    newest_first: list[Piece] = []
    for _ in range(levels):
        # A merge that is under way may be left where it is: what it has written is a piece like others.
        reader.number()
        newest_first += reversed([reader.piece() for _ in range(reader.number())])
    assert len(newest_first) == pieces
    placed: list[list[bytes]] = [[]]
    for piece in newest_first:
        while len(placed) <= level_for(piece.pages):
            placed.append([])
        placed[-1].insert(0, piece.bytes)
    numbers = encoded(len(placed)) + encoded(pieces) + encoded(written)
    on_levels = [b"\x00" + encoded(len(level)) + b"".join(level) for level in placed]
    return memory[: FORM.stop] + numbers + b"".join(on_levels) + memory[reader.at :]


def level_for(pages: int) -> int:
    level = 0
    while pages >= PIECES_TO_MERGE:
        pages //= PIECES_TO_MERGE
        level += 1
    return level


def encoded(number: int) -> bytes:
    """In groups of seven bits, the last of them without the eighth; nothing here is near nine groups long."""
    groups = [number & 0x7F]
    while number := number >> 7:
        groups.append(number & 0x7F | 0x80)
    return bytes(reversed(groups))
