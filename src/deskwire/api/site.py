"""All that is answered: the API under its prefix, and beside it health, figures, reference and downloads."""

import re
import time
from collections.abc import Awaitable, Callable

import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deskwire.api.app import Observer
from deskwire.api.downloads import Downloads
from deskwire.api.request_id import REQUEST_ID, request_id_of
from deskwire.api.responses import failed
from deskwire.api.routes import PREFIX, MethodNotAllowed
from deskwire.model.errors import DeskError, Unavailable
from deskwire.store.health import schema_version
from deskwire.store.schema import what_to_do
from deskwire.store.transaction import Store

JSON = "application/json"
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"

log = structlog.get_logger()

Handler = Callable[[Request], Awaitable[Response]]


class Site:
    """Requests of the API go straight to it; the pages beside it are Starlette's."""

    def __init__(self, api: ASGIApp, pages: ASGIApp) -> None:
        self._api = api
        self._pages = pages

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        path: str = scope["path"]
        is_api = path.startswith(PREFIX + "/") and path != OPENAPI_PATH
        return (self._api if is_api else self._pages)(scope, receive, send)


OPENAPI_PATH = f"{PREFIX}/openapi.json"


def pages(
    store: Store,
    downloads: Downloads,
    observer: Observer,
    *,
    openapi: bytes,
    reference: bytes,
    metrics: Callable[[], bytes] | None,
    delivers: Callable[[], bool] | None = None,
) -> ASGIApp:
    """`delivers` says whether the delivery worker of this process works, if it has one."""
    routes = [
        page("/", redirect_to_reference),
        page("/docs", constant(reference, "text/html; charset=utf-8", REFERENCE_HEADERS)),
        page(OPENAPI_PATH, constant(openapi, JSON, {})),
        page("/healthz", constant(b'{"status":"ok"}', JSON, NO_STORE)),
        page("/readyz", Readiness(store, delivers).answer),
        page("/attachments/{workspace_id}/{attachment_id}", downloads.download),
    ]
    if metrics is not None:
        routes.append(page("/metrics", figures(metrics)))
    return Identified(application(routes), observer)


def metrics_pages(metrics: Callable[[], bytes], observer: Observer) -> ASGIApp:
    """For a port of their own."""
    return Identified(application([page("/metrics", figures(metrics))]), observer)


def page(path: str, answer: Handler) -> Route:
    """Starlette's own pattern takes a line break after the path for its end."""
    route = Route(path, answer)
    route.path_regex = re.compile(route.path_regex.pattern.removesuffix("$") + r"\Z")
    return route


NO_STORE = {"cache-control": "no-store"}
REFERENCE_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


def application(routes: list[Route]) -> Starlette:
    app = Starlette(
        routes=routes,
        exception_handlers={
            HTTPException: refuse,
            DeskError: refuse_desk,
            Unavailable: refuse_unavailable,
            Exception: refuse_unexpected,
        },
    )
    app.router.redirect_slashes = False
    return app


def constant(body: bytes, media_type: str, headers: dict[str, str]) -> Handler:
    async def answer(_request: Request) -> Response:
        return Response(body, media_type=media_type, headers=headers)

    return answer


def figures(render: Callable[[], bytes]) -> Handler:
    async def answer(_request: Request) -> Response:
        return Response(render(), headers={"content-type": PROMETHEUS, **NO_STORE})

    return answer


async def redirect_to_reference(_request: Request) -> Response:
    return RedirectResponse("/docs")


class Readiness:
    """Ready is who can answer: the database is reachable and has the schema that this version speaks, and
    the delivery worker, where one should, runs."""

    def __init__(self, store: Store, delivers: Callable[[], bool] | None) -> None:
        self._store = store
        self._delivers = delivers

    async def answer(self, _request: Request) -> Response:
        try:
            version = await self._store.read(schema_version)
            problem = what_to_do(version)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is why this process is not ready
            log.warning("not ready", reason=str(error))
            problem = "the database is not reachable"
        if problem is None and self._delivers is not None and not self._delivers():
            problem = "the delivery worker does not run"
        if problem is None:
            return Response(b'{"status":"ready"}', media_type=JSON, headers=NO_STORE)
        return failed(DeskError("UNAVAILABLE", problem))


async def refuse(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "GET")
        return failed(MethodNotAllowed(allowed.split(", ")))
    return failed(DeskError("NOT_FOUND", "There is no such path; the reference is at /docs."))


async def refuse_desk(_request: Request, error: Exception) -> Response:
    assert isinstance(error, DeskError)
    return failed(error)


async def refuse_unavailable(_request: Request, error: Exception) -> Response:
    log.warning("unavailable", reason=str(error))
    return failed(DeskError("UNAVAILABLE", "The service cannot answer just now; try again shortly."))


async def refuse_unexpected(_request: Request, error: Exception) -> Response:
    log.error("failed", exc_info=error)
    return failed(DeskError("INTERNAL", ""))


class Identified:
    """Gives every answer its request id, and tells the observer of it."""

    def __init__(self, app: ASGIApp, observer: Observer) -> None:
        self._app = app
        self._observer = observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        request_id = request_id_of(dict(scope["headers"]).get(b"x-request-id"))
        REQUEST_ID.set(request_id)
        status = 500

        async def send_identified(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, send_identified)
        finally:
            route = scope.get("route")
            template = route.path if isinstance(route, Route) else "unknown"
            self._observer.answered(
                scope["method"], template, status, time.perf_counter() - started, request_id, None
            )
