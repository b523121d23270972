"""Attachments with where their bytes are; messages show what became of theirs."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from deskwire.desk.importing.work import Work, records
from deskwire.model.messages import AttachmentRecord
from deskwire.store import kinds, whole
from deskwire.store.records import row_of
from deskwire.store.spool import StoredBytes
from deskwire.store.statement import Among, Statement, Value
from deskwire.store.tables import MESSAGE_ATTACHMENTS
from deskwire.store.whole import Kept

MESSAGES_WITH = Statement(
    select(MESSAGE_ATTACHMENTS.c.message_id)
    .where(
        MESSAGE_ATTACHMENTS.c.workspace_id == bindparam("workspace_id"),
        Among(MESSAGE_ATTACHMENTS.c.attachment_id, "ids"),
    )
    .distinct()
)


async def import_attachments(work: Work) -> None:
    for batch in work.batches(AttachmentRecord, "attachment"):
        attachments = records(batch)
        ids = [attachment.id for attachment in attachments]
        kept = await whole.ATTACHMENTS.among(work.tx, work.workspace_id, ids)
        before = {one.record.id: one for one in kept}
        stored = work.spool.stored(ids)
        await work.tx.many(
            kinds.ATTACHMENTS.upsert,
            [row(work, one, stored.get(one.id), before.get(one.id)) for one in attachments],
        )
        changed = [
            one.id for one in attachments if one.id in before and looks_different(one, before[one.id].record)
        ]
        await render_messages_with(work, changed)


def row(
    work: Work,
    attachment: AttachmentRecord,
    stored: StoredBytes | None,
    before: Kept[AttachmentRecord] | None,
) -> dict[str, Value]:
    """Bytes that are there stay when none come with the record."""
    file_key = None if before is None else before.beside[0]
    if stored is not None:
        file_key, attachment.size_bytes = stored.file_key, stored.size_bytes
    elif before is not None and file_key is not None:
        attachment.size_bytes = before.record.size_bytes
    return row_of(kinds.ATTACHMENTS, work.workspace_id, attachment, file_key=file_key)


def looks_different(attachment: AttachmentRecord, before: AttachmentRecord) -> bool:
    return (attachment.reference(), attachment.visible()) != (before.reference(), before.visible())


async def render_messages_with(work: Work, attachment_ids: Sequence[str]) -> None:
    if not attachment_ids:
        return
    rows = await work.tx.all(MESSAGES_WITH, workspace_id=work.workspace_id, ids=attachment_ids)
    kept = await whole.MESSAGES.among(work.tx, work.workspace_id, [str(row[0]) for row in rows])
    await work.tx.many(
        kinds.MESSAGES.upsert,
        [row_of(kinds.MESSAGES, work.workspace_id, message, seq=seq) for message, (seq,) in kept],
    )
