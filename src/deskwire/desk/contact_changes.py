"""Making and changing contacts, their tags and their consent to marketing by SMS."""

from collections.abc import Sequence
from typing import NamedTuple, cast

from msgspec import UNSET
from sqlalchemy import and_, bindparam, select
from sqlalchemy.dialects.postgresql import insert

from deskwire.desk.contacts import TAGS_OF
from deskwire.desk.dictionary import CONTACT_TAGS, count_usage
from deskwire.desk.identity import new_id
from deskwire.desk.outbox import emit
from deskwire.model.contacts import ContactRecord, show_contact
from deskwire.model.errors import DeskError, Problem, not_found
from deskwire.model.events import ContactEventData, EventKind
from deskwire.model.limits import CONTACT_TAGS as MOST_TAGS
from deskwire.model.search import contact_terms
from deskwire.model.tokens import Token
from deskwire.store import kinds
from deskwire.store.records import from_row, put, render, row_of
from deskwire.store.search import Entry, Subject
from deskwire.store.statement import Statement, upsert
from deskwire.store.tables import CONTACT_EXTERNAL_IDS, CONTACTS, SMS_CONSENTS
from deskwire.store.transaction import Tx

LOCK = Statement(
    select(*(CONTACTS.c[name] for name in kinds.CONTACTS.columns))
    .where(
        and_(
            CONTACTS.c.workspace_id == bindparam("workspace_id"),
            CONTACTS.c.id == bindparam("contact_id"),
            CONTACTS.c.visible,
        )
    )
    .with_for_update()
)
HOLD_EXTERNAL_ID = Statement(
    insert(CONTACT_EXTERNAL_IDS)
    .values(
        workspace_id=bindparam("workspace_id"),
        external_id=bindparam("external_id"),
        contact_id=bindparam("contact_id"),
    )
    .on_conflict_do_nothing(index_elements=["workspace_id", "external_id"])
    .returning(CONTACT_EXTERNAL_IDS.c.contact_id)
)
PUT_CONSENT = upsert(SMS_CONSENTS)


class Changes(NamedTuple):
    """New values; None leaves one as it is, and an empty text takes it away."""

    email: str | None
    phone: str | None
    name: str | None


async def create_contact(
    tx: Tx,
    workspace_id: str,
    external_id: str | None,
    email: str | None,
    phone: str | None,
    name: str | None,
) -> bytes:
    contact = ContactRecord(
        id=new_id(),
        created_at=tx.now,
        updated_at=tx.now,
        external_id=external_id or None,
        email=email or None,
        phone=phone or None,
        name=name or None,
    )
    row = row_of(kinds.CONTACTS, workspace_id, contact)
    await tx.run(kinds.CONTACTS.insert, **row)
    await make_findable(tx, workspace_id, contact, is_new=True)
    if contact.external_id is not None:
        held = await tx.one(
            HOLD_EXTERNAL_ID,
            workspace_id=workspace_id,
            external_id=contact.external_id,
            contact_id=contact.id,
        )
        if held is None:
            raise DeskError(
                "CONFLICT",
                "A contact uses this external_id or used it once; GET /contacts?external_id= finds it.",
                Problem("external_id", "is taken"),
            )
    await tell(tx, workspace_id, "contact.created", contact)
    return cast(bytes, row["document"])


async def update_contact(tx: Tx, workspace_id: str, contact_id: str, changes: Changes) -> bytes:
    contact = await lock_contact(tx, workspace_id, contact_id)
    before = (contact.email, contact.phone, contact.name)
    if changes.email is not None:
        contact.email = changes.email or None
    if changes.phone is not None:
        contact.phone = changes.phone or None
    if changes.name is not None:
        contact.name = changes.name or None
    if (contact.email, contact.phone, contact.name) != before:
        contact.updated_at = tx.now
        await put(tx, kinds.CONTACTS, workspace_id, contact)
        await make_findable(tx, workspace_id, contact, is_new=False)
        await tell(tx, workspace_id, "contact.updated", contact)
    return render(kinds.CONTACTS, contact)


async def add_tags(tx: Tx, workspace_id: str, contact_id: str, names: Sequence[str]) -> bytes:
    contact = await lock_contact(tx, workspace_id, contact_id)
    carried = set(contact.tags)
    new = [name for name in dict.fromkeys(names) if name not in carried]
    if new and len(carried) + len(new) > MOST_TAGS:
        raise DeskError(
            "TAG_LIMIT_EXCEEDED",
            f"A contact has at most {MOST_TAGS} tags; this one would have {len(carried) + len(new)}.",
        )
    if new:
        await CONTACT_TAGS.find_or_make(tx, workspace_id, new)
        tags = await CONTACT_TAGS.lock(tx, workspace_id, new)
        await CONTACT_TAGS.link(tx, workspace_id, contact_id, [tags[name] for name in new])
        await count_usage(tx, workspace_id, tags.values(), 1)
        contact.tags, contact.updated_at = [*contact.tags, *new], tx.now
        await put(tx, kinds.CONTACTS, workspace_id, contact)
    return render(kinds.CONTACTS, contact)


async def remove_tags(tx: Tx, workspace_id: str, contact_id: str, names: Sequence[str]) -> bytes:
    contact = await lock_contact(tx, workspace_id, contact_id)
    gone = [name for name in dict.fromkeys(names) if name in contact.tags]
    if gone:
        tags = await CONTACT_TAGS.lock(tx, workspace_id, gone)
        await CONTACT_TAGS.unlink(tx, workspace_id, contact_id, tags.values())
        await count_usage(tx, workspace_id, tags.values(), -1)
        contact.tags = [name for name in contact.tags if name not in gone]
        contact.updated_at = tx.now
        await put(tx, kinds.CONTACTS, workspace_id, contact)
    return render(kinds.CONTACTS, contact)


async def set_sms_consent(tx: Tx, token: Token, contact_id: str, opted_in: bool, reason: str | None) -> None:
    contact = await lock_contact(tx, token.workspace_id, contact_id)
    await tx.run(
        PUT_CONSENT,
        workspace_id=token.workspace_id,
        contact_id=contact.id,
        opted_in=opted_in,
        reason=reason,
        token_id=token.id,
        updated_at=tx.now,
    )


async def lock_contact(tx: Tx, workspace_id: str, contact_id: str) -> ContactRecord:
    row = await tx.one(LOCK, workspace_id=workspace_id, contact_id=contact_id)
    if row is None:
        raise not_found("contact")
    names = await tx.all(TAGS_OF, workspace_id=workspace_id, contact_id=contact_id)
    return from_row(kinds.CONTACTS, row, tags=[str(name[0]) for name in names])


async def make_findable(tx: Tx, workspace_id: str, contact: ContactRecord, *, is_new: bool) -> None:
    """By its name, e-mail and phone."""
    entry = Entry(contact.id, contact.created_at, contact_terms(workspace_id, contact), is_new)
    await tx.index(Subject.CONTACTS, workspace_id, [entry])


async def tell(tx: Tx, workspace_id: str, kind: EventKind, contact: ContactRecord) -> None:
    data = ContactEventData(
        contact_id=contact.id,
        contact=show_contact(contact),
        created_at=contact.created_at if kind == "contact.created" else UNSET,
    )
    await emit(tx, workspace_id, kind, contact.id, data)
