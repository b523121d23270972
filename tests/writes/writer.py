"""Writes through HTTP, and what they leave behind: events, audit entries, every row of every table."""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

import msgspec
from sqlalchemy import Table, bindparam, select

from deskwire.api.routes import PREFIX
from deskwire.model.scopes import SCOPES
from deskwire.store.statement import Row, Statement
from deskwire.store.tables import AUDIT_ENTRIES, EVENTS, METADATA, READ_POSITIONS, SMS_CONSENTS
from deskwire.store.transaction import Tx
from tests.api.client import Answer, Header, QueryText, send
from tests.api.desk import Desk

Json = dict[str, Any]

EVENTS_OF = Statement(
    select(EVENTS.c.body)
    .where(EVENTS.c.workspace_id == bindparam("workspace_id"))
    .order_by(EVENTS.c.accepted_at, EVENTS.c.id)
)
AUDIT_OF = Statement(
    select(
        AUDIT_ENTRIES.c.action,
        AUDIT_ENTRIES.c.channel_id,
        AUDIT_ENTRIES.c.actor_member_id,
        AUDIT_ENTRIES.c.token_id,
        AUDIT_ENTRIES.c.details,
    )
    .where(AUDIT_ENTRIES.c.workspace_id == bindparam("workspace_id"))
    .order_by(AUDIT_ENTRIES.c.created_at, AUDIT_ENTRIES.c.id)
)
CONSENTS_OF = Statement(
    select(
        SMS_CONSENTS.c.contact_id,
        SMS_CONSENTS.c.opted_in,
        SMS_CONSENTS.c.reason,
        SMS_CONSENTS.c.token_id,
        SMS_CONSENTS.c.updated_at,
    ).where(SMS_CONSENTS.c.workspace_id == bindparam("workspace_id"))
)
POSITIONS_OF = Statement(
    select(READ_POSITIONS.c.member_id, READ_POSITIONS.c.message_id).where(
        READ_POSITIONS.c.workspace_id == bindparam("workspace_id"),
        READ_POSITIONS.c.channel_id == bindparam("channel_id"),
    )
)


def whole(table: Table) -> Statement:
    key = table.c.id if table.name == "workspaces" else table.c.workspace_id
    return Statement(select(table).where(key == bindparam("workspace_id")))


EVERYTHING = {table.name: whole(table) for table in METADATA.sorted_tables}


class Writer:
    """Requests with a token that may do everything, unless one is named."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.house = desk.house
        self.owner = desk.owner_id
        self.token = desk.issue(*SCOPES)

    async def write(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        raw: bytes | None = None,
        chunks: Sequence[bytes] | None = None,
        content_type: str | None = "application/json",
        token: str | None = None,
        headers: Sequence[Header] = (),
    ) -> Answer:
        if raw is None:
            raw = b"" if body is None else msgspec.json.encode(body)
        sent: list[Header] = [("authorization", f"Bearer {token or self.token.secret}"), *headers]
        if content_type is not None and (raw or chunks):
            sent.append(("content-type", content_type))
        return await send(self.house.app, method, PREFIX + path, sent, chunks or [raw])

    def __call__(self, method: str, path: str, body: object = None, **how: Any) -> Answer:
        return self.house.run(self.write(method, path, body, **how))

    def done(self, method: str, path: str, body: object = None, status: int = 200) -> Any:
        """What a write that succeeds answers."""
        answer = self(method, path, body)
        assert answer.status == status, answer.body
        return answer.json["data"] if answer.body else None

    def contact(self, **fields: object) -> Json:
        made: Json = self.done("POST", "/contacts", fields, 201)
        return made

    def channel(self, **fields: object) -> str:
        return self.desk.add("channel", **fields)

    def member(self, role: str = "agent", **fields: object) -> str:
        return self.desk.add("member", role=role, **fields)

    def reply(self, channel_id: str, content: str = "Hello", **fields: object) -> Json:
        body = {"content_type": "text", "content": content, **fields}
        made: Json = self.done("POST", f"/channels/{channel_id}/messages", body, 201)
        return made

    def act(self, channel_id: str, verb: str, **fields: object) -> Answer:
        return self("POST", f"/channels/{channel_id}/{verb}", {"actor_member_id": self.owner, **fields})

    def untag(self, channel_id: str, *names: str, actor: str | None = None) -> Answer:
        query = "".join(f"&name={quote(name, safe='')}" for name in names)
        return self("DELETE", f"/channels/{channel_id}/tags?actor_member_id={actor or self.owner}{query}")

    def untag_contact(self, contact_id: str, *names: str) -> Answer:
        query = "&".join(f"name={quote(name, safe='')}" for name in names)
        return self("DELETE", f"/contacts/{contact_id}/tags?{query}")

    def see(self, path: str, query: QueryText = "") -> Any:
        return self.desk.get(path, query).data

    @property
    def bodies(self) -> list[bytes]:
        """The events' bodies as they will be delivered, in order."""
        return [bytes(row[0]) for row in self._rows(EVENTS_OF)]  # type: ignore[arg-type]

    @property
    def events(self) -> list[Json]:
        return [msgspec.json.decode(body) for body in self.bodies]

    @property
    def kinds(self) -> list[str]:
        return [event["kind"] for event in self.events]

    @property
    def audit(self) -> list[tuple[Any, ...]]:
        return [(*row[:4], msgspec.json.decode(row[4])) for row in self._rows(AUDIT_OF)]  # type: ignore[arg-type]

    @property
    def consents(self) -> list[Row]:
        return [(str(row[0]), bool(row[1]), row[2], str(row[3]), row[4]) for row in self._rows(CONSENTS_OF)]

    def positions(self, channel_id: str) -> dict[str, str]:
        return {str(row[0]): str(row[1]) for row in self._rows(POSITIONS_OF, channel_id=channel_id)}

    def everything(self) -> dict[str, list[str]]:
        """Every row of every table of the workspace."""

        async def read(tx: Tx) -> dict[str, list[str]]:
            rows = {
                name: await tx.all(each, workspace_id=self.desk.workspace_id)
                for name, each in EVERYTHING.items()
            }
            return {name: sorted(map(repr, map(tuple, found))) for name, found in rows.items()}

        return self.house.run(self.house.store.read(read))

    def leaves_no_trace(self, attempt: Callable[[], Answer]) -> Answer:
        before = self.everything()
        answer = attempt()
        assert self.everything() == before
        return answer

    def _rows(self, statement: Statement, **values: str) -> Sequence[Row]:
        return self.house.run(
            self.house.store.read(lambda tx: tx.all(statement, workspace_id=self.desk.workspace_id, **values))
        )
