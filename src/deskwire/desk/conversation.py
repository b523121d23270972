"""A channel about to be changed: found, locked until the change is done, and put back."""

from typing import NamedTuple, cast

import msgspec
from sqlalchemy import and_, bindparam, select, update

from deskwire.desk.acting import find_actor
from deskwire.desk.outbox import InChannel, emit
from deskwire.model.channels import ChannelRecord
from deskwire.model.errors import not_found
from deskwire.model.events import ChannelEventData, EventKind
from deskwire.store import kinds
from deskwire.store.records import find_document, from_row, row_of
from deskwire.store.statement import Statement
from deskwire.store.tables import CHANNELS
from deskwire.store.transaction import Tx

MINE = and_(CHANNELS.c.workspace_id == bindparam("workspace_id"), CHANNELS.c.id == bindparam("channel_id"))
LOCK = Statement(
    select(
        *(CHANNELS.c[name] for name in kinds.CHANNELS.columns),
        CHANNELS.c.version,
        CHANNELS.c.last_seq,
        CHANNELS.c.document,
    )
    .where(MINE, CHANNELS.c.visible)
    .with_for_update()
)
# What no index holds, so that none is written for it.
CHANGED = (
    "status",
    "assigned_member_id",
    "assigned_type",
    "last_message_at",
    "snoozed_until",
    "message_count",
    "last_seq",
    "version",
    "updated_at",
    "document",
)
PUT_BACK = Statement(update(CHANNELS).where(MINE).values({name: bindparam(name) for name in CHANGED}))


class Conversation(NamedTuple):
    """A channel with its version, the number of its last message, and its document, all as they are kept."""

    workspace_id: str
    channel: ChannelRecord
    version: int
    last_seq: int
    document: bytes


class Kept(NamedTuple):
    """What a channel is after a change."""

    version: int
    document: bytes


class Tagged(msgspec.Struct):
    """What of a channel's document only other tables keep."""

    tags: list[str]


TAGGED = msgspec.json.Decoder(Tagged)


async def lock_conversation(tx: Tx, workspace_id: str, channel_id: str) -> Conversation:
    row = await tx.one(LOCK, workspace_id=workspace_id, channel_id=channel_id)
    if row is None:
        raise not_found("channel")
    *columns, version, last_seq, document = row
    assert isinstance(document, bytes)
    # The document is of the moment of the lock; a second statement would be one more round trip.
    channel = from_row(kinds.CHANNELS, tuple(columns), tags=TAGGED.decode(document).tags)
    return Conversation(workspace_id, channel, cast(int, version), cast(int, last_seq), document)


async def keep(tx: Tx, conversation: Conversation) -> Kept:
    """Puts the changed channel back, as its next version."""
    conversation.channel.updated_at = tx.now
    return await put_back(tx, conversation, conversation.version + 1, conversation.last_seq)


async def put_back(tx: Tx, conversation: Conversation, version: int, last_seq: int) -> Kept:
    row = row_of(
        kinds.CHANNELS, conversation.workspace_id, conversation.channel, version=version, last_seq=last_seq
    )
    await tx.run(PUT_BACK, channel_id=conversation.channel.id, **row)
    return Kept(version, cast(bytes, row["document"]))


async def tell(tx: Tx, conversation: Conversation, kind: EventKind, kept: Kept, actor_member_id: str) -> None:
    await emit(
        tx,
        conversation.workspace_id,
        kind,
        conversation.channel.id,
        ChannelEventData(version=kept.version, actor_member_id=actor_member_id),
        await in_channel(tx, conversation, kept),
    )


async def in_channel(tx: Tx, conversation: Conversation, kept: Kept) -> InChannel:
    channel = conversation.channel
    member = None
    if channel.assigned_member_id is not None:
        member = await find_document(tx, kinds.MEMBERS, conversation.workspace_id, channel.assigned_member_id)
    return InChannel(channel.id, kept.document, member)


async def act_on(tx: Tx, workspace_id: str, channel_id: str, actor_member_id: str) -> Conversation:
    """The channel, for an active member of the workspace whose role does not matter."""
    conversation = await lock_conversation(tx, workspace_id, channel_id)
    await find_actor(tx, workspace_id, actor_member_id)
    return conversation


async def operate_on(tx: Tx, workspace_id: str, channel_id: str, actor_member_id: str) -> Conversation:
    """The channel, for a member who holds channel:operate."""
    conversation = await lock_conversation(tx, workspace_id, channel_id)
    await find_actor(tx, workspace_id, actor_member_id, "channel:operate")
    return conversation
