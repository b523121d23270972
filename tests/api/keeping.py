"""Puts records of the record format into a workspace, with the links and counts that follow from them."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Table, and_, bindparam, delete, func, select

from deskwire.model.channels import ChannelRecord, ChannelTagRecord
from deskwire.model.connections import (
    AiAgentRecord,
    IntegrationRecord,
    VoiceCallRecord,
    WorkflowRecord,
)
from deskwire.model.contact_text import contact_terms
from deskwire.model.contacts import ContactRecord, ContactTagRecord
from deskwire.model.lines import BusinessHoursLine
from deskwire.model.messages import AttachmentRecord, MessageRecord
from deskwire.model.moments import Moment, decode_moment
from deskwire.model.people import MemberRecord, TeamRecord
from deskwire.model.search import message_terms, term_prefix
from deskwire.model.work import CampaignRecord, MacroRecord, TaskRecord
from deskwire.store import kinds, tables
from deskwire.store.records import find_document, load, put
from deskwire.store.search import Entry, Subject
from deskwire.store.statement import Statement, Value, upsert
from deskwire.store.transaction import Tx
from tests.api.records import JsonRecord, new_id

AnyRecord = (
    MemberRecord
    | TeamRecord
    | ContactTagRecord
    | ChannelTagRecord
    | ContactRecord
    | ChannelRecord
    | AttachmentRecord
    | MessageRecord
    | TaskRecord
    | CampaignRecord
    | MacroRecord
    | IntegrationRecord
    | WorkflowRecord
    | AiAgentRecord
    | VoiceCallRecord
    | BusinessHoursLine
)
R = TypeVar("R")
LINE: msgspec.json.Decoder[AnyRecord] = msgspec.json.Decoder(AnyRecord, dec_hook=decode_moment)

PLAIN: tuple[tuple[type, kinds.Kind[Any]], ...] = (
    (MemberRecord, kinds.MEMBERS),
    (ContactTagRecord, kinds.CONTACT_TAGS),
    (ChannelTagRecord, kinds.CHANNEL_TAGS),
    (TaskRecord, kinds.TASKS),
    (CampaignRecord, kinds.CAMPAIGNS),
    (MacroRecord, kinds.MACROS),
    (IntegrationRecord, kinds.INTEGRATIONS),
    (WorkflowRecord, kinds.WORKFLOWS),
)


def tag_ids(table: Table) -> Statement:
    return Statement(
        select(table.c.id).where(
            table.c.workspace_id == bindparam("workspace_id"), table.c.name == bindparam("name")
        )
    )


def unlink(table: Table, column: str) -> Statement:
    return Statement(
        delete(table).where(
            table.c.workspace_id == bindparam("workspace_id"), table.c[column] == bindparam("owner")
        )
    )


LINK_MEMBER, UNLINK_MEMBERS = upsert(tables.TEAM_MEMBERS), unlink(tables.TEAM_MEMBERS, "team_id")
HOLD_EXTERNAL_ID = upsert(tables.CONTACT_EXTERNAL_IDS)
LINK_ATTACHMENT = upsert(tables.MESSAGE_ATTACHMENTS)
PUT_HOURS = upsert(tables.BUSINESS_HOURS)
CONTACT_TAG_IDS, CHANNEL_TAG_IDS = tag_ids(tables.CONTACT_TAGS), tag_ids(tables.CHANNEL_TAGS)
LINK_CONTACT_TAG = upsert(tables.CONTACT_TAG_LINKS)
UNLINK_CONTACT_TAGS = unlink(tables.CONTACT_TAG_LINKS, "contact_id")
LINK_CHANNEL_TAG = upsert(tables.CHANNEL_TAG_LINKS)
UNLINK_CHANNEL_TAGS = unlink(tables.CHANNEL_TAG_LINKS, "channel_id")
TAG_USAGE = Statement(
    select(func.count()).where(
        tables.CONTACT_TAG_LINKS.c.workspace_id == bindparam("workspace_id"),
        tables.CONTACT_TAG_LINKS.c.tag_id == bindparam("tag_id"),
    )
)
MESSAGES_IN = Statement(
    select(func.count(), func.max(tables.MESSAGES.c.created_at)).where(
        and_(
            tables.MESSAGES.c.workspace_id == bindparam("workspace_id"),
            tables.MESSAGES.c.channel_id == bindparam("channel_id"),
            tables.MESSAGES.c.visible,
        )
    )
)


async def keep(tx: Tx, workspace_id: str, given: Iterable[JsonRecord]) -> None:
    records = [LINE.decode(msgspec.json.encode(each)) for each in given]
    keeper = Keeper(tx, workspace_id)
    for struct, kind in PLAIN:
        plain: list[Any] = of(struct, records)
        for each in plain:
            await put(tx, kind, workspace_id, each)
    for team in of(TeamRecord, records):
        await keeper.keep_team(team)
    for contact in of(ContactRecord, records):
        await keeper.keep_contact(contact)
    for channel in of(ChannelRecord, records):
        await keeper.keep_channel(channel)
    for attachment in of(AttachmentRecord, records):
        await put(tx, kinds.ATTACHMENTS, workspace_id, attachment, file_key=attachment.file)
    messages = of(MessageRecord, records)
    for message in sorted(messages, key=lambda each: each.created_at):
        await keeper.keep_message(message)
    for channel_id in dict.fromkeys(message.channel_id for message in messages):
        await keeper.count_messages(channel_id)
    for call in of(VoiceCallRecord, records):
        await keeper.keep_call(call)
    for agent in of(AiAgentRecord, records):
        agent.id = workspace_id
        await put(tx, kinds.AI_AGENTS, workspace_id, agent)
    for hours in of(BusinessHoursLine, records):
        await tx.run(PUT_HOURS, workspace_id=workspace_id, config=bytes(hours.config))


def of(struct: type[R], records: Sequence[object]) -> list[R]:
    return [each for each in records if isinstance(each, struct)]


class Keeper:
    def __init__(self, tx: Tx, workspace_id: str) -> None:
        self._tx = tx
        self._workspace_id = workspace_id

    async def keep_team(self, team: TeamRecord) -> None:
        await put(self._tx, kinds.TEAMS, self._workspace_id, team)
        await self._run(UNLINK_MEMBERS, owner=team.id)
        for position, member_id in enumerate(team.member_ids):
            await self._run(LINK_MEMBER, team_id=team.id, member_id=member_id, position=position)

    async def keep_contact(self, contact: ContactRecord) -> None:
        await put(self._tx, kinds.CONTACTS, self._workspace_id, contact)
        for value in [*([contact.external_id] if contact.external_id else []), *contact.former_external_ids]:
            await self._run(HOLD_EXTERNAL_ID, external_id=value, contact_id=contact.id)
        await self._run(UNLINK_CONTACT_TAGS, owner=contact.id)
        for position, name in enumerate(contact.tags):
            tag_id = await self._tag_id(CONTACT_TAG_IDS, kinds.CONTACT_TAGS, ContactTagRecord, name)
            await self._run(LINK_CONTACT_TAG, contact_id=contact.id, tag_id=tag_id, position=position)
            tag = await load(self._tx, kinds.CONTACT_TAGS, self._workspace_id, tag_id)
            usage = await self._tx.one(TAG_USAGE, workspace_id=self._workspace_id, tag_id=tag_id)
            assert tag is not None and usage is not None and isinstance(usage[0], int)
            tag.usage_count = usage[0]
            await put(self._tx, kinds.CONTACT_TAGS, self._workspace_id, tag)
        terms = contact_terms(term_prefix(self._workspace_id), contact.name, contact.email, contact.phone)
        entry = Entry(contact.id, contact.created_at, terms)
        await self._tx.index(Subject.CONTACTS, self._workspace_id, [entry])

    async def keep_channel(self, channel: ChannelRecord) -> None:
        await put(self._tx, kinds.CHANNELS, self._workspace_id, channel)
        await self._run(UNLINK_CHANNEL_TAGS, owner=channel.id)
        for position, name in enumerate(channel.tags):
            tag_id = await self._tag_id(CHANNEL_TAG_IDS, kinds.CHANNEL_TAGS, ChannelTagRecord, name)
            await self._run(
                LINK_CHANNEL_TAG,
                channel_id=channel.id,
                tag_id=tag_id,
                position=position,
                channel_created_at=channel.created_at,
            )
        await self.count_messages(channel.id)

    async def keep_message(self, message: MessageRecord) -> None:
        references = []
        for id in message.attachment_ids:
            attachment = await load(self._tx, kinds.ATTACHMENTS, self._workspace_id, id, file=None)
            assert attachment is not None
            if attachment.visible():
                references.append(attachment.reference())
        message.attachments = references
        await put(self._tx, kinds.MESSAGES, self._workspace_id, message, seq=None)
        for position, id in enumerate(message.attachment_ids):
            await self._run(LINK_ATTACHMENT, message_id=message.id, position=position, attachment_id=id)
        entry = Entry(message.id, message.created_at, message_terms(self._workspace_id, message))
        await self._tx.index(Subject.MESSAGES, self._workspace_id, [entry])

    async def count_messages(self, channel_id: str) -> None:
        channel = await load(self._tx, kinds.CHANNELS, self._workspace_id, channel_id, tags=[])
        found = await self._tx.one(MESSAGES_IN, workspace_id=self._workspace_id, channel_id=channel_id)
        assert channel is not None and found is not None and isinstance(found[0], int)
        channel.tags = await self._tags_of(channel_id)
        channel.message_count = found[0]
        channel.last_message_at = None if found[1] is None else Moment(int(str(found[1])))
        await put(self._tx, kinds.CHANNELS, self._workspace_id, channel)

    async def keep_call(self, call: VoiceCallRecord) -> None:
        shown = msgspec.structs.replace(call)
        referred: dict[str, kinds.Kind[Any]] = {"channel_id": kinds.CHANNELS, "contact_id": kinds.CONTACTS}
        for field, kind in referred.items():
            id = getattr(call, field)
            if id is None or await find_document(self._tx, kind, self._workspace_id, id) is None:
                setattr(shown, field, None)
        await put(self._tx, kinds.VOICE_CALLS, self._workspace_id, call, shown=shown)

    async def _tags_of(self, channel_id: str) -> list[str]:
        rows = await self._tx.all(TAG_NAMES, workspace_id=self._workspace_id, channel_id=channel_id)
        return [str(row[0]) for row in rows]

    async def _tag_id(self, by_name: Statement, kind: kinds.Kind[Any], struct: type[Any], name: str) -> str:
        row = await self._tx.one(by_name, workspace_id=self._workspace_id, name=name)
        if row is not None:
            return str(row[0])
        made = struct(id=new_id(), created_at=self._tx.now, name=name)
        await put(self._tx, kind, self._workspace_id, made)
        return str(made.id)

    async def _run(self, statement: Statement, **values: Value) -> None:
        await self._tx.run(statement, workspace_id=self._workspace_id, **values)


TAG_NAMES = Statement(
    select(tables.CHANNEL_TAGS.c.name)
    .join(
        tables.CHANNEL_TAG_LINKS,
        and_(
            tables.CHANNEL_TAG_LINKS.c.workspace_id == tables.CHANNEL_TAGS.c.workspace_id,
            tables.CHANNEL_TAG_LINKS.c.tag_id == tables.CHANNEL_TAGS.c.id,
        ),
    )
    .where(
        tables.CHANNEL_TAG_LINKS.c.workspace_id == bindparam("workspace_id"),
        tables.CHANNEL_TAG_LINKS.c.channel_id == bindparam("channel_id"),
    )
    .order_by(tables.CHANNEL_TAG_LINKS.c.position)
)
