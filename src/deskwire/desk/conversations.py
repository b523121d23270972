"""Closing, reopening, assigning a channel, and marking it read."""

from typing import cast

from sqlalchemy import and_, bindparam, select

from deskwire.desk.acting import find_assignee
from deskwire.desk.conversation import act_on, keep, operate_on, tell
from deskwire.model.errors import not_found
from deskwire.model.ids import parse_id
from deskwire.store.statement import Row, Statement, upsert
from deskwire.store.tables import MESSAGES, READ_POSITIONS
from deskwire.store.transaction import Tx

IN_CHANNEL = and_(
    MESSAGES.c.workspace_id == bindparam("workspace_id"),
    MESSAGES.c.channel_id == bindparam("channel_id"),
    MESSAGES.c.visible,
)
FIND_MESSAGE = Statement(
    select(MESSAGES.c.id, MESSAGES.c.created_at).where(IN_CHANNEL, MESSAGES.c.id == bindparam("message_id"))
)
LAST_MESSAGE = Statement(
    select(MESSAGES.c.id, MESSAGES.c.created_at)
    .where(IN_CHANNEL)
    .order_by(MESSAGES.c.created_at.desc(), MESSAGES.c.id.desc())
    .limit(1)
)
FIND_POSITION = Statement(
    select(READ_POSITIONS.c.message_created_at, READ_POSITIONS.c.message_id).where(
        READ_POSITIONS.c.workspace_id == bindparam("workspace_id"),
        READ_POSITIONS.c.channel_id == bindparam("channel_id"),
        READ_POSITIONS.c.member_id == bindparam("member_id"),
    )
)
PUT_POSITION = upsert(READ_POSITIONS)


async def close(tx: Tx, workspace_id: str, channel_id: str, actor_member_id: str) -> bytes:
    """Closing ends snoozing and the assignment; a closed channel stays as it is."""
    conversation = await act_on(tx, workspace_id, channel_id, actor_member_id)
    channel = conversation.channel
    if channel.status == "closed":
        return conversation.document
    was_assigned = channel.assigned_type is not None or channel.assigned_member_id is not None
    channel.status, channel.snoozed_until = "closed", None
    channel.assigned_member_id, channel.assigned_type = None, None
    kept = await keep(tx, conversation)
    await tell(tx, conversation, "channel.closed", kept, actor_member_id)
    if was_assigned:
        await tell(tx, conversation, "channel.assigned", kept, actor_member_id)
    return kept.document


async def reopen(tx: Tx, workspace_id: str, channel_id: str, actor_member_id: str) -> bytes:
    conversation = await act_on(tx, workspace_id, channel_id, actor_member_id)
    channel = conversation.channel
    if channel.status == "open":
        return conversation.document
    channel.status, channel.snoozed_until = "open", None
    kept = await keep(tx, conversation)
    await tell(tx, conversation, "channel.reopened", kept, actor_member_id)
    return kept.document


async def assign(
    tx: Tx, workspace_id: str, channel_id: str, actor_member_id: str, member_id: str | None
) -> bytes:
    """To a member, or to nobody; assigning whom it is assigned to is no event."""
    conversation = await operate_on(tx, workspace_id, channel_id, actor_member_id)
    channel = conversation.channel
    if member_id is not None:
        member_id = (await find_assignee(tx, workspace_id, member_id)).id
    wanted = (member_id, None if member_id is None else "human")
    if (channel.assigned_member_id, channel.assigned_type) == wanted:
        return conversation.document
    stays_with_member = member_id is not None and channel.assigned_member_id == member_id
    channel.assigned_member_id = member_id
    channel.assigned_type = None if member_id is None else "human"
    kept = await keep(tx, conversation)
    if not stays_with_member:
        await tell(tx, conversation, "channel.assigned", kept, actor_member_id)
    return kept.document


async def mark_read(
    tx: Tx, workspace_id: str, channel_id: str, actor_member_id: str, message_id: str | None
) -> None:
    """Up to a message, or to the last one; a position never moves back."""
    await act_on(tx, workspace_id, channel_id, actor_member_id)
    read_up_to = await find_read_message(tx, workspace_id, channel_id, message_id)
    if read_up_to is None:
        return
    kept = await tx.one(
        FIND_POSITION, workspace_id=workspace_id, channel_id=channel_id, member_id=actor_member_id
    )
    id, created_at = str(read_up_to[0]), cast(int, read_up_to[1])
    if kept is not None and (kept[0], str(kept[1])) >= (created_at, id):
        return
    await tx.run(
        PUT_POSITION,
        workspace_id=workspace_id,
        channel_id=channel_id,
        member_id=actor_member_id,
        message_id=id,
        message_created_at=created_at,
        read_at=tx.now,
    )


async def find_read_message(tx: Tx, workspace_id: str, channel_id: str, message_id: str | None) -> Row | None:
    if message_id is None:
        return await tx.one(LAST_MESSAGE, workspace_id=workspace_id, channel_id=channel_id)
    id = parse_id(message_id)
    values = {"workspace_id": workspace_id, "channel_id": channel_id}
    row = None if id is None else await tx.one(FIND_MESSAGE, **values, message_id=id)
    if row is None:
        raise not_found("message")
    return row
