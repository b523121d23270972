"""Contacts with their tags and with every external id that they ever used."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from deskwire.desk.importing.calls import render_calls_of_contacts
from deskwire.desk.importing.tags import CONTACT_CATALOGUE, link_tags
from deskwire.desk.importing.work import Numbered, Work, records
from deskwire.model.contacts import ContactRecord
from deskwire.store import kinds
from deskwire.store.search import Subject
from deskwire.store.statement import Among, Statement, upsert
from deskwire.store.tables import CONTACT_EXTERNAL_IDS

HOLDERS = Statement(
    select(CONTACT_EXTERNAL_IDS.c.external_id, CONTACT_EXTERNAL_IDS.c.contact_id).where(
        CONTACT_EXTERNAL_IDS.c.workspace_id == bindparam("workspace_id"),
        Among(CONTACT_EXTERNAL_IDS.c.external_id, "external_ids"),
    )
)
HOLD = upsert(CONTACT_EXTERNAL_IDS)


async def import_contacts(work: Work) -> None:
    for lines, terms in work.searchable(ContactRecord, "contact"):
        contacts = records(await without_taken_ids(work, lines))
        for contact in contacts:
            contact.tags = list(dict.fromkeys(contact.tags))
        await work.put_all(kinds.CONTACTS, contacts)
        await hold_external_ids(work, contacts)
        await link_tags(work, CONTACT_CATALOGUE, contacts)
        await work.index(Subject.CONTACTS, contacts, terms)
        await render_calls_of_contacts(work, [contact.id for contact in contacts])


async def without_taken_ids(
    work: Work, batch: list[Numbered[ContactRecord]]
) -> list[Numbered[ContactRecord]]:
    """The batch without contacts that want an external id of another's, be it in the file or kept."""
    wanted = list({value for line in batch for value in external_ids(line.record)})
    rows = await work.tx.all(HOLDERS, workspace_id=work.workspace_id, external_ids=wanted)
    holders = {str(value): str(contact_id) for value, contact_id in rows}
    sound = []
    for line in batch:
        values = external_ids(line.record)
        taken = next(
            (value for value in values if holders.get(value, line.record.id) != line.record.id), None
        )
        if taken is None:
            holders |= dict.fromkeys(values, line.record.id)
            sound.append(line)
        else:
            refuse_taken(work, line, taken, holders[taken])
    return sound


def refuse_taken(work: Work, line: Numbered[ContactRecord], value: str, holder_id: str) -> None:
    """Of two lines of the file, the later one is the bad one."""
    other = work.spool.numbers("contact", [holder_id]).get(holder_id)
    whose = f"contact {holder_id}" if other is None else f"the contact of line {min(line.number, other)}"
    reason = f"the external id {value!r} belongs to {whose}"
    work.refuse(max(line.number, other or 0), reason, line.record.id)


async def hold_external_ids(work: Work, contacts: Sequence[ContactRecord]) -> None:
    await work.tx.many(
        HOLD,
        [
            {"workspace_id": work.workspace_id, "external_id": value, "contact_id": contact.id}
            for contact in contacts
            for value in external_ids(contact)
        ],
    )


def external_ids(contact: ContactRecord) -> list[str]:
    current = [] if contact.external_id is None else [contact.external_id]
    return list(dict.fromkeys([*current, *contact.former_external_ids]))
