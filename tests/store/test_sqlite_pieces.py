"""Pieces of SQLite's search index are moved to the levels of their sizes; nothing is lost or found twice."""

import random
import uuid
from collections.abc import Callable, Iterator

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskwire.model.text import Parts
from deskwire.store.search import Entry, Subject
from deskwire.store.sqlite import SqliteStore
from deskwire.store.sqlite_pieces import FORM, ROW, Piece, Reader, arrange, arranged, encoded, level_for
from deskwire.store.transaction import Tx
from tests.engines import Run

WORKSPACE = "00000000-0000-0000-0000-00000000aabc"
LARGE = 6_000
Levels = list[tuple[int, list[Piece]]]
SIZES = st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(1, 100_000), max_size=5)), max_size=6)


def read(memory: bytes) -> Levels:
    """How many pieces of each level are being merged, and all of them, oldest first."""
    reader = Reader(memory)
    count, _, _ = reader.number(), reader.number(), reader.number()
    return [(reader.number(), [reader.piece() for _ in range(reader.number())]) for _ in range(count)]


def write(levels: list[tuple[int, list[int]]]) -> bytes:
    count = sum(len(sizes) for _, sizes in levels)
    ids = iter(range(1, count + 1))
    parts = [b"\x00\x00\x00\x04\xff\x00\x00\x01", encoded(len(levels)), encoded(count), encoded(2**20)]
    for merging, sizes in levels:
        parts += [encoded(merging), encoded(len(sizes))]
        for size in sizes:
            parts += [encoded(number) for number in (next(ids), 3, size + 2, 1, 2, 0, 0, 9)]
    return b"".join(parts)


@given(SIZES)
def test_each_piece_has_the_level_of_its_size_and_none_passes_another(
    levels: list[tuple[int, list[int]]],
) -> None:
    before = write(levels)
    after = read(arranged(before))
    assert oldest_first(after) == oldest_first(read(before))
    assert all(merging == 0 for merging, _ in after)
    for level, (_, pieces) in enumerate(after):
        newer = [level_for(one.pages) for _, others in after[: level + 1] for one in others]
        assert not pieces or level == max(newer)
    assert arranged(arranged(before)) == arranged(before)


def oldest_first(levels: Levels) -> list[Piece]:
    return [piece for _, pieces in reversed(levels) for piece in pieces]


def large(first: int) -> list[Entry]:
    """What fills hundreds of pages, found by their own words and by one that all have."""
    chance = random.Random(first)
    return [
        Entry(ident(number), number, f"wall w{number} {padding(chance)}")
        for number in range(first, first + LARGE)
    ]


def padding(chance: random.Random) -> str:
    return " ".join(f"p{chance.randrange(10**6)}" for _ in range(40))


def ident(number: int) -> str:
    return str(uuid.UUID(int=number))


class Index:
    """The messages' index of a store that has been open all the time."""

    def __init__(self, run: Run, store: SqliteStore) -> None:
        self._run = run
        self._store = store

    def add(self, entries: list[Entry]) -> None:
        async def index(tx: Tx) -> None:
            await tx.index(Subject.MESSAGES, WORKSPACE, entries)

        self._run(self._store.write(index))

    def add_a_little(self, first: int, times: int) -> None:
        """In a commit each, as replies are."""
        for number in range(first, first + times):
            self.add([Entry(ident(number), number, f"wall w{number}")])

    def analyse(self) -> None:
        self._run(self._store.analyse())

    def found(self, term: str) -> list[str]:
        terms = Parts((term,), ())
        found = self._store.read(lambda tx: tx.candidates(Subject.MESSAGES, WORKSPACE, terms, 100_000))
        return sorted(self._run(found))

    def levels(self) -> Levels:
        with self._open() as connection:
            memory = connection.execute("SELECT block FROM message_terms_data WHERE id = ?", (ROW,)).get
        assert isinstance(memory, bytes)
        return read(memory)

    def tell(self, command: str, number: int = 0) -> None:
        with self._open() as connection:
            connection.execute(
                "INSERT INTO message_terms (message_terms, rank) VALUES (?, ?)", (command, number)
            )

    def _open(self) -> apsw.Connection:
        return apsw.Connection(str(self._store.path))


@pytest.fixture
def index(run: Run, open_sqlite: Callable[[], SqliteStore]) -> Iterator[Index]:
    index = Index(run, open_sqlite())
    yield index
    index.tell("integrity-check")


def largest(levels: Levels) -> tuple[int, Piece]:
    return max(((level, piece) for level, (_, pieces) in enumerate(levels) for piece in pieces), key=by_pages)


def by_pages(placed: tuple[int, Piece]) -> int:
    return placed[1].pages


def test_what_an_import_has_left_is_not_rewritten_with_what_comes_next(index: Index) -> None:
    index.add(large(0))
    assert largest(index.levels())[0] == 0
    index.analyse()
    level, piece = largest(index.levels())
    assert level == level_for(piece.pages) > 3
    index.add_a_little(LARGE, 200)
    assert largest(index.levels()) == (level, piece)
    assert index.found("wall") == [ident(number) for number in range(LARGE + 200)]


def test_it_would_be_rewritten_where_it_was(index: Index) -> None:
    index.add(large(0))
    _, piece = largest(index.levels())
    index.add_a_little(LARGE, 16)
    assert piece not in oldest_first(index.levels())


def test_a_merge_that_is_under_way_may_be_interrupted(index: Index) -> None:
    index.tell("automerge", 0)
    for part in range(4):
        index.add(large(part * LARGE))
    index.tell("merge", 50)
    assert any(merging for merging, _ in index.levels())
    index.analyse()
    index.add_a_little(4 * LARGE, 40)
    assert index.found("wall") == [ident(number) for number in range(4 * LARGE + 40)]


def test_pieces_of_a_level_are_brought_together(index: Index) -> None:
    for part in range(6):
        index.add(large(part * LARGE))
    index.analyse()
    assert all(len(pieces) < 4 for _, pieces in index.levels())
    assert index.found("wall") == [ident(number) for number in range(6 * LARGE)]


def test_entries_of_a_piece_that_was_moved_can_be_changed_and_removed(index: Index) -> None:
    index.add(large(0))
    index.analyse()
    index.add([Entry(ident(3), 3, "wnew"), Entry(ident(4), 4, "")])
    index.add_a_little(LARGE, 40)
    index.analyse()
    assert [index.found(term) for term in ("w3", "w4", "wnew", "w5")] == [[], [], [ident(3)], [ident(5)]]


def test_an_index_of_another_form_is_left_as_it_is() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE contact_terms USING fts5(terms)")
    connection.execute("INSERT INTO contact_terms VALUES ('kim')")
    what = "SELECT block FROM contact_terms_data WHERE id = ?"
    before = connection.execute(what, (ROW,)).get
    arrange(connection, Subject.CONTACTS)
    assert isinstance(before, bytes) and before[FORM] != b"\xff\x00\x00\x01"
    assert connection.execute(what, (ROW,)).get == before


@given(st.integers(0, 2**56 - 1))
def test_a_number_is_read_as_it_was_written(number: int) -> None:
    reader = Reader(bytes(8) + encoded(number))
    assert reader.number() == number
