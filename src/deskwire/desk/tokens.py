"""Issuing, finding, rotating and revoking access tokens."""

from typing import NamedTuple, cast

from sqlalchemy import and_, bindparam, insert, or_, select, update

from deskwire.desk.identity import new_id, new_token
from deskwire.desk.reading import find_workspace
from deskwire.model.errors import DeskError
from deskwire.model.moments import Moment
from deskwire.model.scopes import granted
from deskwire.model.tokens import Token, token_hash, visible_prefix
from deskwire.store.statement import Row, Statement
from deskwire.store.tables import TOKENS
from deskwire.store.transaction import Tx

COLUMNS = (
    TOKENS.c.id,
    TOKENS.c.workspace_id,
    TOKENS.c.name,
    TOKENS.c.prefix,
    TOKENS.c.scopes,
    TOKENS.c.created_at,
    TOKENS.c.expires_at,
    TOKENS.c.revoked_at,
)
BY_HASH = Statement(select(*COLUMNS).where(TOKENS.c.hash == bindparam("hash")))
BY_ID = Statement(select(*COLUMNS).where(TOKENS.c.id == bindparam("id")))
LIST = Statement(
    select(*COLUMNS)
    .where(
        or_(
            TOKENS.c.workspace_id == bindparam("workspace_id"),
            bindparam("everywhere", type_=TOKENS.c.name.type) == "yes",
        )
    )
    .order_by(TOKENS.c.created_at.desc(), TOKENS.c.id.desc())
)
INSERT = Statement(insert(TOKENS))
ROTATE = Statement(
    update(TOKENS)
    .where(and_(TOKENS.c.id == bindparam("token_id")))
    .values(hash=bindparam("hash"), prefix=bindparam("prefix"))
)
REVOKE = Statement(
    update(TOKENS)
    .where(and_(TOKENS.c.id == bindparam("token_id"), TOKENS.c.revoked_at.is_(None)))
    .values(revoked_at=bindparam("revoked_at"))
)


class NewToken(NamedTuple):
    """A token and its secret, which is known only now."""

    token: Token
    secret: str


async def create_token(
    tx: Tx, workspace_id: str, name: str, scopes: list[str], lifetime_us: int | None
) -> NewToken:
    await find_workspace(tx, workspace_id)
    secret = new_token()
    token = Token(
        id=new_id(),
        workspace_id=workspace_id,
        name=name,
        prefix=visible_prefix(secret),
        scopes=frozenset(granted(scopes)),
        created_at=tx.now,
        expires_at=None if lifetime_us is None else Moment(tx.now + lifetime_us),
    )
    await tx.run(
        INSERT,
        id=token.id,
        hash=token_hash(secret),
        workspace_id=workspace_id,
        name=name,
        prefix=token.prefix,
        scopes=" ".join(granted(scopes)),
        created_at=token.created_at,
        expires_at=token.expires_at,
        revoked_at=None,
    )
    return NewToken(token, secret)


async def find_by_hash(tx: Tx, hash: bytes) -> Token | None:
    row = await tx.one(BY_HASH, hash=hash)
    return None if row is None else token_of(row)


async def list_tokens(tx: Tx, workspace_id: str | None) -> list[Token]:
    """Those of a workspace, or of all of them."""
    if workspace_id is not None:
        await find_workspace(tx, workspace_id)
    everywhere = "yes" if workspace_id is None else "no"
    return [token_of(row) for row in await tx.all(LIST, workspace_id=workspace_id, everywhere=everywhere)]


async def rotate_token(tx: Tx, token_id: str) -> NewToken:
    """A new secret, which ends the old one in the same instant."""
    token = await load(tx, token_id)
    state = token.state(tx.now)
    if state != "active":
        raise DeskError("CONFLICT", f"The token is {state}, and a new secret would not change that.")
    secret = new_token()
    prefix = visible_prefix(secret)
    await tx.run(ROTATE, token_id=token_id, hash=token_hash(secret), prefix=prefix)
    return NewToken(await load(tx, token_id), secret)


async def revoke_token(tx: Tx, token_id: str) -> Token:
    await load(tx, token_id)
    await tx.run(REVOKE, token_id=token_id, revoked_at=tx.now)
    return await load(tx, token_id)


async def load(tx: Tx, token_id: str) -> Token:
    row = await tx.one(BY_ID, id=token_id)
    if row is None:
        raise DeskError("NOT_FOUND", "There is no such token.")
    return token_of(row)


def token_of(row: Row) -> Token:
    id, workspace_id, name, prefix, scopes, created_at, expires_at, revoked_at = row
    return Token(
        id=str(id),
        workspace_id=str(workspace_id),
        name=str(name),
        prefix=str(prefix),
        scopes=frozenset(str(scopes).split()),
        created_at=Moment(cast(int, created_at)),
        expires_at=None if expires_at is None else Moment(cast(int, expires_at)),
        revoked_at=None if revoked_at is None else Moment(cast(int, revoked_at)),
    )
