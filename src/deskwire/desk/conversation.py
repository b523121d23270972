"""A channel about to be changed: found, locked until the change is done, and put back."""

from typing import NamedTuple, cast

from sqlalchemy import and_, bindparam, select, update

from deskwire.desk.acting import find_actor
from deskwire.desk.outbox import emit
from deskwire.model.channels import ChannelRecord, show_channel
from deskwire.model.errors import not_found
from deskwire.model.events import ChannelEventData, EventKind
from deskwire.model.people import Member, show_member
from deskwire.store import kinds
from deskwire.store.records import from_row, load, render, row_of
from deskwire.store.statement import Statement
from deskwire.store.tables import CHANNEL_TAG_LINKS, CHANNEL_TAGS, CHANNELS
from deskwire.store.transaction import Tx

MINE = and_(CHANNELS.c.workspace_id == bindparam("workspace_id"), CHANNELS.c.id == bindparam("channel_id"))
LOCK = Statement(
    select(*(CHANNELS.c[name] for name in kinds.CHANNELS.columns), CHANNELS.c.version, CHANNELS.c.last_seq)
    .where(MINE, CHANNELS.c.visible)
    .with_for_update()
)
TAGS = Statement(
    select(CHANNEL_TAGS.c.id, CHANNEL_TAGS.c.name)
    .join(
        CHANNEL_TAG_LINKS,
        and_(
            CHANNEL_TAG_LINKS.c.workspace_id == CHANNEL_TAGS.c.workspace_id,
            CHANNEL_TAG_LINKS.c.tag_id == CHANNEL_TAGS.c.id,
        ),
    )
    .where(
        CHANNEL_TAG_LINKS.c.workspace_id == bindparam("workspace_id"),
        CHANNEL_TAG_LINKS.c.channel_id == bindparam("channel_id"),
    )
    .order_by(CHANNEL_TAG_LINKS.c.position)
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
    """A channel with its version, the number of its last message, and its tags by name."""

    workspace_id: str
    channel: ChannelRecord
    version: int
    last_seq: int
    tags: dict[str, str]


async def lock_conversation(tx: Tx, workspace_id: str, channel_id: str) -> Conversation:
    row = await tx.one(LOCK, workspace_id=workspace_id, channel_id=channel_id)
    if row is None:
        raise not_found("channel")
    *columns, version, last_seq = row
    tags = {
        str(name): str(id)
        for id, name in await tx.all(TAGS, workspace_id=workspace_id, channel_id=channel_id)
    }
    channel = from_row(kinds.CHANNELS, tuple(columns), tags=list(tags))
    return Conversation(workspace_id, channel, cast(int, version), cast(int, last_seq), tags)


async def keep(tx: Tx, conversation: Conversation) -> int:
    """Puts the changed channel back; answers its new version."""
    conversation.channel.updated_at = tx.now
    version = conversation.version + 1
    await put_back(tx, conversation, version, conversation.last_seq)
    return version


async def put_back(tx: Tx, conversation: Conversation, version: int, last_seq: int) -> None:
    row = row_of(
        kinds.CHANNELS, conversation.workspace_id, conversation.channel, version=version, last_seq=last_seq
    )
    await tx.run(PUT_BACK, channel_id=conversation.channel.id, **row)


async def tell(
    tx: Tx, conversation: Conversation, kind: EventKind, version: int, actor_member_id: str
) -> None:
    await emit(
        tx,
        conversation.workspace_id,
        kind,
        conversation.channel.id,
        ChannelEventData(version=version, actor_member_id=actor_member_id),
        channel=show_channel(conversation.channel),
        assigned_member=await assigned_member(tx, conversation.workspace_id, conversation.channel),
    )


async def assigned_member(tx: Tx, workspace_id: str, channel: ChannelRecord) -> Member | None:
    if channel.assigned_member_id is None:
        return None
    member = await load(tx, kinds.MEMBERS, workspace_id, channel.assigned_member_id)
    return show_member(member) if member is not None and member.active else None


def rendered(conversation: Conversation) -> bytes:
    return render(kinds.CHANNELS, conversation.channel)


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
