"""A desk in which every example of the documentation is true, and the whole site over it."""

import asyncio
import json
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Table, bindparam, update
from starlette.types import ASGIApp, Message

from deskwire.api import examples
from deskwire.api.app import Api
from deskwire.api.authentication import Authentication
from deskwire.api.downloads import Downloads
from deskwire.api.openapi import document
from deskwire.api.reference import page
from deskwire.api.routes import PREFIX
from deskwire.api.schemas import Json
from deskwire.api.site import Site, pages
from deskwire.api.table import ENDPOINTS
from deskwire.desk.sealing import Seal
from deskwire.desk.tokens import create_token
from deskwire.desk.webhook_rows import put_webhook
from deskwire.desk.workspaces import create_workspace, put_workspace
from deskwire.model import example_records
from deskwire.model.contacts import ContactTagRecord
from deskwire.model.moments import Moment
from deskwire.model.scopes import SCOPES
from deskwire.model.search import contact_terms, message_terms
from deskwire.model.tokens import Token
from deskwire.store import kinds, tables
from deskwire.store.attachments import open_files
from deskwire.store.migration import migrate_sqlite
from deskwire.store.records import ENCODER, put
from deskwire.store.search import Entry, Subject
from deskwire.store.sqlite import SqliteStore
from deskwire.store.statement import Statement, Value, upsert
from deskwire.store.transaction import Tx
from tests.api.desk import RECEIVERS
from tests.api.webhooks import PUT_LOG

NOW = example_records.TRIED_AT
SEAL = Seal(b"s" * 32)
BASE_URL = f"http://desk.example{PREFIX}"
VERSION = "1.2.3"
SET_LAST_SEQ = Statement(
    update(tables.CHANNELS)
    .where(
        tables.CHANNELS.c.workspace_id == bindparam("workspace"), tables.CHANNELS.c.id == bindparam("channel")
    )
    .values(last_seq=bindparam("seq"))
)


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: Any


class Silent:
    def answered(
        self, method: str, route: str, status: int, seconds: float, request_id: str, token: Token | None
    ) -> None: ...


class ExampleDesk:
    def __init__(self, folder: Path) -> None:
        database = folder / "desk.sqlite"
        migrate_sqlite(database)
        self.store = SqliteStore(database, clock)
        self.token, self.narrow_token = asyncio.run(self.store.write(fill))
        self.document: Json = document(ENDPOINTS, BASE_URL, VERSION)
        downloads = Downloads(self.store, open_files(str(folder)), clock, b"k" * 32, "http://desk.example")
        api = Api(
            ENDPOINTS,
            self.store,
            clock,
            Authentication(self.store, clock),
            cursor_key=b"k" * 32,
            links=downloads,
            observer=Silent(),
            seal=SEAL,
            receivers=RECEIVERS,
        )
        beside = pages(
            self.store,
            downloads,
            Silent(),
            openapi=msgspec.json.encode(self.document),
            reference=page(ENDPOINTS, BASE_URL, VERSION),
            metrics=None,
        )
        self.app: ASGIApp = Site(api, beside)

    def ask(
        self,
        path: str,
        query: str = "",
        token: str | None = None,
        method: str = "GET",
        body: bytes = b"",
        content_type: str = "application/json",
    ) -> Answer:
        """The answer to a request of the API, with every scope unless another token is given."""
        headers = [
            (b"host", b"desk.example"),
            (b"authorization", f"Bearer {self.token if token is None else token}".encode()),
            *([(b"content-type", content_type.encode())] if body else []),
        ]
        return asyncio.run(self._ask(path, query, method, headers, body))

    def close(self) -> None:
        asyncio.run(self.store.close())

    async def _ask(
        self, path: str, query: str, method: str, headers: list[tuple[bytes, bytes]], body: bytes
    ) -> Answer:
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": method,
            "path": PREFIX + path,
            "query_string": query.encode(),
            "headers": headers,
        }
        await self.app(scope, receive, send)
        received = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        answered = sent[1]["body"]
        return Answer(sent[0]["status"], received, json.loads(answered) if answered else None)


def clock() -> Moment:
    return NOW


async def fill(tx: Tx) -> tuple[str, str]:
    """Answers a token that may do everything, and one that may do nothing beyond what all may."""
    mine = example_records.WORKSPACE.id
    await create_workspace(tx, example_records.WORKSPACE.name, "owner@lindenhof.example", mine)
    await put_workspace(tx, example_records.WORKSPACE)
    await put(tx, kinds.MEMBERS, mine, example_records.MEMBER)
    await put(tx, kinds.TEAMS, mine, examples.TEAM)
    await put(tx, kinds.CONTACT_TAGS, mine, examples.CONTACT_TAG)
    await put(tx, kinds.CONTACT_TAGS, mine, NEWSLETTER)
    await put(tx, kinds.CONTACTS, mine, example_records.CONTACT)
    await put(tx, kinds.CHANNEL_TAGS, mine, examples.CHANNEL_TAG)
    await put(tx, kinds.CHANNELS, mine, example_records.CHANNEL)
    await tx.run(SET_LAST_SEQ, workspace=mine, channel=example_records.CHANNEL.id, seq=1)
    await put(tx, kinds.MESSAGES, mine, example_records.MESSAGE, seq=1)
    await put(tx, kinds.ATTACHMENTS, mine, example_records.ATTACHMENT, file_key=None)
    await put(tx, kinds.TASKS, mine, examples.TASK)
    await put(tx, kinds.CAMPAIGNS, mine, examples.CAMPAIGN)
    await put(tx, kinds.MACROS, mine, examples.MACRO)
    await put(tx, kinds.INTEGRATIONS, mine, examples.INTEGRATION)
    await put(tx, kinds.WORKFLOWS, mine, examples.WORKFLOW)
    await put(tx, kinds.AI_AGENTS, mine, examples.AI_AGENT)
    await put(tx, kinds.VOICE_CALLS, mine, examples.VOICE_CALL)
    await put_webhook(tx, mine, examples.WEBHOOK)
    for entry in examples.DELIVERY_LOG:
        values = msgspec.structs.asdict(entry) | {"error_message": entry.error_message or None}
        await tx.run(PUT_LOG, workspace_id=mine, event_id=None, is_test=False, **values)
    await link(tx, mine)
    await index(tx, mine)
    everything = await create_token(tx, mine, "everything", list(SCOPES), None)
    nothing = await create_token(tx, mine, "nothing", [], None)
    return everything.secret, nothing.secret


NEWSLETTER = ContactTagRecord(
    id="0194a302-1d47-7b6e-9c05-e2f8a3b61d94", name="newsletter", usage_count=1, created_at=Moment(NOW - 1)
)


async def link(tx: Tx, workspace_id: str) -> None:
    contact, channel = example_records.CONTACT, example_records.CHANNEL
    links: list[tuple[Table, dict[str, Value]]] = [
        (
            tables.TEAM_MEMBERS,
            {"team_id": examples.TEAM.id, "member_id": example_records.MEMBER.id, "position": 0},
        ),
        (
            tables.CONTACT_TAG_LINKS,
            {"contact_id": contact.id, "tag_id": examples.CONTACT_TAG.id, "position": 0},
        ),
        (tables.CONTACT_TAG_LINKS, {"contact_id": contact.id, "tag_id": NEWSLETTER.id, "position": 1}),
        (tables.CONTACT_EXTERNAL_IDS, {"external_id": contact.external_id, "contact_id": contact.id}),
        (
            tables.CHANNEL_TAG_LINKS,
            {
                "channel_id": channel.id,
                "tag_id": examples.CHANNEL_TAG.id,
                "position": 0,
                "channel_created_at": channel.created_at,
            },
        ),
        (
            tables.MESSAGE_ATTACHMENTS,
            {
                "message_id": example_records.MESSAGE.id,
                "attachment_id": example_records.ATTACHMENT.id,
                "position": 0,
            },
        ),
        (tables.BUSINESS_HOURS, {"config": ENCODER.encode(examples.HOURS)}),
    ]
    for table, row in links:
        await tx.run(upsert(table), workspace_id=workspace_id, **row)


async def index(tx: Tx, workspace_id: str) -> None:
    contact, message = example_records.CONTACT, example_records.MESSAGE
    found_by = contact_terms(workspace_id, contact)
    await tx.index(Subject.CONTACTS, workspace_id, [Entry(contact.id, contact.created_at, found_by)])
    found_by = message_terms(workspace_id, message)
    await tx.index(Subject.MESSAGES, workspace_id, [Entry(message.id, message.created_at, found_by)])
