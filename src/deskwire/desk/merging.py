"""Merging two contacts: one stays and gets all that the other had, the other is seen no more."""

from typing import NamedTuple

from sqlalchemy import Table, and_, bindparam, delete, exists, select, update

from deskwire.desk.contact_changes import tell
from deskwire.desk.dictionary import CONTACT_TAGS, count_usage
from deskwire.desk.reading import find_workspace
from deskwire.model.contacts import ContactRecord
from deskwire.model.errors import DeskError
from deskwire.model.limits import CONTACT_TAGS as MOST_TAGS
from deskwire.model.limits import RECORD_BATCH
from deskwire.store import kinds, whole
from deskwire.store.records import put
from deskwire.store.search import Entry, Subject
from deskwire.store.statement import Among, Statement
from deskwire.store.tables import CHANNELS, CONTACT_EXTERNAL_IDS, CONTACTS, SMS_CONSENTS, VOICE_CALLS
from deskwire.store.transaction import Tx

# Always in the same order, so that two merges never wait for each other.
LOCK = Statement(
    select(CONTACTS.c.id)
    .where(CONTACTS.c.workspace_id == bindparam("workspace_id"), Among(CONTACTS.c.id, "ids"))
    .order_by(CONTACTS.c.id)
    .with_for_update()
)
MOVE_EXTERNAL_IDS = Statement(
    update(CONTACT_EXTERNAL_IDS)
    .where(
        and_(
            CONTACT_EXTERNAL_IDS.c.workspace_id == bindparam("workspace_id"),
            CONTACT_EXTERNAL_IDS.c.contact_id == bindparam("gone_id"),
        )
    )
    .values(contact_id=bindparam("keep_id"))
    .returning(CONTACT_EXTERNAL_IDS.c.external_id)
)
KEPT_CONSENT = SMS_CONSENTS.alias("kept_consent")
GONE_CONSENT = and_(
    SMS_CONSENTS.c.workspace_id == bindparam("workspace_id"),
    SMS_CONSENTS.c.contact_id == bindparam("gone_id"),
)
MOVE_CONSENT = Statement(
    update(SMS_CONSENTS)
    .where(
        GONE_CONSENT,
        ~exists().where(
            KEPT_CONSENT.c.workspace_id == bindparam("workspace_id"),
            KEPT_CONSENT.c.contact_id == bindparam("keep_id"),
        ),
    )
    .values(contact_id=bindparam("keep_id"))
)
DROP_CONSENT = Statement(delete(SMS_CONSENTS).where(GONE_CONSENT))
RAISE_VERSIONS = Statement(
    update(CHANNELS)
    .where(and_(CHANNELS.c.workspace_id == bindparam("workspace_id"), Among(CHANNELS.c.id, "ids")))
    .values(version=CHANNELS.c.version + 1)
)


def of_contact(table: Table) -> Statement:
    return Statement(
        select(table.c.id)
        .where(
            table.c.workspace_id == bindparam("workspace_id"), table.c.contact_id == bindparam("contact_id")
        )
        .order_by(table.c.id)
        .limit(bindparam("limit"))
        .with_for_update()
    )


CHANNELS_OF = of_contact(CHANNELS)
CALLS_OF = of_contact(VOICE_CALLS)


class Merged(NamedTuple):
    """What the one that stays was given."""

    channels: int
    voice_calls: int
    external_ids: int
    tags: int


async def merge_contacts(tx: Tx, workspace_id: str, keep_id: str, gone_id: str) -> Merged:
    """What the one that stays says of itself stays as it is; of what it lacks nothing is filled in."""
    await find_workspace(tx, workspace_id)
    if keep_id == gone_id:
        raise DeskError("CONFLICT", "A contact cannot be merged with itself.")
    keep, gone = await lock_both(tx, workspace_id, keep_id, gone_id)
    new_tags = await move_tags(tx, workspace_id, keep, gone)
    external_ids = await tx.all(
        MOVE_EXTERNAL_IDS, workspace_id=workspace_id, gone_id=gone_id, keep_id=keep_id
    )
    await tx.run(MOVE_CONSENT, workspace_id=workspace_id, gone_id=gone_id, keep_id=keep_id)
    await tx.run(DROP_CONSENT, workspace_id=workspace_id, gone_id=gone_id)
    channels = await move_channels(tx, workspace_id, keep_id, gone_id)
    # It is found by all of them, so it shows one.
    keep.external_id = keep.external_id or gone.external_id
    keep.updated_at = tx.now
    await put_gone(tx, workspace_id, gone, keep_id)
    await put(tx, kinds.CONTACTS, workspace_id, keep)
    calls = await move_calls(tx, workspace_id, keep_id, gone_id)
    await tell(tx, workspace_id, "contact.updated", keep)
    return Merged(channels, calls, len(external_ids), new_tags)


async def lock_both(
    tx: Tx, workspace_id: str, keep_id: str, gone_id: str
) -> tuple[ContactRecord, ContactRecord]:
    await tx.all(LOCK, workspace_id=workspace_id, ids=[keep_id, gone_id])
    found = {
        kept.record.id: kept.record
        for kept in await whole.CONTACTS.among(tx, workspace_id, [keep_id, gone_id])
    }
    for id in (keep_id, gone_id):
        if id not in found:
            raise DeskError("NOT_FOUND", f"There is no contact {id} in this workspace.")
        if found[id].merged_into is not None:
            raise DeskError("CONFLICT", f"The contact {id} was merged into {found[id].merged_into} before.")
    return found[keep_id], found[gone_id]


async def move_tags(tx: Tx, workspace_id: str, keep: ContactRecord, gone: ContactRecord) -> int:
    new = [name for name in gone.tags if name not in keep.tags]
    if len(keep.tags) + len(new) > MOST_TAGS:
        raise DeskError(
            "TAG_LIMIT_EXCEEDED",
            f"A contact has at most {MOST_TAGS} tags; together these would have {len(keep.tags) + len(new)}.",
        )
    if gone.tags:
        tags = await CONTACT_TAGS.find(tx, workspace_id, gone.tags)
        await CONTACT_TAGS.unlink(tx, workspace_id, gone.id, tags.values())
        await CONTACT_TAGS.link(tx, workspace_id, keep.id, [tags[name] for name in new])
        both = [tags[name] for name in gone.tags if name in keep.tags]
        await count_usage(tx, workspace_id, both, -1)
    keep.tags = [*keep.tags, *new]
    return len(new)


async def move_channels(tx: Tx, workspace_id: str, keep_id: str, gone_id: str) -> int:
    """Deleted ones too: whatever names the contact that is gone would lead to nobody."""
    moved = 0
    while rows := await tx.all(
        CHANNELS_OF, workspace_id=workspace_id, contact_id=gone_id, limit=RECORD_BATCH
    ):
        ids = [str(row[0]) for row in rows]
        for kept in await whole.CHANNELS.among(tx, workspace_id, ids):
            channel = kept.record
            channel.contact_id, channel.updated_at = keep_id, tx.now
            await put(tx, kinds.CHANNELS, workspace_id, channel)
        await tx.run(RAISE_VERSIONS, workspace_id=workspace_id, ids=ids)
        moved += len(ids)
    return moved


async def move_calls(tx: Tx, workspace_id: str, keep_id: str, gone_id: str) -> int:
    moved = 0
    while rows := await tx.all(CALLS_OF, workspace_id=workspace_id, contact_id=gone_id, limit=RECORD_BATCH):
        kept = await whole.VOICE_CALLS.among(tx, workspace_id, [str(row[0]) for row in rows])
        calls = [one.record for one in kept]
        for call in calls:
            call.contact_id = keep_id
        shown = await whole.as_shown(tx, workspace_id, calls)
        for call, seen in zip(calls, shown, strict=True):
            await put(tx, kinds.VOICE_CALLS, workspace_id, call, shown=seen)
        moved += len(calls)
    return moved


async def put_gone(tx: Tx, workspace_id: str, gone: ContactRecord, keep_id: str) -> None:
    """Its row stays, so that what names it can be told where it went."""
    gone.merged_into, gone.updated_at = keep_id, tx.now
    gone.external_id, gone.tags = None, []
    await put(tx, kinds.CONTACTS, workspace_id, gone)
    await tx.index(Subject.CONTACTS, workspace_id, [Entry(gone.id, gone.created_at, "")])
