"""The search index: exactly what can be searched for is found by something."""

from collections.abc import AsyncIterator, Callable
from typing import Any

from deskwire.model.limits import RECORD_BATCH
from deskwire.model.search import contact_terms, message_terms
from deskwire.store import whole
from deskwire.store.search import Subject
from deskwire.store.transaction import Tx
from deskwire.store.whole import START, Wholes

END = "ffffffff-ffff-ffff-ffff-ffffffffffff"


async def check_index(tx: Tx, workspace_id: str) -> AsyncIterator[str]:
    async for line in check_subject(
        tx, workspace_id, Subject.CONTACTS, whole.CONTACTS, lambda one: contact_terms(workspace_id, one)
    ):
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
