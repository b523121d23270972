"""Requests with headers and bodies of any kind, to every endpoint, on the house of the tests."""

from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.types import ASGIApp, Message, Scope

from deskwire.api.app import Api
from deskwire.api.endpoint import Endpoint
from deskwire.api.routes import PREFIX
from deskwire.api.table import ENDPOINTS
from tests.api.client import Answer, Header
from tests.api.desk import CURSOR_KEY, RECEIVERS, House


class NoLinks:
    async def attach(self, *_: object) -> Any:
        raise AssertionError("no attachment is asked for here")


def api_of(house: House, endpoints: Sequence[Endpoint] = ENDPOINTS, **more: Any) -> Api:
    return Api(
        endpoints,
        house.store,
        house.clock,
        house.authentication,
        CURSOR_KEY,
        NoLinks(),
        house.observed,
        more.pop("seal", house.seal),
        more.pop("receivers", RECEIVERS),
        **more,
    )


async def ask(
    app: ASGIApp, secret: str, method: str, path: str, body: object = None, *headers: Header
) -> Answer:
    raw = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
    given = (("authorization", f"Bearer {secret}"), ("content-type", "application/json"), *headers)
    scope: Scope = {
        "type": "http",
        "method": method,
        "path": PREFIX + path.partition("?")[0],
        "query_string": path.partition("?")[2].encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in given],
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": raw, "more_body": False}

    async def keep(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, keep)
    received = [(name.decode(), value.decode()) for name, value in sent[0]["headers"]]
    return Answer(sent[0]["status"], received, sent[1]["body"])
