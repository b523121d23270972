"""Connections for commands, which notice a pooler such as PgBouncer that would mix up prepared statements."""

import asyncpg

from deskwire.model.errors import Unavailable
from deskwire.store.postgres import CONNECT_TIMEOUT_S

UNFIT = (
    "a pooler stands before PostgreSQL that lends its connections for single transactions and mixes up "
    "prepared statements: of PgBouncer take version 1.21 or newer with max_prepared_statements = 512, or "
    "pool_mode = session"
)
# So many that two clients of one pool meet, even where others use it too.
ROUNDS = 4
MIXED_UP = (asyncpg.DuplicatePreparedStatementError, asyncpg.InvalidSQLStatementNameError)


async def connect(url: str) -> asyncpg.Connection:
    connection = await asyncpg.connect(url, timeout=CONNECT_TIMEOUT_S)
    try:
        await refuse_unfit_pooler(connection, url)
    except BaseException:
        connection.terminate()
        raise
    return connection


async def refuse_unfit_pooler(connection: asyncpg.Connection, url: str) -> None:
    try:
        if await is_unfit(connection, url):
            raise Unavailable(UNFIT)
    except MIXED_UP as error:
        raise Unavailable(UNFIT) from error


async def is_unfit(connection: asyncpg.Connection, url: str) -> bool:
    # A pooler names itself as the process to be asked to cancel a statement.
    if connection.get_server_pid() == await server_process(connection):
        return False
    return not await are_statements_renamed(connection) and await are_processes_shared(connection, url)


async def server_process(connection: asyncpg.Connection) -> int:
    async with connection.transaction():
        return int(await connection.fetchval("SELECT pg_backend_pid()"))


async def are_statements_renamed(connection: asyncpg.Connection) -> bool:
    """As they are by a pooler that remembers who has prepared what, and prepares it again where it is not."""
    async with connection.transaction():
        statement = await connection.prepare("SELECT 1")
        name = statement.get_name()
        known = "SELECT EXISTS (SELECT FROM pg_prepared_statements WHERE name = $1)"
        return not await connection.fetchval(known, name)


async def are_processes_shared(connection: asyncpg.Connection, url: str) -> bool:
    """Whether a transaction may be in another process than the last one, or in that of another client."""
    other = await asyncpg.connect(url, timeout=CONNECT_TIMEOUT_S, command_timeout=CONNECT_TIMEOUT_S)
    try:
        pairs = [(await server_process(connection), await server_process(other)) for _ in range(ROUNDS)]
    finally:
        other.terminate()
    return len(set(pairs)) > 1 or pairs[0][0] == pairs[0][1]
