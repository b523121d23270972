"""Sending a reply into a channel."""

from typing import NamedTuple, cast

from sqlalchemy import bindparam, insert, select

from deskwire.desk.acting import find_actor
from deskwire.desk.conversation import Conversation, Kept, in_channel, lock_conversation, put_back
from deskwire.desk.identity import new_id
from deskwire.desk.outbox import emit
from deskwire.model.events import MessageEventData
from deskwire.model.messages import MessageRecord
from deskwire.model.search import message_terms
from deskwire.model.tokens import Token
from deskwire.model.vocabulary import ContentType
from deskwire.store import kinds
from deskwire.store.records import document, row_of
from deskwire.store.search import Entry, Subject
from deskwire.store.statement import Statement
from deskwire.store.tables import MESSAGES
from deskwire.store.transaction import Tx

SENT_BEFORE = Statement(
    select(MESSAGES.c.document).where(
        MESSAGES.c.workspace_id == bindparam("workspace_id"),
        MESSAGES.c.channel_id == bindparam("channel_id"),
        MESSAGES.c.client_request_id == bindparam("client_request_id"),
    )
)
INSERT = Statement(insert(MESSAGES))


class Reply(NamedTuple):
    """What is to be said, and by whom; without a member, by the token."""

    content_type: ContentType
    content: str
    sender_member_id: str | None
    client_request_id: str | None


class Sent(NamedTuple):
    """A message's document, and whether it had been sent before under the same request id."""

    document: bytes
    deduplicated: bool


async def send_reply(tx: Tx, token: Token, channel_id: str, reply: Reply) -> Sent:
    workspace_id = token.workspace_id
    conversation = await lock_conversation(tx, workspace_id, channel_id)
    if reply.client_request_id is not None:
        # The channel is locked: whoever sent under this id before has committed.
        before = await tx.one(
            SENT_BEFORE,
            workspace_id=workspace_id,
            channel_id=channel_id,
            client_request_id=reply.client_request_id,
        )
        if before is not None:
            return Sent(document(before), deduplicated=True)
    message = await message_of(tx, token, channel_id, reply)
    seq = conversation.last_seq + 1
    row = row_of(kinds.MESSAGES, workspace_id, message, seq=seq, client_request_id=reply.client_request_id)
    await tx.run(INSERT, **row)
    entry = Entry(message.id, message.created_at, message_terms(workspace_id, message), is_new=True)
    await tx.index(Subject.MESSAGES, workspace_id, [entry])
    kept = await count(tx, conversation, message, seq)
    await tell(tx, conversation, kept, message, seq)
    return Sent(cast(bytes, row["document"]), deduplicated=False)


async def message_of(tx: Tx, token: Token, channel_id: str, reply: Reply) -> MessageRecord:
    message = MessageRecord(
        id=new_id(),
        created_at=tx.now,
        channel_id=channel_id,
        sender_id=token.id,
        sender_type="integration",
        sender_name=token.prefix,
        content_type=reply.content_type,
        content=reply.content,
    )
    if reply.sender_member_id is not None:
        member = await find_actor(tx, token.workspace_id, reply.sender_member_id, "message:write")
        message.sender_id, message.sender_type, message.sender_name = member.id, "member", member.name
    return message


async def count(tx: Tx, conversation: Conversation, message: MessageRecord, seq: int) -> Kept:
    channel = conversation.channel
    channel.message_count += 1
    channel.last_message_at = max(channel.last_message_at or message.created_at, message.created_at)
    return await put_back(tx, conversation, conversation.version, seq)


async def tell(tx: Tx, conversation: Conversation, kept: Kept, message: MessageRecord, seq: int) -> None:
    await emit(
        tx,
        conversation.workspace_id,
        "message.created",
        message.id,
        MessageEventData(
            message_id=message.id,
            seq=seq,
            created_at=message.created_at,
            channel_id=message.channel_id,
            sender_id=message.sender_id,
            sender_type=message.sender_type,
            sender_name=message.sender_name,
            content_type=message.content_type,
            content=message.content,
        ),
        await in_channel(tx, conversation, kept),
    )
