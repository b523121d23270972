"""What stands in a second table beside the first: external ids, and a channel's time with its tags."""

from collections.abc import AsyncIterator

from sqlalchemy import and_, bindparam, select, tuple_

from deskwire.desk.checking.differences import difference
from deskwire.model.limits import RECORD_BATCH
from deskwire.store.statement import Statement
from deskwire.store.tables import CHANNEL_TAG_LINKS, CHANNELS, CONTACT_EXTERNAL_IDS, CONTACTS
from deskwire.store.transaction import Tx
from deskwire.store.whole import START

UNHELD_EXTERNAL_IDS = Statement(
    select(CONTACTS.c.id, CONTACTS.c.external_id, CONTACT_EXTERNAL_IDS.c.contact_id)
    .outerjoin(
        CONTACT_EXTERNAL_IDS,
        and_(
            CONTACT_EXTERNAL_IDS.c.workspace_id == CONTACTS.c.workspace_id,
            CONTACT_EXTERNAL_IDS.c.external_id == CONTACTS.c.external_id,
        ),
    )
    .where(
        CONTACTS.c.workspace_id == bindparam("workspace_id"),
        CONTACTS.c.id > bindparam("after"),
        CONTACTS.c.external_id.is_not(None),
        CONTACT_EXTERNAL_IDS.c.contact_id.is_distinct_from(CONTACTS.c.id),
    )
    .order_by(CONTACTS.c.id)
    .limit(bindparam("limit"))
)
MISTIMED_LINKS = Statement(
    select(
        CHANNEL_TAG_LINKS.c.channel_id,
        CHANNEL_TAG_LINKS.c.tag_id,
        CHANNEL_TAG_LINKS.c.channel_created_at,
        CHANNELS.c.created_at,
    )
    .join(
        CHANNELS,
        and_(
            CHANNELS.c.workspace_id == CHANNEL_TAG_LINKS.c.workspace_id,
            CHANNELS.c.id == CHANNEL_TAG_LINKS.c.channel_id,
        ),
    )
    .where(
        CHANNEL_TAG_LINKS.c.workspace_id == bindparam("workspace_id"),
        tuple_(CHANNEL_TAG_LINKS.c.channel_id, CHANNEL_TAG_LINKS.c.tag_id)
        > tuple_(bindparam("after"), bindparam("after_tag")),
        CHANNEL_TAG_LINKS.c.channel_created_at != CHANNELS.c.created_at,
    )
    .order_by(CHANNEL_TAG_LINKS.c.channel_id, CHANNEL_TAG_LINKS.c.tag_id)
    .limit(bindparam("limit"))
)


async def check_external_ids(tx: Tx, workspace_id: str) -> AsyncIterator[str]:
    """The value that a contact shows is one of those by which it is found."""
    after = START
    while rows := await tx.all(
        UNHELD_EXTERNAL_IDS, workspace_id=workspace_id, after=after, limit=RECORD_BATCH
    ):
        for id, external_id, holder in rows:
            after = str(id)
            for line in difference("contact_external_ids", repr(external_id), "contact_id", holder, after):
                yield line


async def check_links(tx: Tx, workspace_id: str) -> AsyncIterator[str]:
    after = after_tag = START
    while rows := await tx.all(
        MISTIMED_LINKS, workspace_id=workspace_id, after=after, after_tag=after_tag, limit=RECORD_BATCH
    ):
        for channel_id, tag_id, kept, right in rows:
            after, after_tag = str(channel_id), str(tag_id)
            for line in difference(
                "channel_tag_links", f"{after} {after_tag}", "channel_created_at", kept, right
            ):
                yield line
