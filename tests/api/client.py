"""A client without a socket: a request goes straight into the application, its answer comes back whole."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.types import ASGIApp, Message, Scope

from deskwire.api.target import split_target

Header = tuple[str, str]
# Text goes as it stands, so that a test can send whatever it likes; a mapping is encoded.
QueryText = str | Mapping[str, object]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: list[Header]
    body: bytes

    @cached_property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def data(self) -> Any:
        """What a success holds."""
        assert self.status == 200, self.body
        assert self.json["success"] is True
        return self.json["data"]

    @property
    def ids(self) -> list[str]:
        return [each["id"] for each in self.data]

    @property
    def next_cursor(self) -> str | None:
        """Of a page, held to the rule that it is there exactly when there is more."""
        meta = self.json["meta"]
        assert meta["has_more"] is ("next_cursor" in meta)
        cursor: str | None = meta.get("next_cursor")
        return cursor

    @property
    def code(self) -> str:
        """That of a failure, whose envelope is held to its form."""
        assert set(self.json) == {"success", "error"}
        assert self.json["success"] is False
        assert {"code", "message"} <= set(self.json["error"]) <= {"code", "message", "details"}
        return str(self.json["error"]["code"])

    @property
    def failure(self) -> tuple[int, str]:
        return self.status, self.code

    @property
    def fields(self) -> dict[str, str]:
        """What a refusal says of each field."""
        return {each["field"]: each["problem"] for each in self.json["error"]["details"]["fields"]}

    def header(self, name: str) -> str | None:
        values = [value for each, value in self.headers if each == name]
        assert len(values) <= 1, f"{name} is there {len(values)} times"
        return values[0] if values else None


def target_of(path: str, query: QueryText = "") -> str:
    if not isinstance(query, str):
        query = "&".join(f"{quote(name)}={quote(str(value), safe='')}" for name, value in query.items())
    return f"{path}?{query}" if query else path


async def send(
    app: ASGIApp, method: str, target: str, headers: Iterable[Header] = (), chunks: Sequence[bytes] = (b"",)
) -> Answer:
    """The body goes in chunks, each by itself."""
    path, raw_path, query = split_target(target.encode("ascii"))
    scope: Scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    sent: list[Message] = []
    waiting = list(chunks)

    async def receive() -> Message:
        if not waiting:
            await asyncio.Event().wait()
        chunk = waiting.pop(0)
        return {"type": "http.request", "body": chunk, "more_body": bool(waiting)}

    async def keep(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, keep)
    start, *rest = sent
    return Answer(
        start["status"],
        [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]],
        b"".join(message.get("body", b"") for message in rest),
    )
