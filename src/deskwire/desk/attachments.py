"""Finding an attachment whose bytes may be downloaded."""

from typing import NamedTuple

from sqlalchemy import and_, bindparam, exists, or_, select

from deskwire.model.errors import not_found
from deskwire.model.messages import AttachmentRecord
from deskwire.store import kinds
from deskwire.store.records import from_row
from deskwire.store.statement import Statement
from deskwire.store.tables import ATTACHMENTS, CHANNELS, MESSAGE_ATTACHMENTS, MESSAGES
from deskwire.store.transaction import Tx

IS_REFERRED_TO = and_(
    MESSAGE_ATTACHMENTS.c.workspace_id == ATTACHMENTS.c.workspace_id,
    MESSAGE_ATTACHMENTS.c.attachment_id == ATTACHMENTS.c.id,
)
IS_REFERRED_TO_VISIBLY = and_(
    IS_REFERRED_TO,
    MESSAGES.c.workspace_id == MESSAGE_ATTACHMENTS.c.workspace_id,
    MESSAGES.c.id == MESSAGE_ATTACHMENTS.c.message_id,
    MESSAGES.c.visible,
    CHANNELS.c.workspace_id == MESSAGES.c.workspace_id,
    CHANNELS.c.id == MESSAGES.c.channel_id,
    CHANNELS.c.visible,
)
FIND = Statement(
    select(*(ATTACHMENTS.c[name] for name in kinds.ATTACHMENTS.columns), ATTACHMENTS.c.file_key).where(
        ATTACHMENTS.c.workspace_id == bindparam("workspace_id"),
        ATTACHMENTS.c.id == bindparam("id"),
        ATTACHMENTS.c.status == "ready",
        or_(
            ~exists().where(IS_REFERRED_TO),
            exists().where(IS_REFERRED_TO_VISIBLY),
        ),
    )
)


class KeptAttachment(NamedTuple):
    """An attachment, and where its bytes are kept; None where none ever came."""

    record: AttachmentRecord
    file_key: str | None


async def find_attachment(tx: Tx, workspace_id: str, id: str) -> KeptAttachment:
    row = await tx.one(FIND, workspace_id=workspace_id, id=id)
    if row is None:
        raise not_found("attachment")
    *columns, file_key = row
    return KeptAttachment(
        from_row(kinds.ATTACHMENTS, tuple(columns)), None if file_key is None else str(file_key)
    )
