"""Whole records: a row's columns with what other tables keep of them, such as tags and members."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, NamedTuple

import msgspec
from sqlalchemy import Table, and_, bindparam, select

from deskwire.model.connections import VoiceCallRecord
from deskwire.store import kinds, tables
from deskwire.store.kinds import Kind, R
from deskwire.store.records import from_row
from deskwire.store.statement import Among, Row, Statement, Value
from deskwire.store.transaction import Tx

START = "00000000-0000-0000-0000-000000000000"

Joined = dict[str, dict[str, Any]]


class Kept(NamedTuple, Generic[R]):
    """A record, and the columns asked for beside it."""

    record: R
    beside: Row


class Wholes(Generic[R]):
    """How the records of a kind are read whole, with further columns of their rows beside them."""

    def __init__(self, kind: Kind[R], *beside: str) -> None:
        self.kind = kind
        self._size = len(kind.columns)
        columns = [kind.table.c[name] for name in (*kind.columns, *beside)]
        mine = select(*columns).where(kind.table.c.workspace_id == bindparam("workspace_id"))
        self._among = Statement(mine.where(Among(kind.table.c.id, "ids")).order_by(kind.table.c.id))
        self._after = Statement(
            mine.where(kind.table.c.id > bindparam("after"))
            .order_by(kind.table.c.id)
            .limit(bindparam("limit"))
        )

    async def among(self, tx: Tx, workspace_id: str, ids: Sequence[str]) -> list[Kept[R]]:
        if not ids:
            return []
        return await self._join(
            tx, workspace_id, await tx.all(self._among, workspace_id=workspace_id, ids=ids)
        )

    async def after(self, tx: Tx, workspace_id: str, after: str, limit: int) -> list[Kept[R]]:
        """The next ones in the order of their ids."""
        rows = await tx.all(self._after, workspace_id=workspace_id, after=after, limit=limit)
        return await self._join(tx, workspace_id, rows)

    async def _join(self, tx: Tx, workspace_id: str, rows: Sequence[Row]) -> list[Kept[R]]:
        at = self.kind.columns.index("id")
        join = JOINS.get(self.kind.noun)
        ids = [str(row[at]) for row in rows]
        joined: Joined = {} if join is None or not ids else await join(tx, workspace_id, ids)
        return [
            Kept(
                from_row(self.kind, tuple(row[: self._size]), **joined.get(id, {})), tuple(row[self._size :])
            )
            for id, row in zip(ids, rows, strict=True)
        ]


async def existing(tx: Tx, kind: Kind[R], workspace_id: str, ids: Sequence[str]) -> set[str]:
    """Those of the ids that are there, shown or not."""
    if not ids:
        return set()
    return {str(row[0]) for row in await tx.all(EXISTING[kind.noun], workspace_id=workspace_id, ids=ids)}


async def as_shown(tx: Tx, workspace_id: str, calls: Sequence[VoiceCallRecord]) -> list[VoiceCallRecord]:
    """The calls without the channels and contacts that were deleted."""
    channel_ids = [call.channel_id for call in calls if call.channel_id]
    contact_ids = [call.contact_id for call in calls if call.contact_id]
    rows = await tx.all(VISIBLE_CHANNELS, workspace_id=workspace_id, ids=channel_ids)
    channels = {row[0] for row in rows}
    contacts = await existing(tx, kinds.CONTACTS, workspace_id, contact_ids)
    return [
        msgspec.structs.replace(
            call,
            channel_id=call.channel_id if call.channel_id in channels else None,
            contact_id=call.contact_id if call.contact_id in contacts else None,
        )
        for call in calls
    ]


async def join_contact(tx: Tx, workspace_id: str, ids: Sequence[str]) -> Joined:
    tags = grouped(await tx.all(CONTACT_TAG_NAMES, workspace_id=workspace_id, ids=ids))
    former = grouped(await tx.all(FORMER_EXTERNAL_IDS, workspace_id=workspace_id, ids=ids))
    return {id: {"tags": tags[id], "former_external_ids": former[id]} for id in ids}


async def join_channel(tx: Tx, workspace_id: str, ids: Sequence[str]) -> Joined:
    tags = grouped(await tx.all(CHANNEL_TAG_NAMES, workspace_id=workspace_id, ids=ids))
    return {id: {"tags": tags[id]} for id in ids}


async def join_team(tx: Tx, workspace_id: str, ids: Sequence[str]) -> Joined:
    members = grouped(await tx.all(TEAM_MEMBER_IDS, workspace_id=workspace_id, ids=ids))
    return {id: {"member_ids": members[id]} for id in ids}


async def join_message(tx: Tx, workspace_id: str, ids: Sequence[str]) -> Joined:
    linked = grouped(await tx.all(MESSAGE_ATTACHMENT_IDS, workspace_id=workspace_id, ids=ids))
    named = list({str(id) for attached in linked.values() for id in attached})
    attachments = {kept.record.id: kept.record for kept in await ATTACHMENTS.among(tx, workspace_id, named)}
    shown = {id: attachment.reference() for id, attachment in attachments.items() if attachment.visible()}
    return {
        id: {
            "attachment_ids": linked[id],
            "attachments": [shown[str(one)] for one in linked[id] if str(one) in shown],
        }
        for id in linked
    }


def grouped(rows: Sequence[Row]) -> defaultdict[str, list[Value]]:
    """The second column of the rows, by the first."""
    groups: defaultdict[str, list[Value]] = defaultdict(list)
    for owner, value in rows:
        groups[str(owner)].append(value)
    return groups


def tag_names(links: Table, carrier: str, tags: Table) -> Statement:
    return Statement(
        select(links.c[carrier], tags.c.name)
        .join(tags, and_(tags.c.workspace_id == links.c.workspace_id, tags.c.id == links.c.tag_id))
        .where(links.c.workspace_id == bindparam("workspace_id"), Among(links.c[carrier], "ids"))
        .order_by(links.c[carrier], links.c.position)
    )


def linked_ids(links: Table, owner: str, linked: str) -> Statement:
    return Statement(
        select(links.c[owner], links.c[linked])
        .where(links.c.workspace_id == bindparam("workspace_id"), Among(links.c[owner], "ids"))
        .order_by(links.c[owner], links.c.position)
    )


CONTACT_TAG_NAMES = tag_names(tables.CONTACT_TAG_LINKS, "contact_id", tables.CONTACT_TAGS)
CHANNEL_TAG_NAMES = tag_names(tables.CHANNEL_TAG_LINKS, "channel_id", tables.CHANNEL_TAGS)
TEAM_MEMBER_IDS = linked_ids(tables.TEAM_MEMBERS, "team_id", "member_id")
MESSAGE_ATTACHMENT_IDS = linked_ids(tables.MESSAGE_ATTACHMENTS, "message_id", "attachment_id")
FORMER_EXTERNAL_IDS = Statement(
    select(tables.CONTACT_EXTERNAL_IDS.c.contact_id, tables.CONTACT_EXTERNAL_IDS.c.external_id)
    .join(
        tables.CONTACTS,
        and_(
            tables.CONTACTS.c.workspace_id == tables.CONTACT_EXTERNAL_IDS.c.workspace_id,
            tables.CONTACTS.c.id == tables.CONTACT_EXTERNAL_IDS.c.contact_id,
        ),
    )
    .where(
        tables.CONTACT_EXTERNAL_IDS.c.workspace_id == bindparam("workspace_id"),
        Among(tables.CONTACT_EXTERNAL_IDS.c.contact_id, "ids"),
        tables.CONTACT_EXTERNAL_IDS.c.external_id.is_distinct_from(tables.CONTACTS.c.external_id),
    )
    .order_by(tables.CONTACT_EXTERNAL_IDS.c.contact_id, tables.CONTACT_EXTERNAL_IDS.c.external_id)
)
VISIBLE_CHANNELS = Statement(
    select(tables.CHANNELS.c.id).where(
        tables.CHANNELS.c.workspace_id == bindparam("workspace_id"),
        Among(tables.CHANNELS.c.id, "ids"),
        tables.CHANNELS.c.visible,
    )
)
EXISTING = {
    kind.noun: Statement(
        select(kind.table.c.id).where(
            kind.table.c.workspace_id == bindparam("workspace_id"), Among(kind.table.c.id, "ids")
        )
    )
    for kind in (
        kinds.MEMBERS,
        kinds.TEAMS,
        kinds.CONTACTS,
        kinds.CHANNELS,
        kinds.ATTACHMENTS,
        kinds.MESSAGES,
    )
}
JOINS: dict[str, Callable[[Tx, str, Sequence[str]], Awaitable[Joined]]] = {
    kinds.CONTACTS.noun: join_contact,
    kinds.CHANNELS.noun: join_channel,
    kinds.TEAMS.noun: join_team,
    kinds.MESSAGES.noun: join_message,
}

MEMBERS = Wholes(kinds.MEMBERS)
TEAMS = Wholes(kinds.TEAMS)
CONTACTS = Wholes(kinds.CONTACTS)
CONTACT_TAGS = Wholes(kinds.CONTACT_TAGS)
CHANNELS = Wholes(kinds.CHANNELS)
CHANNEL_TAGS = Wholes(kinds.CHANNEL_TAGS)
MESSAGES = Wholes(kinds.MESSAGES, "seq")
ATTACHMENTS = Wholes(kinds.ATTACHMENTS, "file_key")
TASKS = Wholes(kinds.TASKS)
CAMPAIGNS = Wholes(kinds.CAMPAIGNS)
MACROS = Wholes(kinds.MACROS)
INTEGRATIONS = Wholes(kinds.INTEGRATIONS)
WORKFLOWS = Wholes(kinds.WORKFLOWS)
AI_AGENTS = Wholes(kinds.AI_AGENTS)
VOICE_CALLS = Wholes(kinds.VOICE_CALLS)
