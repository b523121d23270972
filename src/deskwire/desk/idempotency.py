"""Making something once, however often it is asked for under the same key."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import NamedTuple, cast

from sqlalchemy import bindparam, delete, select, tuple_

from deskwire.desk.sealing import Seal, WrongSeal
from deskwire.model.errors import DeskError
from deskwire.model.limits import IDEMPOTENT_ANSWER_LIFETIME_US, IDEMPOTENT_ANSWERS_TRIMMED
from deskwire.model.tokens import Token
from deskwire.store.statement import Statement, upsert
from deskwire.store.tables import IDEMPOTENT_ANSWERS
from deskwire.store.transaction import Tx

ANSWERS = IDEMPOTENT_ANSWERS.c
FIND = Statement(
    select(ANSWERS.request_hash, ANSWERS.answer, ANSWERS.created_at).where(
        ANSWERS.workspace_id == bindparam("workspace_id"),
        ANSWERS.token_id == bindparam("token_id"),
        ANSWERS.route == bindparam("route"),
        ANSWERS.key == bindparam("key"),
    )
)
PUT = upsert(IDEMPOTENT_ANSWERS)
KEY = (ANSWERS.token_id, ANSWERS.route, ANSWERS.key)
# Materialized, the choice is made once; PostgreSQL may otherwise make it anew, and remove more than that.
CHOSEN = (
    select(*KEY)
    .where(ANSWERS.workspace_id == bindparam("workspace_id"), ANSWERS.created_at <= bindparam("expired_at"))
    .order_by(ANSWERS.created_at)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
    .cte("chosen")
    .prefix_with("MATERIALIZED")
)
TRIM = Statement(
    delete(IDEMPOTENT_ANSWERS)
    .where(ANSWERS.workspace_id == bindparam("workspace_id"), tuple_(*KEY).in_(select(*CHOSEN.c)))
    .returning(ANSWERS.key)
)


class Attempt(NamedTuple):
    """A request under a key: which operation it asks for, and the body with which it does."""

    route: str
    key: str
    body: bytes


async def do_once(
    tx: Tx, token: Token, seal: Seal, attempt: Attempt, operation: Callable[[], Awaitable[bytes]]
) -> bytes:
    """The document of the first answer; it is kept in the transaction of what it tells of.

    What fails is rolled back with all that it wrote, and so is not remembered. An answer may show a secret,
    so it is sealed.
    """
    mine = {
        "workspace_id": token.workspace_id,
        "token_id": token.id,
        "route": attempt.route,
        "key": attempt.key,
    }
    owner = " ".join(("idempotency", *mine.values()))
    if not await tx.try_lock(owner):
        raise under_way()
    request_hash = hashlib.sha256(attempt.body).digest()
    expired_at = tx.now - IDEMPOTENT_ANSWER_LIFETIME_US
    kept = await tx.one(FIND, **mine)
    if kept is not None and cast(int, kept[2]) > expired_at:
        if kept[0] != request_hash:
            raise DeskError(
                "IDEMPOTENCY_MISMATCH", "This Idempotency-Key was used before, with another body."
            )
        return first_answer(seal, cast(bytes, kept[1]), owner)
    answer = await operation()
    await tx.run(PUT, **mine, request_hash=request_hash, answer=seal.seal(answer, owner), created_at=tx.now)
    await trim_answers(tx, token.workspace_id, IDEMPOTENT_ANSWERS_TRIMMED)
    return answer


def first_answer(seal: Seal, sealed: bytes, owner: str) -> bytes:
    try:
        return seal.open(sealed, owner)
    except WrongSeal:
        # Making it a second time is what the key is there to prevent.
        raise DeskError(
            "CONFLICT",
            "This Idempotency-Key was used before. Its answer cannot be given again, because the instance's "
            "secret key has changed; what it made is there.",
        ) from None


def under_way() -> DeskError:
    return DeskError(
        "CONFLICT", "The first request with this Idempotency-Key is still under way.", retry_after_s=1
    )


async def trim_answers(tx: Tx, workspace_id: str, limit: int) -> int:
    """Removes so many of those that have expired; answers how many it were."""
    expired_at = tx.now - IDEMPOTENT_ANSWER_LIFETIME_US
    return len(await tx.all(TRIM, workspace_id=workspace_id, expired_at=expired_at, limit=limit))
