"""The engine for several machines: PostgreSQL through asyncpg with a pool."""

import asyncio
import hashlib
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cached_property
from typing import Final, TypeVar, cast

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from deskwire.model.errors import Unavailable
from deskwire.model.moments import Moment
from deskwire.model.text import Parts
from deskwire.store import postgres_search
from deskwire.store.clock import Clock
from deskwire.store.search import Entry, Found, Subject
from deskwire.store.statement import Row, Statement, Value
from deskwire.store.transaction import Bell, Tally, Tx

T = TypeVar("T")

POOL_CONNECTIONS = 10
CONNECT_TIMEOUT_S = 3.0
ACQUIRE_TIMEOUT_S = 3.0
COMMAND_TIMEOUT_S = 30.0
ANALYSE_TIMEOUT_S = 600.0
# More than the project has, so that each is prepared once.
STATEMENTS = 512
ATTEMPTS = 5
CONFLICT_PAUSE_S = 0.01
# Named, since a server may be set to another one.
ISOLATION: Final = "read_committed"

# The connection is gone; another one may be had.
LOST = (
    ConnectionError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.IdleSessionTimeoutError,
)
AWAY = (
    *LOST,
    OSError,
    asyncio.TimeoutError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.PostgresSystemError,
    asyncpg.InternalServerError,
    asyncpg.LockNotAvailableError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.TransactionTimeoutError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InterfaceError,
)
# The operation is run again from its start: it met another one, or a migration changed what it had prepared.
CONFLICTS = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.InvalidCachedStatementError,
    asyncpg.OutdatedSchemaCacheError,
)


class ConnectionLost(Unavailable):
    """What it was used for last may be tried on another one."""


class PlainConnection(asyncpg.Connection):
    """Nothing changes a session's settings, so returning it to the pool needs no round trip."""

    def get_reset_query(self) -> str:
        return ""

    async def close(self, *, timeout: float | None = None) -> None:  # noqa: ASYNC109 - it is asyncpg's
        """The pool closes what it no longer trusts in a task that nobody awaits."""
        with suppress(OSError):
            await super().close(timeout=timeout)


class PostgresTx:
    def __init__(self, connection: asyncpg.Connection, clock: Clock, cause: str | None = None) -> None:
        self._connection = connection
        self._clock = clock
        self.cause = cause
        self.rings = False
        self.events = 0

    @cached_property
    def now(self) -> Moment:
        """When it is first asked for, which is after the locks: what they waited for was earlier."""
        return self._clock()

    async def one(self, statement: Statement, **values: Value) -> Row | None:
        text = statement.postgres
        return cast(Row | None, await self._connection.fetchrow(text.sql, *text.values(values)))

    async def all(self, statement: Statement, **values: Value) -> Sequence[Row]:
        text = statement.postgres
        return cast(Sequence[Row], await self._connection.fetch(text.sql, *text.values(values)))

    async def run(self, statement: Statement, **values: Value) -> None:
        text = statement.postgres
        await self._connection.execute(text.sql, *text.values(values))

    async def many(self, statement: Statement, rows: Iterable[Mapping[str, Value]]) -> None:
        if statement.bulk is None:
            text = statement.postgres
            await self._connection.executemany(text.sql, [text.values(row) for row in rows])
        elif lists := statement.bulk.lists(rows):
            await self._connection.execute(statement.bulk.sql, *lists)

    async def try_lock(self, name: str) -> bool:
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
        return bool(await self._connection.fetchval("SELECT pg_try_advisory_xact_lock($1)", number))

    def count_event(self) -> None:
        self.events += 1

    def ring(self) -> None:
        self.rings = True

    async def index(self, subject: Subject, workspace_id: str, entries: Sequence[Entry]) -> None:
        await postgres_search.index(self._connection, subject, workspace_id, entries)

    async def candidates(
        self, subject: Subject, workspace_id: str, terms: Parts, limit: int
    ) -> Sequence[str]:
        return await postgres_search.candidates(self._connection, subject, workspace_id, terms, limit)

    async def has_more_candidates(self, subject: Subject, workspace_id: str, terms: Parts, most: int) -> bool:
        return await postgres_search.has_more_candidates(self._connection, subject, workspace_id, terms, most)

    async def indexed(self, subject: Subject, workspace_id: str, after: str, until: str) -> Sequence[str]:
        return await postgres_search.indexed(self._connection, subject, workspace_id, after, until)

    async def term_counts(
        self, subject: Subject, workspace_ids: Sequence[str], prefix: str
    ) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        for workspace_id in workspace_ids:
            counts.update(await postgres_search.term_counts(self._connection, subject, workspace_id))
        return counts

    async def found_by(self, subject: Subject, workspace_ids: Sequence[str], term: str) -> Sequence[Found]:
        return [
            Found(workspace_id, id)
            for workspace_id in workspace_ids
            for id in await postgres_search.found_by(self._connection, subject, workspace_id, term)
        ]


class PostgresStore:
    def __init__(self, pool: asyncpg.Pool, clock: Clock) -> None:
        self.pool = pool
        self.bell = Bell()
        self.tally = Tally()
        self._clock = clock

    async def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        try:
            return await self._read(operation)
        except ConnectionLost:
            # A read leaves nothing behind, so it costs nobody anything to run it once more.
            return await self._read(operation)

    async def read_aside(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        return await self.read(operation)

    async def write(self, operation: Callable[[Tx], Awaitable[T]], cause: str | None = None) -> T:
        attempt = 1
        while True:
            has_begun = False
            try:
                async with self._connection() as connection, connection.transaction(isolation=ISOLATION):
                    has_begun = True
                    tx = PostgresTx(connection, self._clock, cause)
                    outcome = await operation(tx)
                self.tally.add(tx.events)
                if tx.rings:
                    self.bell.ring()
                return outcome
            except ConnectionLost:
                # Before its BEGIN was answered nothing was done; after that, nobody knows.
                if has_begun or attempt == ATTEMPTS:
                    raise
            except CONFLICTS as error:
                if attempt == ATTEMPTS:
                    raise Unavailable(f"too many writes met each other: {error}") from error
                await asyncio.sleep(random.uniform(0, CONFLICT_PAUSE_S * attempt))
            attempt += 1

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Tx]:
        async with (
            self._connection() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            # BEGIN alone does not yet settle which moment it is.
            await connection.execute("SELECT 1")
            yield PostgresTx(connection, self._clock)

    async def analyse(self) -> None:
        async with self._connection() as connection:
            await connection.execute("ANALYZE", timeout=ANALYSE_TIMEOUT_S)

    async def close(self) -> None:
        try:
            await asyncio.wait_for(self.pool.close(), CONNECT_TIMEOUT_S)
        except AWAY:
            self.pool.terminate()

    async def _read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        async with self._connection() as connection:
            return await operation(PostgresTx(connection, self._clock))

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[asyncpg.Connection]:
        proxy = await self._acquire()
        connection = cast(asyncpg.Connection, proxy)
        try:
            try:
                yield connection
            except LOST:
                # It may not have heard of its end, and would be given to the next one.
                if not has_closed(connection):
                    connection.terminate()
                raise
            finally:
                is_closed = has_closed(connection)
                await self.pool.release(proxy, timeout=CONNECT_TIMEOUT_S)
        except LOST as error:
            raise await self._lost(error) from error
        except (asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
            # It is raised for a connection that was closed, and for mistakes of ours.
            if not is_closed:
                raise
            raise await self._lost(error) from error
        except AWAY as error:
            raise Unavailable(in_words(error)) from error

    async def _lost(self, error: Exception) -> ConnectionLost:
        """What ended one connection has mostly ended them all, whether or not they know it yet."""
        await self.pool.expire_connections()
        return ConnectionLost(in_words(error))

    async def _acquire(self) -> PoolConnectionProxy:
        try:
            return await self.pool.acquire(timeout=ACQUIRE_TIMEOUT_S)
        except (*AWAY, asyncpg.PostgresError) as error:
            raise Unavailable(in_words(error)) from error


async def open_postgres(url: str, clock: Clock, connections: int = POOL_CONNECTIONS) -> PostgresStore:
    try:
        pool = await asyncpg.create_pool(
            url,
            min_size=1,
            max_size=connections,
            timeout=CONNECT_TIMEOUT_S,
            command_timeout=COMMAND_TIMEOUT_S,
            statement_cache_size=STATEMENTS,
            connection_class=PlainConnection,
            init=prepare,
        )
    except (*AWAY, asyncpg.PostgresError, ValueError) as error:
        raise Unavailable(f"PostgreSQL cannot be reached: {reason(error)}") from error
    return PostgresStore(pool, clock)


async def prepare(connection: asyncpg.Connection) -> None:
    """Ids travel as the text that they are everywhere else; statements here are too short to be compiled."""
    await connection.execute("SET jit = off")
    await connection.set_type_codec("uuid", schema="pg_catalog", encoder=str, decoder=str, format="text")


def has_closed(connection: asyncpg.Connection) -> bool:
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:
        # The pool has taken it back already, which it does with what was closed.
        return True


def in_words(error: Exception) -> str:
    return f"PostgreSQL cannot be used: {reason(error)}"


def reason(error: Exception) -> str:
    """In one line; a timeout has no words of its own."""
    return " ".join(str(error).split()) or type(error).__name__
