"""The audit log: what was done through the API to a channel's tags, by whom and with which token."""

from collections.abc import Sequence
from typing import Literal, cast

import msgspec
from sqlalchemy import bindparam, insert, select, tuple_

from deskwire.desk.identity import new_id
from deskwire.desk.reading import find_workspace
from deskwire.model.limits import AUDITED_TAGS
from deskwire.model.moments import Moment
from deskwire.store.records import FIRST
from deskwire.store.statement import Row, Statement
from deskwire.store.tables import AUDIT_ENTRIES
from deskwire.store.transaction import Tx

Action = Literal["conversation tag add (API)", "conversation tag remove (API)"]

INSERT = Statement(insert(AUDIT_ENTRIES))
LIST = Statement(
    select(
        AUDIT_ENTRIES.c.id,
        AUDIT_ENTRIES.c.action,
        AUDIT_ENTRIES.c.channel_id,
        AUDIT_ENTRIES.c.actor_member_id,
        AUDIT_ENTRIES.c.token_id,
        AUDIT_ENTRIES.c.details,
        AUDIT_ENTRIES.c.created_at,
    )
    .where(
        AUDIT_ENTRIES.c.workspace_id == bindparam("workspace_id"),
        tuple_(AUDIT_ENTRIES.c.created_at, AUDIT_ENTRIES.c.id)
        < tuple_(bindparam("created_at"), bindparam("id")),
    )
    .order_by(AUDIT_ENTRIES.c.created_at.desc(), AUDIT_ENTRIES.c.id.desc())
    .limit(bindparam("limit"))
)


class Tags(msgspec.Struct, omit_defaults=True):
    """A list of tags, cut where it is very long, with how many were left out."""

    names: list[str]
    omitted: int = 0


class TagChange(msgspec.Struct):
    requested: Tags
    resulting: Tags


class AuditEntry(msgspec.Struct):
    id: str
    action: str
    channel_id: str
    actor_member_id: str
    token_id: str
    details: TagChange
    created_at: Moment


async def list_entries(tx: Tx, workspace_id: str, limit: int) -> list[AuditEntry]:
    """The newest ones, newest first."""
    await find_workspace(tx, workspace_id)
    rows = await tx.all(
        LIST, workspace_id=workspace_id, created_at=FIRST.created_at, id=FIRST.id, limit=limit
    )
    return [entry_of(row) for row in rows]


async def record(
    tx: Tx,
    workspace_id: str,
    action: Action,
    channel_id: str,
    actor_member_id: str,
    token_id: str,
    requested: Sequence[str],
    resulting: Sequence[str],
) -> None:
    details = TagChange(sampled(requested), sampled(resulting))
    await tx.run(
        INSERT,
        workspace_id=workspace_id,
        id=new_id(),
        action=action,
        channel_id=channel_id,
        actor_member_id=actor_member_id,
        token_id=token_id,
        details=msgspec.json.encode(details),
        created_at=tx.now,
    )


def entry_of(row: Row) -> AuditEntry:
    id, action, channel_id, actor_member_id, token_id, details, created_at = row
    assert isinstance(details, bytes)
    return AuditEntry(
        str(id),
        str(action),
        str(channel_id),
        str(actor_member_id),
        str(token_id),
        msgspec.json.decode(details, type=TagChange),
        Moment(cast(int, created_at)),
    )


def sampled(names: Sequence[str]) -> Tags:
    return Tags(list(names[:AUDITED_TAGS]), max(0, len(names) - AUDITED_TAGS))
