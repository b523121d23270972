"""The engine for several machines: PostgreSQL through asyncpg with a pool."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar, cast

import asyncpg

from deskwire.model.errors import Unavailable
from deskwire.model.moments import Moment
from deskwire.model.text import Parts
from deskwire.store import postgres_search
from deskwire.store.clock import Clock
from deskwire.store.search import Entry, Subject
from deskwire.store.statement import Row, Statement, Value
from deskwire.store.transaction import Tx

T = TypeVar("T")

POOL_CONNECTIONS = 10
CONNECT_TIMEOUT_S = 3.0
ACQUIRE_TIMEOUT_S = 3.0
COMMAND_TIMEOUT_S = 30.0
ATTEMPTS = 5

AWAY = (
    OSError,
    asyncio.TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InsufficientResourcesError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.InternalServerError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InterfaceError,
)
CONFLICTS = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError)


class PlainConnection(asyncpg.Connection):
    """Nothing changes a session's settings, so returning it to the pool needs no round trip."""

    def get_reset_query(self) -> str:
        return ""


class PostgresTx:
    def __init__(self, connection: asyncpg.Connection, now: Moment) -> None:
        self._connection = connection
        self.now = now

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
        text = statement.postgres
        await self._connection.executemany(text.sql, [text.values(row) for row in rows])

    async def index(self, subject: Subject, workspace_id: str, entries: Sequence[Entry]) -> None:
        await postgres_search.index(self._connection, subject, workspace_id, entries)

    async def candidates(
        self, subject: Subject, workspace_id: str, terms: Parts, limit: int
    ) -> Sequence[str]:
        return await postgres_search.candidates(self._connection, subject, workspace_id, terms, limit)

    async def indexed(self, subject: Subject, workspace_id: str, after: str, until: str) -> Sequence[str]:
        return await postgres_search.indexed(self._connection, subject, workspace_id, after, until)


class PostgresStore:
    def __init__(self, pool: asyncpg.Pool, clock: Clock) -> None:
        self.pool = pool
        self._clock = clock

    async def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        async with self._connection() as connection:
            return await operation(PostgresTx(connection, self._clock()))

    async def read_aside(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        return await self.read(operation)

    async def write(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                async with self._connection() as connection, connection.transaction():
                    return await operation(PostgresTx(connection, self._clock()))
            except CONFLICTS as error:
                if attempt == ATTEMPTS:
                    raise Unavailable(f"too many writes met each other: {error}") from error
        raise AssertionError("the last attempt returns or raises")

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Tx]:
        async with (
            self._connection() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            yield PostgresTx(connection, self._clock())

    async def close(self) -> None:
        try:
            await asyncio.wait_for(self.pool.close(), CONNECT_TIMEOUT_S)
        except AWAY:
            self.pool.terminate()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[asyncpg.Connection]:
        try:
            async with self.pool.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection:
                yield cast(asyncpg.Connection, connection)
        except AWAY as error:
            raise Unavailable(f"PostgreSQL cannot be used: {error or type(error).__name__}") from error


async def open_postgres(url: str, clock: Clock, connections: int = POOL_CONNECTIONS) -> PostgresStore:
    try:
        pool = await asyncpg.create_pool(
            url,
            min_size=1,
            max_size=connections,
            timeout=CONNECT_TIMEOUT_S,
            command_timeout=COMMAND_TIMEOUT_S,
            connection_class=PlainConnection,
            init=prepare,
        )
    except (*AWAY, asyncpg.PostgresError, ValueError) as error:
        raise Unavailable(f"PostgreSQL cannot be reached: {error or type(error).__name__}") from error
    return PostgresStore(pool, clock)


async def prepare(connection: asyncpg.Connection) -> None:
    """Ids travel as the text that they are everywhere else; statements here are too short to be compiled."""
    await connection.execute("SET jit = off")
    await connection.set_type_codec("uuid", schema="pg_catalog", encoder=str, decoder=str, format="text")
