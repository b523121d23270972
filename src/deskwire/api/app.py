"""The API as an ASGI application: one request from its head to its answer."""

import time
from collections.abc import Sequence
from typing import Protocol

import structlog
from starlette.types import Receive, Scope, Send

from deskwire.api import envelope
from deskwire.api.authentication import Authentication
from deskwire.api.endpoint import Answer, BadId, Call, Endpoint, Links
from deskwire.api.parameters import Query, QueryParser
from deskwire.api.request_id import REQUEST_ID, request_id_of
from deskwire.api.routes import MethodNotAllowed, Routes
from deskwire.api.statuses import RETRY_AFTER_S, STATUSES
from deskwire.desk.attachments import KeptAttachment
from deskwire.desk.pages import Page
from deskwire.model import cursors
from deskwire.model.errors import DeskError, Unavailable, invalid_query, not_found
from deskwire.model.ids import parse_id
from deskwire.model.messages import Attachment
from deskwire.model.tokens import Token
from deskwire.store.clock import Clock
from deskwire.store.records import ENCODER
from deskwire.store.transaction import Store

Headers = list[tuple[bytes, bytes]]

JSON: Headers = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]
UNKNOWN_ROUTE = "unknown"

log = structlog.get_logger()


class Observer(Protocol):
    """Hears of every request that was answered."""

    def answered(
        self, method: str, route: str, status: int, seconds: float, request_id: str, token: Token | None
    ) -> None: ...


class Request:
    """What is known of a request so far; the observer is told of it when it is answered."""

    __slots__ = ("authorization", "id", "method", "path", "query", "route", "token")

    def __init__(self, scope: Scope) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope["query_string"]
        self.route = UNKNOWN_ROUTE
        self.token: Token | None = None
        self.authorization: bytes | None = None
        sent_id: bytes | None = None
        for name, value in scope["headers"]:
            if name == b"authorization":
                # Which of two would count is anybody's guess, so neither does.
                self.authorization = value if self.authorization is None else b""
            elif name == b"x-request-id":
                sent_id = value
        self.id = request_id_of(sent_id)


class Api:
    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        store: Store,
        clock: Clock,
        authentication: Authentication,
        cursor_key: bytes,
        links: Links,
        observer: Observer,
    ) -> None:
        self._routes = Routes(endpoints)
        self._parsers: dict[type[Query], QueryParser[Query]] = {
            endpoint.query: QueryParser(endpoint.query) for endpoint in endpoints
        }
        self._store = store
        self._clock = clock
        self._authentication = authentication
        self._cursor_key = cursor_key
        self._links = links
        self._observer = observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        request = Request(scope)
        REQUEST_ID.set(request.id)
        status, headers, body = await self._answer(request)
        await send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [
                    *headers,
                    (b"content-length", b"%d" % len(body)),
                    (b"x-request-id", request.id.encode()),
                ],
            }
        )
        await send({"type": "http.response.body", "body": body})
        self._observer.answered(
            request.method,
            request.route,
            status,
            time.perf_counter() - started,
            request.id,
            request.token,
        )

    async def _answer(self, request: Request) -> tuple[int, Headers, bytes]:
        try:
            return 200, JSON, await self._perform(request)
        except DeskError as error:
            return failure(error)
        except Unavailable as error:
            log.warning("unavailable", reason=str(error))
            return failure(DeskError("UNAVAILABLE", "The service cannot answer just now; try again shortly."))
        except Exception:
            log.exception("failed", method=request.method, route=request.route)
            return failure(DeskError("INTERNAL", ""))

    async def _perform(self, request: Request) -> bytes:
        endpoint, id = self._routes.find(request.method, request.path)
        request.route = endpoint.path
        token = request.token = await self._authentication.authenticate(request.authorization)
        check_scopes(endpoint, token)
        call = Call(token, parsed_id(endpoint, id), self._parsers[endpoint.query].parse(request.query))
        if endpoint.is_paged:
            call.after = self._position(endpoint, call)
        read = self._store.read_aside if endpoint.aside(call) else self._store.read
        answer: Answer = await read(lambda tx: endpoint.operation(tx, call))
        match answer:
            case bytes():
                return envelope.of_object(answer)
            case list():
                return envelope.of_array(answer)
            case Page():
                return envelope.of_page(answer.documents, self._next_cursor(endpoint, call, answer))
            case KeptAttachment():
                shown: Attachment = await self._links.attach(answer, call.workspace_id, self._clock())
                return envelope.of_object(ENCODER.encode(shown))

    def _position(self, endpoint: Endpoint, call: Call) -> cursors.Position | None:
        cursor: str | None = getattr(call.query, "cursor", None)
        if cursor is None:
            return None
        try:
            return cursors.decode(
                self._cursor_key,
                cursor_scope(endpoint, call),
                cursor,
                self._clock(),
                endpoint.cursor_lifetime_us,
            )
        except cursors.BadCursor as error:
            raise invalid_query("cursor", str(error)) from None

    def _next_cursor(self, endpoint: Endpoint, call: Call, page: Page) -> str | None:
        if page.next is None:
            return None
        return cursors.encode(self._cursor_key, cursor_scope(endpoint, call), page.next, self._clock())


def cursor_scope(endpoint: Endpoint, call: Call) -> str:
    """A cursor is good for one list of one workspace."""
    return f"{call.workspace_id}{endpoint.path}:{call.id}"


def check_scopes(endpoint: Endpoint, token: Token) -> None:
    for scope in endpoint.scopes:
        if scope not in token.scopes:
            raise DeskError("INSUFFICIENT_SCOPE", f"The access token lacks the scope {scope}.")


def parsed_id(endpoint: Endpoint, text: str) -> str:
    if not endpoint.noun:
        return ""
    id = parse_id(text)
    if id is not None:
        return id
    if endpoint.bad_id is BadId.INVALID_INPUT:
        raise DeskError("INVALID_INPUT", "The id in the path is not a UUID.")
    raise not_found(endpoint.noun)


def failure(error: DeskError) -> tuple[int, Headers, bytes]:
    headers = JSON
    match error:
        case MethodNotAllowed():
            headers = [*JSON, (b"allow", error.allow.encode())]
        case DeskError(code="INVALID_TOKEN"):
            headers = [*JSON, (b"www-authenticate", b"Bearer")]
        case DeskError(code="UNAVAILABLE"):
            headers = [*JSON, (b"retry-after", b"%d" % RETRY_AFTER_S)]
    return STATUSES[error.code], headers, envelope.of_failure(error)
