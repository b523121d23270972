"""What an operation sees of a database: a transaction with one fixed now, the same on both engines."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Protocol, TypeVar

from deskwire.model.moments import Moment
from deskwire.model.text import Parts
from deskwire.store.search import Entry, Found, Subject
from deskwire.store.statement import Row, Statement, Value

T = TypeVar("T")


class Tx(Protocol):
    @property
    def now(self) -> Moment: ...

    @property
    def cause(self) -> str | None:
        """What the transaction is for: the id of a request, where it is one."""
        ...

    async def one(self, statement: Statement, **values: Value) -> Row | None: ...

    async def all(self, statement: Statement, **values: Value) -> Sequence[Row]: ...

    async def run(self, statement: Statement, **values: Value) -> None: ...

    async def many(self, statement: Statement, rows: Iterable[Mapping[str, Value]]) -> None:
        """Run a statement once for each row of values."""
        ...

    async def try_lock(self, name: str) -> bool:
        """Takes what has this name until the transaction ends; False, at once, where another one has it."""
        ...

    def count_event(self) -> None:
        """Counts one more event in the store's tally once this is committed."""
        ...

    def ring(self) -> None:
        """Rings the store's bell once this is committed: there is something to deliver."""
        ...

    async def index(self, subject: Subject, workspace_id: str, entries: Sequence[Entry]) -> None:
        """Make these, and only these, terms find each thing named."""
        ...

    async def candidates(
        self, subject: Subject, workspace_id: str, terms: Parts, limit: int
    ) -> Sequence[str]:
        """Ids of what carries all the terms, newest first as far as the index knows."""
        ...

    async def has_more_candidates(self, subject: Subject, workspace_id: str, terms: Parts, most: int) -> bool:
        """Whether more than so many carry all the terms; costs far less than naming them.

        Those of another workspace whose terms begin alike may be counted, too.
        """
        ...

    async def indexed(self, subject: Subject, workspace_id: str, after: str, until: str) -> Sequence[str]:
        """Which ids after one and up to another something finds."""
        ...

    async def term_counts(
        self, subject: Subject, workspace_ids: Sequence[str], prefix: str
    ) -> Mapping[str, int]:
        """How many things each term finds; the workspaces are all whose terms begin with the prefix."""
        ...

    async def found_by(self, subject: Subject, workspace_ids: Sequence[str], term: str) -> Sequence[Found]:
        """What a term finds, of those workspaces."""
        ...


class Bell:
    """Lets one task of this process sleep until another has committed something for it."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        self._rung.set()

    async def wait(self, longest_s: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(longest_s):
                await self._rung.wait()
        self._rung.clear()


class Tally:
    """Where a store tells how many events were accepted with a commit; whoever counts them sets `add`."""

    def __init__(self) -> None:
        self.add: Callable[[int], None] = lambda _: None


class Store(Protocol):
    @property
    def bell(self) -> Bell: ...

    @property
    def tally(self) -> Tally: ...

    async def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        """Each statement sees what is committed when it runs; what must see one moment takes a snapshot."""
        ...

    async def read_aside(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        """A read that may be long: on an embedded database it runs beside the event loop, not in it."""
        ...

    async def write(self, operation: Callable[[Tx], Awaitable[T]], cause: str | None = None) -> T: ...

    def snapshot(self) -> AbstractAsyncContextManager[Tx]:
        """One consistent moment for as long as it is open, whatever is written meanwhile."""
        ...

    async def analyse(self) -> None:
        """Sees to it that what a large import brought is found as fast as all else, once it is committed."""
        ...
