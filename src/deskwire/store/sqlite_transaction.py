"""A transaction on SQLite, and running an operation through it in one go."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

import apsw

from deskwire.model.moments import Moment
from deskwire.model.text import Parts
from deskwire.store import sqlite_search
from deskwire.store.schema import has_schema
from deskwire.store.search import Entry, Found, Subject
from deskwire.store.sqlite_file import NotOurs
from deskwire.store.statement import Row, Statement, Value
from deskwire.store.transaction import Tx

T = TypeVar("T")

# So few may wait for the end of their group; what brings more is a group of its own.
FEW_ENTRIES = 10


class SqliteTx:
    """A transaction whose methods never suspend, so an operation runs from start to end in one go."""

    def __init__(
        self,
        connection: apsw.Connection,
        now: Moment,
        later: sqlite_search.Later | None = None,
        cause: str | None = None,
    ) -> None:
        self._connection = connection
        self.now = now
        self._later = later
        self.cause = cause
        self.events = 0

    async def one(self, statement: Statement, **values: Value) -> Row | None:
        text = statement.sqlite
        for row in self._connection.execute(text.sql, text.values(values)):
            return cast(Row, row)
        return None

    async def all(self, statement: Statement, **values: Value) -> Sequence[Row]:
        text = statement.sqlite
        return cast(Sequence[Row], self._connection.execute(text.sql, text.values(values)).fetchall())

    async def run(self, statement: Statement, **values: Value) -> None:
        text = statement.sqlite
        self._connection.execute(text.sql, text.values(values))

    async def many(self, statement: Statement, rows: Iterable[Mapping[str, Value]]) -> None:
        text = statement.sqlite
        self._connection.executemany(text.sql, [text.values(row) for row in rows])

    async def try_lock(self, name: str) -> bool:
        """Operations run one after another, so nobody else can be at it."""
        return True

    def count_event(self) -> None:
        self.events += 1

    def ring(self) -> None:
        if self._later is not None:
            self._later.rings = True

    async def index(self, subject: Subject, workspace_id: str, entries: Sequence[Entry]) -> None:
        if self._later is not None and len(entries) <= FEW_ENTRIES:
            self._later.add(subject, workspace_id, entries)
        else:
            sqlite_search.index(self._connection, subject, workspace_id, entries)

    async def candidates(
        self, subject: Subject, workspace_id: str, terms: Parts, limit: int
    ) -> Sequence[str]:
        return sqlite_search.candidates(self._connection, subject, workspace_id, terms, limit)

    async def has_more_candidates(self, subject: Subject, workspace_id: str, terms: Parts, most: int) -> bool:
        return sqlite_search.has_more_candidates(self._connection, subject, terms, most)

    async def indexed(self, subject: Subject, workspace_id: str, after: str, until: str) -> Sequence[str]:
        return sqlite_search.indexed(self._connection, subject, workspace_id, after, until)

    async def term_counts(
        self, subject: Subject, workspace_ids: Sequence[str], prefix: str
    ) -> Mapping[str, int]:
        return sqlite_search.term_counts(self._connection, subject, prefix)

    async def found_by(self, subject: Subject, workspace_ids: Sequence[str], term: str) -> Sequence[Found]:
        return sqlite_search.found_by(self._connection, subject, term)

    async def merge(self, subject: Subject) -> bool:
        return sqlite_search.merge(self._connection, subject)


def perform(
    connection: apsw.Connection,
    operation: Callable[[Tx], Awaitable[T]],
    now: Moment,
    later: sqlite_search.Later | None = None,
    cause: str | None = None,
) -> T:
    try:
        tx = SqliteTx(connection, now, later, cause)
        outcome = run_through(operation(tx))
    except apsw.SQLError as error:
        # A statement of ours is refused: perhaps another database was written over this one.
        if has_schema(connection):
            raise
        raise NotOurs("it is no longer a database of Deskwire") from error
    if later is not None:
        later.events += tx.events
    return outcome


def run_through(awaitable: Awaitable[T]) -> T:
    """Run an operation whose statements never suspend from its start to its end."""
    operation = cast(Coroutine[Any, Any, T], awaitable)
    try:
        operation.send(None)
    except StopIteration as end:
        return cast(T, end.value)
    operation.close()
    raise RuntimeError("an operation waited for something else than its transaction")
