"""Channels with their tags, and what follows for a channel from its messages."""

from sqlalchemy import bindparam, func, select, update

from deskwire.desk.importing.calls import render_calls_of_channels
from deskwire.desk.importing.tags import CHANNEL_CATALOGUE, link_tags
from deskwire.desk.importing.work import Reference, Work, records
from deskwire.model.channels import ChannelRecord
from deskwire.model.moments import Moment
from deskwire.store import kinds, whole
from deskwire.store.records import put_all
from deskwire.store.statement import Among, Statement
from deskwire.store.tables import CHANNELS, MESSAGES

CONTACT: Reference[ChannelRecord] = Reference("contact_id", kinds.CONTACTS, lambda one: [one.contact_id])
ASSIGNEE: Reference[ChannelRecord] = Reference(
    "assigned_member_id", kinds.MEMBERS, lambda one: [one.assigned_member_id]
)
CHANGE_VERSION = Statement(
    update(CHANNELS)
    .where(CHANNELS.c.workspace_id == bindparam("workspace_id"), Among(CHANNELS.c.id, "ids"))
    .values(version=CHANNELS.c.version + 1)
)
COUNT_MESSAGES = Statement(
    select(MESSAGES.c.channel_id, func.count(), func.max(MESSAGES.c.created_at))
    .where(
        MESSAGES.c.workspace_id == bindparam("workspace_id"),
        Among(MESSAGES.c.channel_id, "ids"),
        MESSAGES.c.visible,
    )
    .group_by(MESSAGES.c.channel_id)
)


async def import_channels(work: Work) -> None:
    for lines in work.batches(ChannelRecord, "channel"):
        channels = records(await work.without_dangling(lines, CONTACT, ASSIGNEE))
        for channel in channels:
            channel.tags = list(dict.fromkeys(channel.tags))
        ids = [channel.id for channel in channels]
        await work.tx.run(CHANGE_VERSION, workspace_id=work.workspace_id, ids=ids)
        await work.put_all(kinds.CHANNELS, channels)
        await link_tags(
            work, CHANNEL_CATALOGUE, channels, lambda channel: {"channel_created_at": channel.created_at}
        )
        await render_calls_of_channels(work, ids)
        work.spool.touched.add(ids)


async def count_messages(work: Work) -> None:
    """Gives every channel that the import touched its number of messages and the time of the last one."""
    for ids in work.spool.touched.batches():
        rows = await work.tx.all(COUNT_MESSAGES, workspace_id=work.workspace_id, ids=ids)
        found = {str(id): (count, last) for id, count, last in rows}
        kept = await whole.CHANNELS.among(work.tx, work.workspace_id, ids)
        for channel, _ in kept:
            count, last = found.get(channel.id, (0, None))
            assert isinstance(count, int)
            channel.message_count = count
            channel.last_message_at = Moment(last) if isinstance(last, int) else None
        await put_all(work.tx, kinds.CHANNELS, work.workspace_id, [channel for channel, _ in kept])
