"""Messages: numbered within their channels, linked to their attachments, found by their words."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, delete, insert, null, select, update

from deskwire.desk.importing.work import Reference, Work, records
from deskwire.model.messages import MessageRecord
from deskwire.store import kinds, whole
from deskwire.store.search import Subject
from deskwire.store.statement import Among, Statement
from deskwire.store.tables import CHANNELS, MESSAGE_ATTACHMENTS, MESSAGES


class Place(NamedTuple):
    """Where a message stood before."""

    channel_id: str
    seq: int | None


CHANNEL: Reference[MessageRecord] = Reference("channel_id", kinds.CHANNELS, lambda one: [one.channel_id])
ATTACHMENTS: Reference[MessageRecord] = Reference(
    "attachment_ids", kinds.ATTACHMENTS, lambda one: attachment_ids(one)
)
PLACES = Statement(
    select(MESSAGES.c.id, MESSAGES.c.channel_id, MESSAGES.c.seq).where(
        MESSAGES.c.workspace_id == bindparam("workspace_id"), Among(MESSAGES.c.id, "ids")
    )
)
# A number belongs to its channel, and so does a client's own name for a request.
LEAVE_CHANNEL = Statement(
    update(MESSAGES)
    .where(MESSAGES.c.workspace_id == bindparam("workspace_id"), Among(MESSAGES.c.id, "ids"))
    .values(seq=null(), client_request_id=null())
)
LAST_NUMBERS = Statement(
    select(CHANNELS.c.id, CHANNELS.c.last_seq)
    .where(CHANNELS.c.workspace_id == bindparam("workspace_id"), Among(CHANNELS.c.id, "ids"))
    # No reply takes a number until those of the import are there.
    .with_for_update()
)
SET_LAST_NUMBER = Statement(
    update(CHANNELS)
    .where(CHANNELS.c.workspace_id == bindparam("workspace_id"), CHANNELS.c.id == bindparam("channel"))
    .values(last_seq=bindparam("last_seq"))
)
NUMBERED = Statement(
    select(MESSAGES.c.id, MESSAGES.c.seq)
    .where(
        MESSAGES.c.workspace_id == bindparam("workspace_id"),
        MESSAGES.c.channel_id == bindparam("channel"),
        MESSAGES.c.seq.is_not(None),
    )
    .order_by(MESSAGES.c.seq.desc())
)
SET_NUMBER = Statement(
    update(MESSAGES)
    .where(MESSAGES.c.workspace_id == bindparam("workspace_id"), MESSAGES.c.id == bindparam("message"))
    .values(seq=bindparam("seq"))
)
UNLINK_ATTACHMENTS = Statement(
    delete(MESSAGE_ATTACHMENTS).where(
        MESSAGE_ATTACHMENTS.c.workspace_id == bindparam("workspace_id"),
        Among(MESSAGE_ATTACHMENTS.c.message_id, "ids"),
    )
)
LINK_ATTACHMENT = Statement(insert(MESSAGE_ATTACHMENTS))


async def import_messages(work: Work) -> None:
    """Oldest first: numbers within a channel, and the search index, grow with time."""
    for lines, terms in work.searchable(MessageRecord, "message"):
        messages = records(await work.without_dangling(lines, CHANNEL, ATTACHMENTS))
        before = await places(work, messages)
        await leave_channels(work, messages, before)
        await name_attachments(work, messages)
        numbers = await numbered_seqs(work, messages, before)
        await work.put_all(kinds.MESSAGES, messages, seq=numbers)
        await link_attachments(work, messages)
        await work.index(Subject.MESSAGES, messages, terms)
        work.spool.touched.add({message.channel_id for message in messages})
    await close_gaps(work)


def attachment_ids(message: MessageRecord) -> list[str]:
    """The ids as the record gives them, or as the API shows them."""
    named = message.attachment_ids or [reference.id for reference in message.attachments or []]
    return list(dict.fromkeys(named))


async def places(work: Work, messages: Sequence[MessageRecord]) -> dict[str, Place]:
    rows = await work.tx.all(PLACES, workspace_id=work.workspace_id, ids=[message.id for message in messages])
    return {
        str(id): Place(str(channel_id), seq if isinstance(seq, int) else None) for id, channel_id, seq in rows
    }


async def leave_channels(work: Work, messages: Sequence[MessageRecord], before: dict[str, Place]) -> None:
    """A message that was in another channel is new in the one that it comes to."""
    moved = [one.id for one in messages if one.id in before and before[one.id].channel_id != one.channel_id]
    if not moved:
        return
    work.spool.touched.add({before[id].channel_id for id in moved})
    work.spool.left.add({before[id].channel_id for id in moved})
    await work.tx.run(LEAVE_CHANNEL, workspace_id=work.workspace_id, ids=moved)
    for id in moved:
        del before[id]


async def name_attachments(work: Work, messages: Sequence[MessageRecord]) -> None:
    """Gives each message the references that it shows."""
    named = list({id for message in messages for id in attachment_ids(message)})
    kept = await whole.ATTACHMENTS.among(work.tx, work.workspace_id, named)
    references = {one.id: one.reference() for one, _ in kept if one.visible()}
    for message in messages:
        message.attachment_ids = attachment_ids(message)
        message.attachments = [references[id] for id in message.attachment_ids if id in references]


async def numbered_seqs(
    work: Work, messages: Sequence[MessageRecord], before: dict[str, Place]
) -> list[int | None]:
    """A number once given stays; what has none takes the next of its channel, unless it is a note."""
    channel_ids = list({message.channel_id for message in messages})
    rows = await work.tx.all(LAST_NUMBERS, workspace_id=work.workspace_id, ids=channel_ids)
    last = {str(id): number for id, number in rows if isinstance(number, int)}
    seqs: list[int | None] = []
    for message in messages:
        seq = before[message.id].seq if message.id in before else None
        if seq is None and not message.internal_note:
            seq = last[message.channel_id] = last[message.channel_id] + 1
        seqs.append(seq)
    await work.tx.many(
        SET_LAST_NUMBER,
        [
            {"workspace_id": work.workspace_id, "channel": id, "last_seq": number}
            for id, number in last.items()
        ],
    )
    return seqs


async def close_gaps(work: Work) -> None:
    """Where messages have left a channel, the others move up, so that its last number stays the last."""
    for ids in work.spool.left.batches():
        for id, last in await work.tx.all(LAST_NUMBERS, workspace_id=work.workspace_id, ids=ids):
            assert isinstance(last, int)
            rows = await work.tx.all(NUMBERED, workspace_id=work.workspace_id, channel=str(id))
            await work.tx.many(
                SET_NUMBER,
                [
                    {"workspace_id": work.workspace_id, "message": message_id, "seq": last - place}
                    for place, (message_id, seq) in enumerate(rows)
                    if seq != last - place
                ],
            )


async def link_attachments(work: Work, messages: Sequence[MessageRecord]) -> None:
    await work.tx.run(
        UNLINK_ATTACHMENTS, workspace_id=work.workspace_id, ids=[message.id for message in messages]
    )
    await work.tx.many(
        LINK_ATTACHMENT,
        [
            {
                "workspace_id": work.workspace_id,
                "message_id": message.id,
                "position": position,
                "attachment_id": id,
            }
            for message in messages
            for position, id in enumerate(message.attachment_ids)
        ],
    )
