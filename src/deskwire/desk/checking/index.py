"""The search index: exactly what can be searched for is found by something."""

from collections.abc import AsyncIterator, Callable
from typing import Any

from deskwire.model.contact_text import contact_terms
from deskwire.model.contacts import ContactRecord
from deskwire.model.limits import RECORD_BATCH
from deskwire.model.search import message_terms, term_prefix
from deskwire.store import whole
from deskwire.store.search import Subject
from deskwire.store.transaction import Tx
from deskwire.store.whole import START, Wholes

END = "ffffffff-ffff-ffff-ffff-ffffffffffff"


async def check_index(tx: Tx, workspace_id: str) -> AsyncIterator[str]:
    prefix = term_prefix(workspace_id)

    def terms_of_contact(one: ContactRecord) -> str:
        return contact_terms(prefix, one.name, one.email, one.phone) if one.visible() else ""

    async for line in check_subject(tx, workspace_id, Subject.CONTACTS, whole.CONTACTS, terms_of_contact):
        yield line
    async for line in check_subject(
        tx, workspace_id, Subject.MESSAGES, whole.MESSAGES, lambda one: message_terms(workspace_id, one)
    ):
        yield line


async def check_subject(
    tx: Tx,
    workspace_id: str,
    subject: Subject,
    wholes: Wholes[Any],
    terms: Callable[[Any], str],
) -> AsyncIterator[str]:
    after = START
    while after != END:
        kept = await wholes.after(tx, workspace_id, after, RECORD_BATCH)
        until = kept[-1].record.id if kept else END
        wanted = {one.record.id for one in kept if terms(one.record)}
        found = set(await tx.indexed(subject, workspace_id, after, until))
        for id in sorted(wanted ^ found):
            is_now, should_be = ("absent", "there") if id in wanted else ("there", "absent")
            yield f"{subject.value}_terms {id}: the entry is {is_now} and should be {should_be}"
        after = until
