"""The API as an ASGI application: one request from its head to its answer."""

import time
from collections.abc import Sequence
from typing import Protocol

import structlog
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from deskwire.api import envelope
from deskwire.api.authentication import Authentication
from deskwire.api.bodies import Body
from deskwire.api.body_parser import BodyParser
from deskwire.api.body_room import BodyRoom
from deskwire.api.endpoint import Answer, BadId, Call, Endpoint, Links, Made, Receivers
from deskwire.api.idempotency_key import parse_key
from deskwire.api.parameters import Query, QueryParser
from deskwire.api.rate_limit import RateLimiter
from deskwire.api.request_id import REQUEST_ID, request_id_of
from deskwire.api.routes import MethodNotAllowed, Routes
from deskwire.api.statuses import RETRY_AFTER_S, STATUSES
from deskwire.desk.attachments import KeptAttachment
from deskwire.desk.idempotency import Attempt, do_once
from deskwire.desk.pages import Page
from deskwire.desk.sealing import Seal
from deskwire.model import cursors
from deskwire.model.errors import DeskError, Unavailable, invalid_query, not_found
from deskwire.model.ids import parse_id
from deskwire.model.limits import MAX_BODY_BYTES, REQUESTS_AT_WORK
from deskwire.model.messages import Attachment
from deskwire.model.tokens import Token
from deskwire.store.clock import Clock
from deskwire.store.records import ENCODER
from deskwire.store.transaction import Store, Tx

Headers = list[tuple[bytes, bytes]]

JSON: Headers = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]
NO_BODY: Headers = [(b"cache-control", b"no-store")]
NO_CONTENT = 204
UNKNOWN_ROUTE = "unknown"

log = structlog.get_logger()


class Observer(Protocol):
    """Hears of every request that was answered."""

    def answered(
        self, method: str, route: str, status: int, seconds: float, request_id: str, token: Token | None
    ) -> None: ...


class Request:
    """What is known of a request so far; the observer is told of it when it is answered."""

    __slots__ = (
        "authorization",
        "content_type",
        "held_bytes",
        "id",
        "idempotency_key",
        "length",
        "method",
        "path",
        "query",
        "route",
        "token",
    )

    def __init__(self, scope: Scope) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope["query_string"]
        self.route = UNKNOWN_ROUTE
        self.token: Token | None = None
        self.authorization: bytes | None = None
        self.idempotency_key: bytes | None = None
        self.content_type = b""
        self.length = 0
        self.held_bytes = 0
        sent_id: bytes | None = None
        for name, value in scope["headers"]:
            if name == b"authorization":
                # Which of two would count is anybody's guess, so neither does.
                self.authorization = value.strip() if self.authorization is None else b""
            elif name == b"x-request-id":
                sent_id = value
            elif name == b"idempotency-key":
                # Two are refused like one that breaks its form.
                self.idempotency_key = value.strip() if self.idempotency_key is None else b""
            elif name == b"content-type":
                self.content_type = value
            elif name == b"content-length":
                self.length = int(value)
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
        seal: Seal,
        receivers: Receivers,
        max_body: int = MAX_BODY_BYTES,
        limiter: RateLimiter | None = None,
        most_at_work: int = REQUESTS_AT_WORK,
    ) -> None:
        self._routes = Routes(endpoints)
        self._parsers: dict[type[Query], QueryParser[Query]] = {
            endpoint.query: QueryParser(endpoint.query) for endpoint in endpoints
        }
        self._body_parsers: dict[type[Body], BodyParser[Body]] = {
            body: BodyParser(body) for endpoint in endpoints if (body := endpoint.body_read) is not None
        }
        self._max_body = max_body
        self._body_room = BodyRoom(max_body)
        self._limiter = limiter
        self._most_at_work = most_at_work
        self._at_work = 0
        self._store = store
        self._clock = clock
        self._authentication = authentication
        self._cursor_key = cursor_key
        self._links = links
        self._observer = observer
        self._seal = seal
        self._receivers = receivers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        request = Request(scope)
        REQUEST_ID.set(request.id)
        self._at_work += 1
        try:
            status, headers, body = await self._answer(request, receive)
        except ClientDisconnect:
            return
        finally:
            self._at_work -= 1
            self._body_room.give_back(request.held_bytes)
        if self._limiter is not None:
            headers = [*headers, *rate_headers(self._limiter, request.token)]
        headers = [*headers, (b"x-request-id", request.id.encode())]
        if status != NO_CONTENT:
            headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        self._observer.answered(
            request.method,
            request.route,
            status,
            time.perf_counter() - started,
            request.id,
            request.token,
        )

    async def _answer(self, request: Request, receive: Receive) -> tuple[int, Headers, bytes]:
        try:
            if self._at_work > self._most_at_work:
                raise DeskError("UNAVAILABLE", "The service has too much to do just now; try again shortly.")
            return await self._perform(request, receive)
        except DeskError as error:
            return failure(error)
        except ClientDisconnect:
            raise
        except Unavailable as error:
            log.warning("unavailable", reason=str(error))
            return failure(DeskError("UNAVAILABLE", "The service cannot answer just now; try again shortly."))
        except Exception:
            log.exception("failed", method=request.method, route=request.route)
            return failure(DeskError("INTERNAL", ""))

    async def _perform(self, request: Request, receive: Receive) -> tuple[int, Headers, bytes]:
        endpoint, id = self._routes.find(request.method, request.path)
        request.route = endpoint.path
        token = request.token = await self._authentication.authenticate(request.authorization)
        if self._limiter is not None:
            await self._limiter.spend(token)
        check_scopes(endpoint, token)
        query = self._parsers[endpoint.query].parse(request.query)
        call = Call(token, parsed_id(endpoint, id), query, self._seal)
        if endpoint.is_paged:
            call.after = self._position(endpoint, call)
        if request.length > self._max_body:
            raise too_long(self._max_body)
        body = endpoint.body_read
        if body is not None:
            raw = await read_body(request, receive, self._max_body, self._body_room)
            if raw or endpoint.body is not None:
                call.body = self._body_parsers[body].parse(raw)
            if endpoint.is_idempotent and request.idempotency_key is not None:
                call.attempt = Attempt(
                    f"{endpoint.method} {endpoint.path}", parse_key(request.idempotency_key), raw
                )
        if endpoint.before is not None:
            call.refusal = await endpoint.before(call, self._receivers)
        try:
            answer = await self._operate(endpoint, call, request.id)
        finally:
            # Once raised it knows frames that know the call: it would be in a circle.
            call.refusal = None
        if answer is None:
            return NO_CONTENT, NO_BODY, b""
        status = endpoint.status if isinstance(answer, Made) else 200
        return status, JSON, await self._enveloped(endpoint, call, answer)

    async def _operate(self, endpoint: Endpoint, call: Call, cause: str) -> Answer:
        attempt = call.attempt
        if attempt is not None:
            return await self._store.write(lambda tx: made_once(tx, endpoint, call, attempt), cause)
        if endpoint.is_write:
            return await self._store.write(lambda tx: perform(tx, endpoint, call), cause)
        read = self._store.read_aside if endpoint.aside(call) else self._store.read
        return await read(lambda tx: endpoint.operation(tx, call))

    async def _enveloped(
        self, endpoint: Endpoint, call: Call, answer: bytes | Made | list[bytes] | Page | KeptAttachment
    ) -> bytes:
        match answer:
            case bytes():
                return envelope.of_object(answer)
            case Made():
                return envelope.of_object(answer.document)
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


async def perform(tx: Tx, endpoint: Endpoint, call: Call) -> Answer:
    if call.refusal is not None:
        raise call.refusal
    return await endpoint.operation(tx, call)


async def made_once(tx: Tx, endpoint: Endpoint, call: Call, attempt: Attempt) -> Made:
    """What was made by the first request is answered even if it would be refused by now."""

    async def make() -> bytes:
        made = await perform(tx, endpoint, call)
        assert isinstance(made, Made), "an operation with an idempotency key makes something"
        return made.document

    return Made(await do_once(tx, call.token, call.seal, attempt, make))


async def read_body(request: Request, receive: Receive, max_bytes: int, room: BodyRoom) -> bytes:
    """One that does not say how long it is is refused as soon as it is too long."""
    chunks: list[bytes] = []
    length = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunks.append(message.get("body", b""))
        length += len(chunks[-1])
        if length > max_bytes:
            raise too_long(max_bytes)
        request.held_bytes = room.take(request.held_bytes, length)
        if not message.get("more_body", False):
            break
    body = b"".join(chunks)
    if body and not is_json(request.content_type):
        raise DeskError("UNSUPPORTED_MEDIA_TYPE", "The body must be sent as application/json.")
    return body


def too_long(max_bytes: int) -> DeskError:
    return DeskError("PAYLOAD_TOO_LARGE", f"The body is longer than {max_bytes} bytes.")


def is_json(content_type: bytes) -> bool:
    return content_type.partition(b";")[0].strip().lower() == b"application/json"


def rate_headers(limiter: RateLimiter, token: Token | None) -> Headers:
    """The policy is the same for everybody; what is left is that of the token which asked."""
    headers = [(b"ratelimit-policy", limiter.policy)]
    if token is not None:
        standing = limiter.standing(token)
        headers.append((b"ratelimit", b'"token";r=%d;t=%d' % standing))
    return headers


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
        case DeskError(retry_after_s=int(seconds)):
            headers = [*JSON, (b"retry-after", b"%d" % seconds)]
    return STATUSES[error.code], headers, envelope.of_failure(error)
