"""The two catalogues of tags: their records, and the tags that contacts and channels merely name."""

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from sqlalchemy import Table, bindparam, delete, func, insert, select, update

from deskwire.desk.identity import new_id
from deskwire.desk.importing.work import Numbered, Work, records
from deskwire.model.channels import ChannelRecord, ChannelTagRecord
from deskwire.model.contacts import ContactRecord, ContactTagRecord
from deskwire.model.limits import RECORD_BATCH
from deskwire.store import kinds, tables, whole
from deskwire.store.kinds import Kind
from deskwire.store.records import put_all
from deskwire.store.statement import Among, Statement, Value
from deskwire.store.whole import START, Wholes

T = TypeVar("T", ContactTagRecord, ChannelTagRecord)
C = TypeVar("C", ContactRecord, ChannelRecord)

# No tag is called so: a name that is about to change hands stands aside under it and the tag's id.
ASIDE = "\x01"


class Catalogue(Generic[T, C]):
    """The tags of contacts, or those of channels."""

    def __init__(
        self, line: str, record: type[T], kind: Kind[T], links: Table, carrier: str, carriers: Wholes[C]
    ) -> None:
        self.line = line
        self.record: type[T] = record
        self.kind: Kind[T] = kind
        self.carrier = carrier
        self.carriers: Wholes[C] = carriers
        tags, mine = kind.table, links.c.workspace_id == bindparam("workspace_id")
        of_workspace = tags.c.workspace_id == bindparam("workspace_id")
        self.by_name = Statement(
            select(tags.c.id, tags.c.name).where(of_workspace, Among(tags.c.name, "names"))
        )
        self.by_id = Statement(select(tags.c.id, tags.c.name).where(of_workspace, Among(tags.c.id, "ids")))
        self.set_name = Statement(
            update(tags).where(of_workspace, tags.c.id == bindparam("tag")).values(name=bindparam("name"))
        )
        self.remove = Statement(delete(tags).where(of_workspace, tags.c.id == bindparam("tag")))
        self.link = Statement(insert(links))
        self.unlink = Statement(delete(links).where(mine, Among(links.c[carrier], "ids")))
        others = links.alias("others")
        self.unlink_doubles = Statement(
            delete(links).where(
                mine,
                links.c.tag_id == bindparam("tag"),
                links.c[carrier].in_(
                    select(others.c[carrier]).where(
                        others.c.workspace_id == bindparam("workspace_id"),
                        others.c.tag_id == bindparam("successor"),
                    )
                ),
            )
        )
        self.relink = Statement(
            update(links)
            .where(mine, links.c.tag_id == bindparam("tag"))
            .values(tag_id=bindparam("successor"))
        )
        self.carrying = Statement(
            select(links.c[carrier])
            .where(mine, links.c.tag_id == bindparam("tag"), links.c[carrier] > bindparam("after"))
            .order_by(links.c[carrier])
            .limit(bindparam("limit"))
        )
        self.usage = Statement(
            select(links.c.tag_id, func.count())
            .where(mine, Among(links.c.tag_id, "ids"))
            .group_by(links.c.tag_id)
        )


CONTACT_CATALOGUE = Catalogue(
    "contact_tag",
    ContactTagRecord,
    kinds.CONTACT_TAGS,
    tables.CONTACT_TAG_LINKS,
    "contact_id",
    whole.CONTACTS,
)
CHANNEL_CATALOGUE = Catalogue(
    "channel_tag",
    ChannelTagRecord,
    kinds.CHANNEL_TAGS,
    tables.CHANNEL_TAG_LINKS,
    "channel_id",
    whole.CHANNELS,
)


async def import_tags(work: Work, catalogue: Catalogue[T, C]) -> None:
    """Tags of the file may exchange names, so all names that change are given up before any is taken."""
    for batch in work.batches(catalogue.record, catalogue.line):
        await give_up_names(work, catalogue, records(batch))
    for batch in work.batches(catalogue.record, catalogue.line):
        await put_tags(work, catalogue, records(await without_doubles(work, catalogue, batch)))


async def give_up_names(work: Work, catalogue: Catalogue[T, C], tags: Sequence[T]) -> None:
    names = await names_by_id(work, catalogue, [tag.id for tag in tags])
    await stand_aside(work, catalogue, [tag.id for tag in tags if names.get(tag.id, tag.name) != tag.name])


async def without_doubles(
    work: Work, catalogue: Catalogue[T, C], batch: list[Numbered[T]]
) -> list[Numbered[T]]:
    """The batch without lines that give a name to a second tag of the file; the later line is the bad one."""
    held = await ids_by_name(work, catalogue, [line.record.name for line in batch])
    numbers = work.spool.numbers(catalogue.line, list(held.values()))
    holders = {name: Numbered(numbers[id], id) for name, id in held.items() if id in numbers}
    sound = []
    for line in batch:
        number, id = holders.setdefault(line.record.name, Numbered(line.number, line.record.id))
        if id == line.record.id:
            sound.append(line)
            continue
        later, earlier = max(number, line.number), min(number, line.number)
        work.refuse(
            later, f"name: the tag of line {earlier} is called {line.record.name!r} too", line.record.id
        )
    return sound


async def put_tags(work: Work, catalogue: Catalogue[T, C], tags: Sequence[T]) -> None:
    before = await names_by_id(work, catalogue, [tag.id for tag in tags])
    held = await ids_by_name(work, catalogue, [tag.name for tag in tags])
    successors = {held[tag.name]: tag.id for tag in tags if held.get(tag.name, tag.id) != tag.id}
    await stand_aside(work, catalogue, list(successors))
    await put_all(work.tx, catalogue.kind, work.workspace_id, tags)
    for tag, successor in successors.items():
        values = {"workspace_id": work.workspace_id, "tag": tag}
        await work.tx.run(catalogue.unlink_doubles, **values, successor=successor)
        await work.tx.run(catalogue.relink, **values, successor=successor)
        await work.tx.run(catalogue.remove, **values)
    for id, name in before.items():
        if name.startswith(ASIDE):
            await render_carriers(work, catalogue, id)


async def stand_aside(work: Work, catalogue: Catalogue[T, C], ids: Sequence[str]) -> None:
    await work.tx.many(
        catalogue.set_name,
        [{"workspace_id": work.workspace_id, "tag": id, "name": ASIDE + id} for id in ids],
    )


async def render_carriers(work: Work, catalogue: Catalogue[T, C], tag_id: str) -> None:
    values = {"workspace_id": work.workspace_id, "tag": tag_id}
    after = START
    while rows := await work.tx.all(catalogue.carrying, **values, after=after, limit=RECORD_BATCH):
        ids = [str(row[0]) for row in rows]
        kept = await catalogue.carriers.among(work.tx, work.workspace_id, ids)
        await put_all(
            work.tx, catalogue.carriers.kind, work.workspace_id, [carrier.record for carrier in kept]
        )
        after = ids[-1]


async def link_tags(
    work: Work,
    catalogue: Catalogue[T, C],
    carriers: Sequence[C],
    beside: Callable[[C], dict[str, Value]] = lambda _: {},
) -> None:
    """Sees to it that the carriers carry exactly the tags that they name."""
    ids = await tag_ids(work, catalogue, [name for carrier in carriers for name in carrier.tags])
    await work.tx.run(
        catalogue.unlink, workspace_id=work.workspace_id, ids=[carrier.id for carrier in carriers]
    )
    await work.tx.many(
        catalogue.link,
        [
            {
                "workspace_id": work.workspace_id,
                catalogue.carrier: carrier.id,
                "tag_id": ids[name],
                "position": position,
                **beside(carrier),
            }
            for carrier in carriers
            for position, name in enumerate(carrier.tags)
        ],
    )


async def tag_ids(work: Work, catalogue: Catalogue[T, C], names: Iterable[str]) -> dict[str, str]:
    """The ids of the tags of these names; those that are not there are made."""
    wanted = list(dict.fromkeys(names))
    ids = await ids_by_name(work, catalogue, wanted)
    made = [
        catalogue.record(id=new_id(), created_at=work.tx.now, name=name) for name in wanted if name not in ids
    ]
    await put_all(work.tx, catalogue.kind, work.workspace_id, made)
    return ids | {tag.name: tag.id for tag in made}


async def names_by_id(work: Work, catalogue: Catalogue[T, C], ids: Sequence[str]) -> dict[str, str]:
    rows = await work.tx.all(catalogue.by_id, workspace_id=work.workspace_id, ids=ids)
    return {str(id): str(name) for id, name in rows}


async def ids_by_name(work: Work, catalogue: Catalogue[T, C], names: Sequence[str]) -> dict[str, str]:
    rows = await work.tx.all(catalogue.by_name, workspace_id=work.workspace_id, names=names)
    return {str(name): str(id) for id, name in rows}


async def count_usage(work: Work) -> None:
    """Gives every contact tag of the workspace the number of contacts that carry it now."""
    after = START
    while kept := await whole.CONTACT_TAGS.after(work.tx, work.workspace_id, after, RECORD_BATCH):
        ids = [tag.id for tag, _ in kept]
        rows = await work.tx.all(CONTACT_CATALOGUE.usage, workspace_id=work.workspace_id, ids=ids)
        counts = {str(id): count for id, count in rows}
        changed = []
        for tag, _ in kept:
            count = counts.get(tag.id, 0)
            assert isinstance(count, int)
            if count != tag.usage_count:
                tag.usage_count = count
                changed.append(tag)
        await put_all(work.tx, kinds.CONTACT_TAGS, work.workspace_id, changed)
        after = ids[-1]
