"""The index of terms on both engines: whose they are, what is found first, what is found no more."""

import uuid

from deskwire.model.text import Parts
from deskwire.store.search import Entry, Subject
from deskwire.store.transaction import Tx
from tests.engines import AnyStore, Run

MINE, THEIRS = "00000000-0000-0000-0000-00000000aabc", "00000000-0000-0000-0000-00000000babc"


def entries(first: int, *terms: str) -> list[Entry]:
    return [Entry(str(uuid.UUID(int=n)), n, " ".join(terms)) for n in range(first, first + 10)]


def ids(first: int) -> list[str]:
    """Newest first."""
    return [entry.id for entry in entries(first)][::-1]


def test_terms_that_two_workspaces_share_hide_nothing_of_either(run: Run, store: AnyStore) -> None:
    async def write(tx: Tx) -> None:
        await tx.index(Subject.MESSAGES, MINE, entries(0, "abcwbicycle"))
        await tx.index(Subject.MESSAGES, THEIRS, entries(100, "abcwbicycle"))

    async def read(tx: Tx) -> None:
        for parts in (Parts(("abcwbicycle",), ()), Parts((), ("abcwbi",))):
            assert await tx.candidates(Subject.MESSAGES, MINE, parts, 10) == ids(0)
            assert await tx.candidates(Subject.MESSAGES, THEIRS, parts, 10) == ids(100)
            assert await tx.candidates(Subject.CONTACTS, MINE, parts, 10) == []

    run(store.write(write))
    run(store.read(read))


def test_a_thing_is_found_by_its_newest_terms_alone(run: Run, store: AnyStore) -> None:
    async def write(tx: Tx) -> None:
        await tx.index(Subject.CONTACTS, MINE, entries(0, "first", "it's", '"quoted"', "back\\slash", "a:b"))
        await tx.index(Subject.CONTACTS, MINE, entries(5, "second"))
        await tx.index(Subject.CONTACTS, MINE, [Entry(entry.id, 0, "") for entry in entries(10)])

    async def found(tx: Tx, *terms: str) -> int:
        return len(await tx.candidates(Subject.CONTACTS, MINE, Parts(terms, ()), 100))

    async def read(tx: Tx) -> None:
        assert await found(tx, "first") == 5
        assert await found(tx, "second") == 5
        assert await found(tx, "first", "second") == 0
        assert await found(tx, "it's", '"quoted"', "back\\slash", "a:b") == 5

    run(store.write(write))
    run(store.read(read))


def test_more_than_so_many_are_known_without_naming_them(run: Run, store: AnyStore) -> None:
    async def write(tx: Tx) -> None:
        await tx.index(Subject.MESSAGES, MINE, entries(0, "abcwbicycle"))
        await tx.index(Subject.MESSAGES, MINE, entries(100, "abcwbicycle", "abcwred"))

    async def read(tx: Tx) -> None:
        for subject, parts, count in (
            (Subject.MESSAGES, Parts(("abcwbicycle",), ()), 20),
            (Subject.MESSAGES, Parts(("abcwred",), ("abcwbi",)), 10),
            (Subject.MESSAGES, Parts(("abcwblue",), ()), 0),
            (Subject.CONTACTS, Parts(("abcwbicycle",), ()), 0),
        ):
            assert not await tx.has_more_candidates(subject, MINE, parts, count)
            if count:
                assert await tx.has_more_candidates(subject, MINE, parts, count - 1)

    run(store.write(write))
    run(store.read(read))


def test_what_is_written_is_counted_and_the_planner_told(run: Run, store: AnyStore) -> None:
    async def write(tx: Tx) -> None:
        await tx.index(Subject.MESSAGES, MINE, entries(0, "a"))

    async def use() -> None:
        await store.write(write)
        await store.analyse()
        await store.write(write)
        found = await store.read(lambda tx: tx.candidates(Subject.MESSAGES, MINE, Parts(("a",), ()), 100))
        assert found == ids(0)

    run(use())
