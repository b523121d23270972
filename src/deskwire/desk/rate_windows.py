"""Counting the requests of a token in the database, part by part, for all processes together."""

from typing import NamedTuple, cast

from sqlalchemy import BigInteger, bindparam, case
from sqlalchemy.dialects.postgresql import insert

from deskwire.model.limits import RATE_WINDOW_US
from deskwire.model.tokens import Token
from deskwire.store.statement import Statement
from deskwire.store.tables import RATE_WINDOWS
from deskwire.store.transaction import Tx

NOW = bindparam("now", type_=BigInteger())
PART = bindparam("part", type_=BigInteger())
IS_OVER = RATE_WINDOWS.c.started_at <= bindparam("over_at", type_=BigInteger())
TAKE = Statement(
    insert(RATE_WINDOWS)
    .values(
        workspace_id=bindparam("workspace_id"), token_id=bindparam("token_id"), started_at=NOW, taken=PART
    )
    .on_conflict_do_update(
        index_elements=["workspace_id", "token_id"],
        set_={
            "started_at": case((IS_OVER, NOW), else_=RATE_WINDOWS.c.started_at),
            "taken": case((IS_OVER, PART), else_=RATE_WINDOWS.c.taken + PART),
        },
    )
    .returning(RATE_WINDOWS.c.started_at, RATE_WINDOWS.c.taken)
)


class Part(NamedTuple):
    """A part of what a token may ask in a window: how much it is, and what all have taken with it."""

    started_at: int
    granted: int
    taken: int


async def take_part(tx: Tx, token: Token, limit: int, part: int) -> Part:
    """A window begins with the first request after the last one; nothing is granted beyond the limit."""
    row = await tx.one(
        TAKE,
        workspace_id=token.workspace_id,
        token_id=token.id,
        now=tx.now,
        part=part,
        over_at=tx.now - RATE_WINDOW_US,
    )
    assert row is not None
    started_at, taken = cast(int, row[0]), cast(int, row[1])
    granted = max(0, min(part, limit - (taken - part)))
    return Part(started_at, granted, min(taken, limit))
