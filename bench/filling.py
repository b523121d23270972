"""Fills a database straight into its tables, quicker than an import would, with what an import would write.

Other processes make the rows; this one writes them.
"""

import multiprocessing
import os
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, TypeVar, cast

import msgspec

from bench.records import (
    BEGIN,
    CHANNEL_TAG,
    CONTACT_TAG,
    TAGS,
    Record,
    Size,
    channel,
    channel_of,
    contact,
    ident,
    member,
    message,
    moment,
    parts,
    records_of,
)
from deskwire.desk.importing.contacts import HOLD
from deskwire.desk.importing.messages import SET_LAST_NUMBER
from deskwire.desk.importing.tags import CHANNEL_CATALOGUE, CONTACT_CATALOGUE
from deskwire.model.channels import ChannelRecord, ChannelTagRecord
from deskwire.model.contacts import ContactRecord, ContactTagRecord
from deskwire.model.lines import decode_line
from deskwire.model.messages import MessageRecord
from deskwire.model.moments import Moment
from deskwire.model.people import MemberRecord
from deskwire.model.search import contact_terms, message_terms
from deskwire.store import kinds
from deskwire.store.records import put_all, row_of
from deskwire.store.search import Entry, Subject
from deskwire.store.statement import Statement, Value
from deskwire.store.transaction import Store, Tx

T = TypeVar("T")

# Each transaction has so many parts: a commit costs little then, and the log stays small.
PARTS_AT_ONCE = 10
# So many parts are made ahead by each process.
AHEAD = 4

Rows = list[dict[str, Value]]


class Made(NamedTuple):
    """Rows for one statement after another, what is found by its words, and the tags that were used."""

    rows: list[tuple[str, Rows]]
    found: list[Entry]
    tags: list[str]


@dataclass(frozen=True)
class Numbering:
    """What the messages of all channels make of these: how many each has, and the number of its last one."""

    counts: Sequence[int]
    lasts: Sequence[int]


STATEMENTS: dict[str, Statement] = {
    "contact": kinds.CONTACTS.insert,
    "external id": HOLD,
    "contact tag": CONTACT_CATALOGUE.link,
    "channel": kinds.CHANNELS.insert,
    "channel tag": CHANNEL_CATALOGUE.link,
    "last number": SET_LAST_NUMBER,
    "message": kinds.MESSAGES.insert,
}


async def fill(store: Store, workspace_id: str, size: Size) -> None:
    counts, lasts = counted(size)
    processes = os.cpu_count() or 1
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:

        def made(
            make: Callable[..., Made],
            count: int,
            beside: Callable[[range], tuple[object, ...]] = lambda _: (),
        ) -> Iterator[Made]:
            asked = (
                pool.submit(make, workspace_id, size, numbers, *beside(numbers)) for numbers in parts(count)
            )
            return in_turn(asked, processes * AHEAD)

        used: Counter[str] = Counter()
        await store.write(lambda tx: put_what_is_referred_to(tx, workspace_id, used))
        for part in in_groups(made(make_contacts, size.contacts)):
            used.update(tag for one in part for tag in one.tags)
            await write(store, workspace_id, Subject.CONTACTS, part)

        def numbering(numbers: range) -> tuple[Numbering]:
            here = slice(numbers.start, numbers.stop)
            return (Numbering(counts[here], lasts[here]),)

        for part in in_groups(made(make_channels, size.channels, numbering)):
            await write(store, workspace_id, None, part)
        await store.write(lambda tx: put_what_is_referred_to(tx, workspace_id, used))
        given = array("L", bytes(array("L").itemsize * size.channels))
        for part in in_groups(
            made(make_messages, size.messages, lambda numbers: (seqs(given, numbers, size),))
        ):
            await write(store, workspace_id, Subject.MESSAGES, part)
    await store.analyse()


def counted(size: Size) -> tuple["array[int]", "array[int]"]:
    """How many messages each channel gets, and which is its last."""
    counts = array("L", bytes(array("L").itemsize * size.channels))
    lasts = array("L", counts)
    for number in range(size.messages):
        of = channel_of(number, size)
        counts[of] += 1
        lasts[of] = number
    return counts, lasts


def seqs(given: "array[int]", numbers: range, size: Size) -> list[int]:
    """The numbers of the messages within their channels."""
    found = []
    for number in numbers:
        of = channel_of(number, size)
        given[of] += 1
        found.append(given[of])
    return found


def in_turn(asked: Iterable[Future[T]], ahead: int) -> Iterator[T]:
    under_way: deque[Future[T]] = deque()
    for future in asked:
        under_way.append(future)
        if len(under_way) > ahead:
            yield under_way.popleft().result()
    while under_way:
        yield under_way.popleft().result()


def in_groups(made: Iterable[Made]) -> Iterator[list[Made]]:
    group: list[Made] = []
    for one in made:
        group.append(one)
        if len(group) == PARTS_AT_ONCE:
            yield group
            group = []
    if group:
        yield group


async def write(store: Store, workspace_id: str, subject: Subject | None, made: Sequence[Made]) -> None:
    async def operation(tx: Tx) -> None:
        for one in made:
            for name, rows in one.rows:
                await tx.many(STATEMENTS[name], rows)
        if subject is not None:
            await tx.index(subject, workspace_id, [entry for one in made for entry in one.found])

    await store.write(operation)


async def put_what_is_referred_to(tx: Tx, workspace_id: str, used: Counter[str]) -> None:
    begin = Moment(int(BEGIN.timestamp() * 1_000_000))
    await put_all(tx, kinds.MEMBERS, workspace_id, [decoded(member(), MemberRecord)])
    await put_all(
        tx,
        kinds.CONTACT_TAGS,
        workspace_id,
        [
            ContactTagRecord(id=tag_id(CONTACT_TAG, tag), created_at=begin, name=tag, usage_count=used[tag])
            for tag in TAGS
        ],
    )
    await put_all(
        tx,
        kinds.CHANNEL_TAGS,
        workspace_id,
        [ChannelTagRecord(id=tag_id(CHANNEL_TAG, tag), created_at=begin, name=tag) for tag in TAGS],
    )


def make_contacts(workspace_id: str, size: Size, numbers: range) -> Made:
    contacts = [decoded(record, ContactRecord) for record in records_of(contact, numbers, size)]
    held: Rows = [
        {"workspace_id": workspace_id, "external_id": one.external_id, "contact_id": one.id}
        for one in contacts
    ]
    links: Rows = [
        {
            "workspace_id": workspace_id,
            "contact_id": one.id,
            "tag_id": tag_id(CONTACT_TAG, tag),
            "position": position,
        }
        for one in contacts
        for position, tag in enumerate(one.tags)
    ]
    rows = [row_of(kinds.CONTACTS, workspace_id, one) for one in contacts]
    found = [Entry(one.id, one.created_at, contact_terms(workspace_id, one)) for one in contacts]
    tags = [tag for one in contacts for tag in one.tags]
    return Made([("contact", rows), ("external id", held), ("contact tag", links)], found, tags)


def make_channels(workspace_id: str, size: Size, numbers: range, numbering: Numbering) -> Made:
    channels = [decoded(record, ChannelRecord) for record in records_of(channel, numbers, size)]
    for one, count, last in zip(channels, numbering.counts, numbering.lasts, strict=True):
        one.message_count = count
        if count:
            one.last_message_at = Moment(int(moment(last, size.messages).timestamp() * 1_000_000))
    links: Rows = [
        {
            "workspace_id": workspace_id,
            "channel_id": one.id,
            "tag_id": tag_id(CHANNEL_TAG, tag),
            "position": position,
            "channel_created_at": one.created_at,
        }
        for one in channels
        for position, tag in enumerate(one.tags)
    ]
    numbered: Rows = [
        {"workspace_id": workspace_id, "channel": one.id, "last_seq": one.message_count} for one in channels
    ]
    rows = [row_of(kinds.CHANNELS, workspace_id, one) for one in channels]
    return Made([("channel", rows), ("channel tag", links), ("last number", numbered)], [], [])


def make_messages(workspace_id: str, size: Size, numbers: range, given: Sequence[int]) -> Made:
    messages = [decoded(record, MessageRecord) for record in records_of(message, numbers, size)]
    rows = [
        row_of(kinds.MESSAGES, workspace_id, one, seq=seq) for one, seq in zip(messages, given, strict=True)
    ]
    found = [Entry(one.id, one.created_at, message_terms(workspace_id, one)) for one in messages]
    return Made([("message", rows)], found, [])


def decoded(record: Record, _: type[T]) -> T:
    """As an import reads it."""
    return cast(T, decode_line(msgspec.json.encode(record)))


def tag_id(kind: int, tag: str) -> str:
    return ident(kind, TAGS.index(tag), BEGIN)
