"""The search index: exactly what can be searched for is found by something, and by its own terms alone."""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, NamedTuple

from deskwire.desk.checking.differences import shown
from deskwire.model.limits import RECORD_BATCH
from deskwire.model.search import contact_terms, message_terms, term_prefix
from deskwire.store import whole
from deskwire.store.search import Found, Subject
from deskwire.store.transaction import Tx
from deskwire.store.whole import START, Wholes

END = "ffffffff-ffff-ffff-ffff-ffffffffffff"
# When more terms than these find what they should not, a person needs no further one to see what happened.
SHOWN_TERMS = 1_000


class Indexed(NamedTuple):
    """What a subject's index is of, and the terms that should find one of a workspace."""

    subject: Subject
    wholes: Wholes[Any]
    terms: Callable[[str, Any], str]

    def terms_of(self, workspace_id: str, record: Any) -> set[str]:
        return set(self.terms(workspace_id, record).split())


INDEXED = (
    Indexed(Subject.CONTACTS, whole.CONTACTS, contact_terms),
    Indexed(Subject.MESSAGES, whole.MESSAGES, message_terms),
)


class Batch(NamedTuple):
    """Things that follow each other by id: the terms that each should have, and which have an entry."""

    wanted: dict[str, set[str]]
    found: set[str]


async def check_index(tx: Tx, workspace_ids: Sequence[str]) -> AsyncIterator[str]:
    """Workspaces whose terms begin alike are looked over together: an index may not tell them apart.

    How many things each term finds says at once whether any of them has wrong terms; which one, only
    another look at all of them.
    """
    for indexed in INDEXED:
        wanted: Counter[str] = Counter()
        for workspace_id in workspace_ids:
            async for batch in batches(tx, indexed, workspace_id):
                for line in entry_differences(indexed, batch):
                    yield line
                for id in batch.found & batch.wanted.keys():
                    wanted.update(batch.wanted[id])
        found = await tx.term_counts(indexed.subject, workspace_ids, term_prefix(workspace_ids[0]))
        differing = {term for term in wanted.keys() | found.keys() if wanted[term] != found.get(term, 0)}
        if differing:
            async for line in check_terms(tx, indexed, workspace_ids, sorted(differing)[:SHOWN_TERMS]):
                yield line


async def batches(tx: Tx, indexed: Indexed, workspace_id: str) -> AsyncIterator[Batch]:
    after = START
    while after != END:
        kept = await indexed.wholes.after(tx, workspace_id, after, RECORD_BATCH)
        until = kept[-1].record.id if kept else END
        wanted = {one.record.id: indexed.terms_of(workspace_id, one.record) for one in kept}
        yield Batch(wanted, set(await tx.indexed(indexed.subject, workspace_id, after, until)))
        after = until


def entry_differences(indexed: Indexed, batch: Batch) -> list[str]:
    wanted = {id for id, terms in batch.wanted.items() if terms}
    return [entry_difference(indexed, id, is_wanted=id in wanted) for id in sorted(wanted ^ batch.found)]


def entry_difference(indexed: Indexed, id: str, *, is_wanted: bool) -> str:
    is_now, should_be = ("absent", "there") if is_wanted else ("there", "absent")
    return f"{indexed.subject.value}_terms {id}: the entry is {is_now} and should be {should_be}"


async def check_terms(
    tx: Tx, indexed: Indexed, workspace_ids: Sequence[str], differing: Sequence[str]
) -> AsyncIterator[str]:
    """What one of these terms should find and does not, or the other way round; whole entries are told."""
    found: defaultdict[Found, set[str]] = defaultdict(set)
    for term in differing:
        for thing in await tx.found_by(indexed.subject, workspace_ids, term):
            found[thing].add(term)
    for thing in found:
        if thing.workspace_id is None:
            yield entry_difference(indexed, thing.id, is_wanted=False)
    for workspace_id in workspace_ids:
        async for batch in batches(tx, indexed, workspace_id):
            for id, terms in batch.wanted.items():
                if terms and id in batch.found:
                    has = found.get(Found(workspace_id, id), set())
                    for line in term_differences(indexed, id, has, terms.intersection(differing)):
                        yield line


def term_differences(indexed: Indexed, id: str, has: set[str], wanted: set[str]) -> Iterator[str]:
    for terms, is_now, should_be in ((wanted - has, "absent", "there"), (has - wanted, "there", "absent")):
        if terms:
            yield (
                f"{indexed.subject.value}_terms {id}: the terms {shown(sorted(terms))} are {is_now} "
                f"and should be {should_be}"
            )
