"""Which record lives in which table, and how it is shown: the one list of the resources that are kept."""

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar, get_args, get_type_hints

from sqlalchemy import Table, and_, bindparam, select, tuple_

from deskwire.model import channels, connections, contacts, messages, people, work
from deskwire.model.contact_text import contact_match_text
from deskwire.model.moments import Moment
from deskwire.model.shapes import Record, Shown
from deskwire.store import tables
from deskwire.store.statement import Statement, Value, insert_of, upsert

R = TypeVar("R", bound=Record)


class Kind(Generic[R]):
    """A resource: its noun for people, its table, its record, what follows from it."""

    def __init__(
        self,
        noun: str,
        table: Table,
        record: type[R],
        documents: Mapping[str, Callable[[R], Shown]],
        derived: Mapping[str, Callable[[R], Value]] | None = None,
        beside: tuple[str, ...] = (),
    ) -> None:
        self.noun = noun
        self.table = table
        self.record = record
        self.documents = documents
        self.derived = derived or {}
        self.columns = tuple(name for name in record.__struct_fields__ if name in table.c)
        hints = get_type_hints(record)
        self.moments = frozenset(name for name in self.columns if is_moment(hints[name]))
        self.flags = frozenset(name for name in self.columns if hints[name] is bool)
        mine = and_(table.c.workspace_id == bindparam("workspace_id"), table.c.id == bindparam("id"))
        self.load = Statement(select(*(table.c[name] for name in self.columns)).where(mine))
        also = (*documents, *self.derived, *beside)
        if "visible" in table.c:
            also = (*also, "visible")
            self.find = Statement(select(table.c.document).where(mine, table.c.visible))
            self.pages = {document: page_of(table, document) for document in documents}
        self.upsert = upsert(table, *self.columns, *also)
        # For what is known to be new: SQLite does three times the work for a row that may be there.
        self.insert = insert_of(table, *self.columns, *also)


def is_moment(hint: object) -> bool:
    return hint is Moment or Moment in get_args(hint)


def page_of(table: Table, document: str) -> Statement:
    """A page of a workspace's rows, newest first, from a position on."""
    return Statement(
        select(table.c[document])
        .where(
            table.c.workspace_id == bindparam("workspace_id"),
            table.c.visible,
            tuple_(table.c.created_at, table.c.id) < tuple_(bindparam("created_at"), bindparam("id")),
        )
        .order_by(table.c.created_at.desc(), table.c.id.desc())
        .limit(bindparam("limit"))
    )


def match_text(record: contacts.ContactRecord) -> str:
    return contact_match_text(record.name, record.email, record.phone)


MEMBERS = Kind("member", tables.MEMBERS, people.MemberRecord, {"document": people.show_member})
TEAMS = Kind("team", tables.TEAMS, people.TeamRecord, {"document": people.show_team})
CONTACTS = Kind(
    "contact",
    tables.CONTACTS,
    contacts.ContactRecord,
    {"document": contacts.show_contact},
    derived={"match_text": match_text},
)
CONTACT_TAGS = Kind(
    "contact tag",
    tables.CONTACT_TAGS,
    contacts.ContactTagRecord,
    {"document": contacts.show_contact_tag},
)
CHANNELS = Kind("channel", tables.CHANNELS, channels.ChannelRecord, {"document": channels.show_channel})
CHANNEL_TAGS = Kind(
    "channel tag",
    tables.CHANNEL_TAGS,
    channels.ChannelTagRecord,
    {"document": channels.show_channel_tag},
)
MESSAGES = Kind(
    "message",
    tables.MESSAGES,
    messages.MessageRecord,
    {"document": messages.show_message},
    beside=("seq",),
)
ATTACHMENTS = Kind("attachment", tables.ATTACHMENTS, messages.AttachmentRecord, {}, beside=("file_key",))
TASKS = Kind("task", tables.TASKS, work.TaskRecord, {"document": work.show_task})
CAMPAIGNS = Kind("campaign", tables.CAMPAIGNS, work.CampaignRecord, {"document": work.show_campaign})
MACROS = Kind("macro", tables.MACROS, work.MacroRecord, {"document": work.show_macro})
INTEGRATIONS = Kind(
    "integration",
    tables.INTEGRATIONS,
    connections.IntegrationRecord,
    {
        "document": connections.show_integration,
        "config_document": connections.show_inbound_webhook_config,
    },
)
WORKFLOWS = Kind(
    "workflow", tables.WORKFLOWS, connections.WorkflowRecord, {"document": connections.show_workflow}
)
AI_AGENTS = Kind(
    "AI agent", tables.AI_AGENTS, connections.AiAgentRecord, {"document": connections.show_ai_agent}
)
VOICE_CALLS = Kind(
    "voice call",
    tables.VOICE_CALLS,
    connections.VoiceCallRecord,
    {"document": connections.show_voice_call},
)
