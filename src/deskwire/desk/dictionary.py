"""The two catalogues of tags, as writes use them: names found, made where they are missing, and counted."""

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from sqlalchemy import BindParameter, Table, and_, bindparam, delete, insert, select
from sqlalchemy.dialects.postgresql import insert as insert_or_leave

from deskwire.desk.identity import new_id
from deskwire.model.channels import ChannelTagRecord
from deskwire.model.contacts import ContactTagRecord
from deskwire.store import kinds, tables
from deskwire.store.kinds import Kind
from deskwire.store.records import from_row, put, row_of
from deskwire.store.statement import Among, Row, Statement
from deskwire.store.transaction import Tx

T = TypeVar("T", ContactTagRecord, ChannelTagRecord)


class Dictionary(Generic[T]):
    """The tags of a workspace and what links them to a contact or a channel."""

    def __init__(self, kind: Kind[T], links: Table, carrier: str) -> None:
        self.kind: Kind[T] = kind
        self.carrier = carrier
        tags = kind.table
        mine = tags.c.workspace_id == bindparam("workspace_id")
        columns = [tags.c[name] for name in kind.columns]
        by_name = select(*columns).where(mine, Among(tags.c.name, "names")).order_by(tags.c.id)
        self._find = Statement(by_name)
        self._lock = Statement(by_name.with_for_update())
        self._names_of = Statement(select(tags.c.id, tags.c.name).where(mine, Among(tags.c.id, "ids")))
        values: dict[str, BindParameter[object]] = {
            name: bindparam(name) for name in (*kind.columns, "visible", "document")
        }
        self._make = Statement(
            insert_or_leave(tags)
            .values(workspace_id=bindparam("workspace_id"), **values)
            .on_conflict_do_nothing(index_elements=["workspace_id", "name"])
        )
        self._link = Statement(insert(links))
        self._unlink = Statement(
            delete(links).where(
                and_(
                    links.c.workspace_id == bindparam("workspace_id"),
                    links.c[carrier] == bindparam("carrier_id"),
                    Among(links.c.tag_id, "tag_ids"),
                )
            )
        )
        self._last_position = Statement(
            select(links.c.position)
            .where(
                links.c.workspace_id == bindparam("workspace_id"), links.c[carrier] == bindparam("carrier_id")
            )
            .order_by(links.c.position.desc())
            .limit(1)
        )

    async def names_of(self, tx: Tx, workspace_id: str, ids: Sequence[str]) -> list[str]:
        """The current names of tags, in the order of their ids; an id of none is passed over."""
        if not ids:
            return []
        rows = await tx.all(self._names_of, workspace_id=workspace_id, ids=ids)
        names = {str(id): str(name) for id, name in rows}
        return [names[id] for id in ids if id in names]

    async def find(self, tx: Tx, workspace_id: str, names: Sequence[str]) -> dict[str, T]:
        """Those that there are, by name."""
        return self._by_name(await tx.all(self._find, workspace_id=workspace_id, names=names))

    async def lock(self, tx: Tx, workspace_id: str, names: Sequence[str]) -> dict[str, T]:
        """Those that there are, by name, and nobody else's until the transaction ends.

        Comes after `find_or_make`, which waits for others: to hold a tag meanwhile would be to deadlock.
        """
        return self._by_name(await tx.all(self._lock, workspace_id=workspace_id, names=names))

    async def find_or_make(self, tx: Tx, workspace_id: str, names: Sequence[str]) -> dict[str, T]:
        found = await self.find(tx, workspace_id, names)
        missing = [name for name in names if name not in found]
        if not missing:
            return found
        # Always in the same order, so that two transactions never wait for each other.
        for name in sorted(missing):
            tag = self.kind.record(id=new_id(), created_at=tx.now, name=name)
            await tx.run(self._make, **row_of(self.kind, workspace_id, tag))
        return await self.find(tx, workspace_id, names)

    def _by_name(self, rows: Sequence[Row]) -> dict[str, T]:
        return {tag.name: tag for tag in (from_row(self.kind, row) for row in rows)}

    async def link(
        self, tx: Tx, workspace_id: str, carrier_id: str, tags: Iterable[T], **beside: int
    ) -> None:
        last = await tx.one(self._last_position, workspace_id=workspace_id, carrier_id=carrier_id)
        position = 0 if last is None else int(str(last[0])) + 1
        for offset, tag in enumerate(tags):
            await tx.run(
                self._link,
                workspace_id=workspace_id,
                tag_id=tag.id,
                position=position + offset,
                **{self.carrier: carrier_id},
                **beside,
            )

    async def unlink(self, tx: Tx, workspace_id: str, carrier_id: str, tags: Iterable[T]) -> None:
        await tx.run(
            self._unlink,
            workspace_id=workspace_id,
            carrier_id=carrier_id,
            tag_ids=[tag.id for tag in tags],
        )


CONTACT_TAGS = Dictionary(kinds.CONTACT_TAGS, tables.CONTACT_TAG_LINKS, "contact_id")
CHANNEL_TAGS = Dictionary(kinds.CHANNEL_TAGS, tables.CHANNEL_TAG_LINKS, "channel_id")


async def count_usage(tx: Tx, workspace_id: str, tags: Iterable[ContactTagRecord], change: int) -> None:
    """The tags are locked, so nobody else counts at the same time."""
    for tag in tags:
        tag.usage_count += change
        await put(tx, kinds.CONTACT_TAGS, workspace_id, tag)
