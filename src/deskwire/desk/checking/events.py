"""Events: each is of a known kind, and its body says the same as its row."""

from collections.abc import AsyncIterator, Iterator
from typing import get_args

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import bindparam, select

from deskwire.desk.checking.differences import difference
from deskwire.model.channels import Channel
from deskwire.model.events import (
    ChannelEventData,
    ContactEventData,
    EventData,
    EventKind,
    MessageEventData,
)
from deskwire.model.limits import RECORD_BATCH
from deskwire.model.moments import Moment, decode_moment
from deskwire.model.people import Member
from deskwire.store.statement import Row, Statement
from deskwire.store.tables import EVENTS
from deskwire.store.transaction import Tx
from deskwire.store.whole import START

NEXT_EVENTS = Statement(
    select(EVENTS.c.id, EVENTS.c.kind, EVENTS.c.subject_id, EVENTS.c.accepted_at, EVENTS.c.body)
    .where(EVENTS.c.workspace_id == bindparam("workspace_id"), EVENTS.c.id > bindparam("after"))
    .order_by(EVENTS.c.id)
    .limit(bindparam("limit"))
)
DATA: dict[str, type[EventData]] = {
    "message": MessageEventData,
    "channel": ChannelEventData,
    "contact": ContactEventData,
}


class Body(msgspec.Struct, kw_only=True):
    """A body whose data is still to be read: which type it has follows from its kind."""

    kind: EventKind
    workspace_id: str
    timestamp: Moment
    data: msgspec.Raw
    channel: Channel | UnsetType = UNSET
    assigned_member: Member | None = None


async def check_events(tx: Tx, workspace_id: str) -> AsyncIterator[str]:
    after = START
    while rows := await tx.all(NEXT_EVENTS, workspace_id=workspace_id, after=after, limit=RECORD_BATCH):
        for row in rows:
            for line in event_differences(workspace_id, row):
                yield line
        after = str(rows[-1][0])


def event_differences(workspace_id: str, row: Row) -> Iterator[str]:
    *named, accepted_at, raw = row
    id, kind, subject_id = map(str, named)
    if kind not in get_args(EventKind):
        yield f"events {id}: kind is {kind!r} and should be one of {', '.join(get_args(EventKind))}"
        return
    if not isinstance(raw, bytes):
        yield f"events {id}: body cannot be read (it is no bytes)"
        return
    try:
        body = msgspec.json.decode(raw, type=Body, dec_hook=decode_moment)
        data = msgspec.json.decode(body.data, type=DATA[kind.partition(".")[0]], dec_hook=decode_moment)
    except msgspec.MsgspecError as problem:
        yield f"events {id}: body cannot be read ({problem})"
        return
    for column, kept, right in (
        ("kind", kind, body.kind),
        ("subject_id", subject_id, subject_of(body, data)),
        ("accepted_at", accepted_at, body.timestamp),
        ("workspace_id", workspace_id, body.workspace_id),
    ):
        yield from difference("events", id, column, kept, right)


def subject_of(body: Body, data: EventData) -> str | None:
    match data:
        case MessageEventData(message_id=id):
            return id
        case ContactEventData(contact_id=id):
            return id
        case _:
            return body.channel.id if body.channel else None
