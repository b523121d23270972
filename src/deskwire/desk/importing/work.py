"""What every step of an import has at hand, and how a step takes the lines of its kind."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from deskwire.desk.importing.cutting import Cutter
from deskwire.desk.importing.report import BadLines
from deskwire.model.lines import unpack
from deskwire.store.kinds import Kind, R
from deskwire.store.records import row_of
from deskwire.store.search import Entry, Subject
from deskwire.store.spool import Spool, SpooledLine
from deskwire.store.statement import Value
from deskwire.store.transaction import Tx
from deskwire.store.whole import existing

L = TypeVar("L")


class Numbered(NamedTuple, Generic[L]):
    """What a line says, and where it stands in the file."""

    number: int
    record: L


class Reference(NamedTuple, Generic[L]):
    """A field that names records of a kind, which must be there."""

    field: str
    kind: Kind[Any]
    ids: Callable[[L], Iterable[str | None]]


class TooManyBadLines(Exception):
    """More bad lines were found than are shown, so looking for others helps nobody."""


class Work:
    """One import under way in its transaction."""

    def __init__(
        self,
        tx: Tx,
        workspace_id: str,
        spool: Spool,
        cutter: Cutter,
        bad: BadLines,
        advance: Callable[[int], None],
    ) -> None:
        self.tx = tx
        self._cutter = cutter
        self.workspace_id = workspace_id
        self.spool = spool
        self.bad = BadLines(bad)
        self._advance = advance

    def batches(self, struct: type[L], kind: str) -> Iterator[list[Numbered[L]]]:
        for lines in self.spool.batches(kind):
            yield unpacked(struct, lines)
            self._advance(size_of(lines))

    def searchable(self, struct: type[R], kind: str) -> Iterator[tuple[list[Numbered[R]], dict[str, str]]]:
        """The batches of a kind that can be searched, each with the terms of its records, by their ids."""
        for lines, terms in self._cutter.each(struct, self.spool.batches(kind)):
            batch = unpacked(struct, lines)
            yield batch, {line.record.id: found for line, found in zip(batch, terms, strict=True)}
            self._advance(size_of(lines))

    async def index(self, subject: Subject, records: Sequence[R], terms: Mapping[str, str]) -> None:
        entries = [Entry(one.id, one.created_at, terms[one.id]) for one in records]
        await self.tx.index(subject, self.workspace_id, entries)

    def refuse(self, number: int, reason: str, *ids: str) -> None:
        self.bad.add(number, reason)
        self.spool.suspects.add(ids)
        if self.bad.more:
            raise TooManyBadLines

    async def put_all(self, kind: Kind[R], records: Sequence[R], **beside: Sequence[Value]) -> None:
        """Writes the records; `beside` has a value for each of them."""
        there = await existing(self.tx, kind, self.workspace_id, [record.id for record in records])
        new: list[Mapping[str, Value]] = []
        known: list[Mapping[str, Value]] = []
        for place, record in enumerate(records):
            row = row_of(kind, self.workspace_id, record)
            row |= {name: values[place] for name, values in beside.items()}
            (known if record.id in there else new).append(row)
        await self.tx.many(kind.insert, new)
        await self.tx.many(kind.upsert, known)

    async def without_dangling(
        self, batch: list[Numbered[R]], *references: Reference[R]
    ) -> list[Numbered[R]]:
        """Those lines of a batch whose references lead somewhere; the others are bad."""
        for reference in references:
            batch = await self._leading_somewhere(batch, reference)
        return batch

    async def _leading_somewhere(
        self, batch: list[Numbered[R]], reference: Reference[R]
    ) -> list[Numbered[R]]:
        named = {id for line in batch for id in reference.ids(line.record) if id is not None}
        missing = named - await existing(self.tx, reference.kind, self.workspace_id, list(named))
        if not missing:
            return batch
        suspects = self.spool.suspects.among(list(missing))
        sound: list[Numbered[R]] = []
        for line in batch:
            dangling = [id for id in reference.ids(line.record) if id in missing]
            if not dangling:
                sound.append(line)
                continue
            # A record whose own line is bad was reported there.
            self.spool.suspects.add([line.record.id])
            unknown = next((id for id in dangling if id not in suspects), None)
            if unknown is not None:
                self.refuse(line.number, f"{reference.field}: there is no {reference.kind.noun} {unknown}")
        return sound


def unpacked(struct: type[L], lines: Sequence[SpooledLine]) -> list[Numbered[L]]:
    return [Numbered(number, unpack(struct, packed)) for number, packed in lines]


def size_of(lines: Sequence[SpooledLine]) -> int:
    return sum(len(packed) for _, packed in lines)


def records(batch: Sequence[Numbered[L]]) -> list[L]:
    return [line.record for line in batch]
