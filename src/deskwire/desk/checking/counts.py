"""What is counted: a channel's messages and their numbers, and the contacts that carry a tag."""

from collections.abc import AsyncIterator

from sqlalchemy import bindparam, case, distinct, func, select

from deskwire.desk.checking.differences import difference
from deskwire.desk.importing.tags import CONTACT_CATALOGUE
from deskwire.model.limits import RECORD_BATCH
from deskwire.store import kinds, whole
from deskwire.store.statement import Among, Row, Statement, Value
from deskwire.store.tables import MESSAGES
from deskwire.store.transaction import Tx
from deskwire.store.whole import START, Wholes

NUMBERED_CHANNELS = Wholes(kinds.CHANNELS, "last_seq")
# A note has no number, so that the numbers of what is seen have no gaps.
FIGURES = Statement(
    select(
        MESSAGES.c.channel_id,
        func.sum(case((MESSAGES.c.visible, 1), else_=0)),
        func.max(case((MESSAGES.c.visible, MESSAGES.c.created_at), else_=None)),
        func.max(MESSAGES.c.seq),
        func.min(MESSAGES.c.seq),
        func.count(MESSAGES.c.seq),
        func.count(distinct(MESSAGES.c.seq)),
        func.sum(case((MESSAGES.c.internal_note, 0), (MESSAGES.c.seq.is_(None), 1), else_=0)),
    )
    .where(MESSAGES.c.workspace_id == bindparam("workspace_id"), Among(MESSAGES.c.channel_id, "ids"))
    .group_by(MESSAGES.c.channel_id)
)
NO_MESSAGES: Row = (0, None, None, None, 0, 0, 0)


async def check_channels(tx: Tx, workspace_id: str) -> AsyncIterator[str]:
    after = START
    while kept := await NUMBERED_CHANNELS.after(tx, workspace_id, after, RECORD_BATCH):
        rows = await tx.all(FIGURES, workspace_id=workspace_id, ids=[one.record.id for one in kept])
        figures = {str(row[0]): row[1:] for row in rows}
        for channel, (last_seq,) in kept:
            count, newest, highest, lowest, numbered, numbers, unnumbered = figures.get(
                channel.id, NO_MESSAGES
            )
            for column, value, right in (
                ("message_count", channel.message_count, count),
                ("last_message_at", channel.last_message_at, newest),
                ("last_seq", last_seq, max(number(last_seq), number(highest))),
            ):
                for line in difference("channels", channel.id, column, value, right):
                    yield line
            gaps = number(highest) - number(lowest) + 1 - number(numbers)
            if numbered and gaps:
                yield f"channels {channel.id}: its messages' numbers have {gaps} gaps and should have none"
            if repeated := number(numbered) - number(numbers):
                yield f"channels {channel.id}: {repeated} of its messages have the number of another one"
            if missing := number(unnumbered):
                yield f"channels {channel.id}: {missing} of its messages have no number and should have one"
        after = kept[-1].record.id


async def check_contact_tags(tx: Tx, workspace_id: str) -> AsyncIterator[str]:
    after = START
    while kept := await whole.CONTACT_TAGS.after(tx, workspace_id, after, RECORD_BATCH):
        ids = [tag.id for tag, _ in kept]
        rows = await tx.all(CONTACT_CATALOGUE.usage, workspace_id=workspace_id, ids=ids)
        counts = {str(id): count for id, count in rows}
        for tag, _ in kept:
            for line in difference(
                "contact_tags", tag.id, "usage_count", tag.usage_count, counts.get(tag.id, 0)
            ):
                yield line
        after = ids[-1]


def number(value: Value) -> int:
    return int(str(value or 0))
