"""The public API: every endpoint, a row each. Routing, scopes, parsing and the reference follow from it."""

import msgspec

from deskwire.api.endpoint import Answers, BadId, Call, Endpoint
from deskwire.api.parameters import (
    ChannelQuery,
    ContactQuery,
    LimitQuery,
    MessageQuery,
    PageQuery,
    SearchQuery,
)
from deskwire.api.webhooks import WEBHOOK_READS, WEBHOOK_WRITES
from deskwire.api.writes import WRITES
from deskwire.desk import attachments, channels, contacts, messages, reading, search, teams, workflows
from deskwire.desk.pages import Page, list_page
from deskwire.model.channels import Channel, ChannelTag
from deskwire.model.connections import (
    AiAgent,
    BusinessHours,
    InboundWebhookConfig,
    Integration,
    VoiceCall,
    Workflow,
)
from deskwire.model.contacts import Contact, ContactTag
from deskwire.model.errors import DeskError, Problem
from deskwire.model.limits import CURSOR_LIFETIME_US
from deskwire.model.messages import Attachment, Message
from deskwire.model.people import Member, Team, Workspace
from deskwire.model.search import SearchResult
from deskwire.model.shapes import Shown
from deskwire.model.windows import check_window
from deskwire.model.work import Campaign, Macro, Task
from deskwire.store import kinds
from deskwire.store.kinds import Kind, R
from deskwire.store.transaction import Tx


def single(
    path: str,
    scope: str,
    kind: Kind[R],
    shows: type[Shown],
    summary: str,
    description: str = "",
    bad_id: BadId = BadId.NOT_FOUND,
) -> Endpoint:
    async def operation(tx: Tx, call: Call) -> bytes:
        return await reading.find(tx, kind, call.workspace_id, call.id)

    return Endpoint(
        method="GET",
        path=path,
        scopes=(scope,),
        answers=Answers.OBJECT,
        shows=shows,
        operation=operation,
        summary=summary,
        description=description,
        noun=kind.noun,
        bad_id=bad_id,
        errors=(bad_id.value,) if bad_id is BadId.NOT_FOUND else (bad_id.value, "NOT_FOUND"),
    )


def listing(
    path: str,
    scope: str,
    kind: Kind[R],
    shows: type[Shown],
    summary: str,
    description: str = "",
    document: str = "document",
) -> Endpoint:
    async def operation(tx: Tx, call: Call) -> Page:
        return await list_page(tx, kind, call.workspace_id, call.query.limit, call.after, document)

    return Endpoint(
        method="GET",
        path=path,
        scopes=(scope,),
        answers=Answers.PAGE,
        shows=shows,
        operation=operation,
        summary=summary,
        description=description,
        query=PageQuery,
        cursor_lifetime_us=CURSOR_LIFETIME_US,
    )


async def find_workspace(tx: Tx, call: Call) -> bytes:
    return await reading.find_workspace(tx, call.workspace_id)


async def list_team_members(tx: Tx, call: Call) -> Page:
    return await teams.list_members(tx, call.workspace_id, call.id, call.query.limit, call.after)


async def list_contacts(tx: Tx, call: Call) -> Page:
    query: ContactQuery = call.query
    if query.external_id is None:
        return await contacts.list_contacts(tx, call.workspace_id, query.q, query.limit, call.after)
    if query.q is not None:
        raise DeskError(
            "INVALID_QUERY",
            "q and external_id cannot be combined.",
            Problem("q", "cannot be combined with external_id"),
            Problem("external_id", "cannot be combined with q"),
        )
    return await contacts.find_by_external_id(tx, call.workspace_id, query.external_id)


async def list_contact_tags(tx: Tx, call: Call) -> list[bytes]:
    names = await contacts.list_tags(tx, call.workspace_id, call.id)
    return [msgspec.json.encode(name) for name in names]


async def list_channels(tx: Tx, call: Call) -> Page:
    query: ChannelQuery = call.query
    return await channels.list_channels(
        tx, call.workspace_id, query.tags, query.tag_match, query.limit, call.after
    )


async def list_messages(tx: Tx, call: Call) -> Page:
    query: MessageQuery = call.query
    until = tx.now if query.until is None else query.until
    check_window(query.since, until)
    return await messages.list_messages(
        tx,
        call.workspace_id,
        call.id,
        since=query.since,
        until=until,
        limit=query.limit,
        after=call.after,
    )


async def find_message(tx: Tx, call: Call) -> bytes:
    return await messages.find_message(tx, call.workspace_id, call.id)


async def find_attachment(tx: Tx, call: Call) -> attachments.KeptAttachment:
    return await attachments.find_attachment(tx, call.workspace_id, call.id)


async def find_hours(tx: Tx, call: Call) -> bytes:
    return await reading.find_hours(tx, call.workspace_id)


async def list_workflows(tx: Tx, call: Call) -> list[bytes]:
    return await workflows.list_workflows(tx, call.workspace_id)


async def list_ai_agents(tx: Tx, call: Call) -> Page:
    return await list_page(tx, kinds.AI_AGENTS, call.workspace_id, 1, None)


async def search_messages(tx: Tx, call: Call) -> list[bytes]:
    query: SearchQuery = call.query
    return await search.search(tx, call.workspace_id, query.q, query.limit)


READS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/workspace",
        scopes=("workspaces:read",),
        answers=Answers.OBJECT,
        shows=Workspace,
        operation=find_workspace,
        summary="The workspace that the token belongs to",
    ),
    listing(
        "/members",
        "members:read",
        kinds.MEMBERS,
        Member,
        "List members",
        "Active memberships, whatever their presence status. Bots are never among them.",
    ),
    single(
        "/members/{id}",
        "members:read",
        kinds.MEMBERS,
        Member,
        "Read a member",
        bad_id=BadId.INVALID_INPUT,
    ),
    listing("/teams", "teams:read", kinds.TEAMS, Team, "List teams", "Active teams only."),
    Endpoint(
        method="GET",
        path="/teams/{id}/members",
        scopes=("teams:read",),
        answers=Answers.PAGE,
        shows=Member,
        operation=list_team_members,
        summary="List the members of a team",
        description="Ordered by the member's `created_at`, newest first.",
        query=PageQuery,
        noun="team",
        cursor_lifetime_us=CURSOR_LIFETIME_US,
        errors=("NOT_FOUND",),
    ),
    Endpoint(
        method="GET",
        path="/contacts",
        scopes=("contacts:read",),
        answers=Answers.PAGE,
        shows=Contact,
        operation=list_contacts,
        summary="List, search or look up contacts",
        description=(
            "`external_id` is an exact lookup that answers no contact or one: a merged contact is found by "
            "every external id it ever used. Keep your own mapping under the value that you looked up, which "
            "may differ from the contact's `external_id`."
        ),
        query=ContactQuery,
        cursor_lifetime_us=CURSOR_LIFETIME_US,
        aside=lambda call: bool(call.query.q),
    ),
    single("/contacts/{id}", "contacts:read", kinds.CONTACTS, Contact, "Read a contact"),
    Endpoint(
        method="GET",
        path="/contacts/{id}/tags",
        scopes=("contacts:read",),
        answers=Answers.ARRAY,
        shows=str,
        operation=list_contact_tags,
        summary="The names of a contact's tags",
        noun="contact",
        errors=("NOT_FOUND",),
    ),
    listing(
        "/contact-tags", "contact-tags:read", kinds.CONTACT_TAGS, ContactTag, "List the contact tag catalogue"
    ),
    listing(
        "/channel-tags", "channel-tags:read", kinds.CHANNEL_TAGS, ChannelTag, "List the channel tag catalogue"
    ),
    Endpoint(
        method="GET",
        path="/channels",
        scopes=("channels:read",),
        answers=Answers.PAGE,
        shows=Channel,
        operation=list_channels,
        summary="List channels",
        description="Channels in every status. An unknown tag name gives an empty result.",
        query=ChannelQuery,
        cursor_lifetime_us=CURSOR_LIFETIME_US,
    ),
    single("/channels/{id}", "channels:read", kinds.CHANNELS, Channel, "Read a channel"),
    Endpoint(
        method="GET",
        path="/channels/{id}/messages",
        scopes=("channels:read", "messages:read"),
        answers=Answers.PAGE,
        shows=Message,
        operation=list_messages,
        summary="List the messages of a channel",
        description=(
            "Newest first: following `next_cursor` moves toward `since`. The window is open at `since` "
            "and closed at `until`. The cursor of this list does not expire."
        ),
        query=MessageQuery,
        noun="channel",
        errors=("NOT_FOUND",),
    ),
    Endpoint(
        method="GET",
        path="/messages/{id}",
        scopes=("messages:read",),
        answers=Answers.OBJECT,
        shows=Message,
        operation=find_message,
        summary="Read a message",
        noun="message",
        errors=("NOT_FOUND",),
    ),
    Endpoint(
        method="GET",
        path="/attachments/{id}",
        scopes=("attachments:read", "messages:read"),
        answers=Answers.KEPT_ATTACHMENT,
        shows=Attachment,
        operation=find_attachment,
        summary="Read an attachment, with a link to download it",
        description=(
            "`url` needs no token and works for 5 minutes. An attachment that is not ready is not found."
        ),
        noun="attachment",
        errors=("NOT_FOUND",),
    ),
    listing(
        "/macros",
        "macros:read",
        kinds.MACROS,
        Macro,
        "List macros",
        "Workspace and team macros together. To apply one, send its text as an ordinary reply.",
    ),
    Endpoint(
        method="GET",
        path="/hours",
        scopes=("hours:read",),
        answers=Answers.OBJECT,
        shows=BusinessHours,
        operation=find_hours,
        summary="The business hours",
    ),
    listing("/integrations", "integrations:read", kinds.INTEGRATIONS, Integration, "List integrations"),
    listing(
        "/inbound-webhook-configs",
        "inbound-webhook-configs:read",
        kinds.INTEGRATIONS,
        InboundWebhookConfig,
        "List inbound webhook configurations",
        "The integrations once more, with the URLs at which their providers' webhooks arrive.",
        document="config_document",
    ),
    listing("/campaigns", "campaigns:read", kinds.CAMPAIGNS, Campaign, "List campaigns"),
    single(
        "/campaigns/{id}",
        "campaigns:read",
        kinds.CAMPAIGNS,
        Campaign,
        "Read a campaign",
        bad_id=BadId.INVALID_INPUT,
    ),
    listing("/tasks", "tasks:read", kinds.TASKS, Task, "List tasks", "The tasks of all teams."),
    single("/tasks/{id}", "tasks:read", kinds.TASKS, Task, "Read a task"),
    Endpoint(
        method="GET",
        path="/workflows",
        scopes=("workflows:read",),
        answers=Answers.ARRAY,
        shows=Workflow,
        operation=list_workflows,
        summary="List workflows",
        description=(
            "All workflows, inactive ones too. A failure of the workflow engine is 500: retry with backoff."
        ),
        errors=("INTERNAL",),
    ),
    Endpoint(
        method="GET",
        path="/ai-agents",
        scopes=("ai-agents:read",),
        answers=Answers.PAGE,
        shows=AiAgent,
        operation=list_ai_agents,
        summary="The AI agent setting",
        description="None or one; `meta.has_more` is always false.",
        query=LimitQuery,
    ),
    listing("/voice/calls", "voice:read", kinds.VOICE_CALLS, VoiceCall, "List voice calls"),
    Endpoint(
        method="GET",
        path="/search",
        scopes=("search:read",),
        answers=Answers.ARRAY,
        shows=SearchResult,
        operation=search_messages,
        summary="Search message bodies",
        description=(
            "One page of the best matches, the newest first among equals. All words must match, in any "
            "script, in part of a word too. System messages and deleted ones are not searched."
        ),
        query=SearchQuery,
        aside=lambda _: True,
    ),
    *WEBHOOK_READS,
)

ENDPOINTS = READS + WRITES + WEBHOOK_WRITES
