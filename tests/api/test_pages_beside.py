"""The pages beside the API: health, readiness, figures, reference, and the way to it."""

import contextlib

import pytest
from starlette.types import Receive, Scope, Send
from structlog.testing import capture_logs

from deskwire.api import site
from deskwire.api.routes import PREFIX
from deskwire.api.statuses import RETRY_AFTER_S
from deskwire.store import postgres, sqlite
from tests.api.client import send
from tests.api.desk import Desk, House, Observed
from tests.api.test_answers import spoil, take_away
from tests.engines import Run

PAGES = ["/healthz", "/readyz", "/metrics", "/docs", "/", f"{PREFIX}/openapi.json"]


@pytest.mark.parametrize("path", [*PAGES, "/workspace"])
def test_a_line_break_behind_a_path_makes_another_one_of_it(house: House, path: str) -> None:
    assert house.send(f"{path}%0a").status == house.send(f"{path}\n").status == 404


def test_healthz_says_that_the_process_is_up(house: House) -> None:
    answer = house.send("/healthz")
    assert (answer.status, answer.json) == (200, {"status": "ok"})
    assert answer.header("content-type") == "application/json"
    assert answer.header("cache-control") == "no-store"


def test_readyz_says_that_the_database_answers_with_the_right_schema(house: House) -> None:
    answer = house.send("/readyz")
    assert (answer.status, answer.json) == (200, {"status": "ready"})
    assert answer.header("cache-control") == "no-store"


@pytest.mark.parametrize(
    ("statement", "advice"),
    [
        ("UPDATE alembic_version SET version_num = '0000'", "run `deskwire migrate` first"),
        ("DELETE FROM alembic_version", "run `deskwire migrate` first"),
        ("UPDATE alembic_version SET version_num = '9999'", "install a newer Deskwire"),
        ("DROP TABLE alembic_version", "not reachable"),
    ],
)
def test_readyz_says_what_to_do_when_the_schema_is_another(
    own_house: House, statement: str, advice: str
) -> None:
    spoil(own_house, statement)
    with capture_logs():
        answer = own_house.send("/readyz")
    assert answer.failure == (503, "UNAVAILABLE")
    assert answer.header("retry-after") == str(RETRY_AFTER_S)
    assert advice in answer.json["error"]["message"]
    assert own_house.send("/healthz").status == 200


def test_readyz_says_that_a_database_is_away_and_the_log_says_why(
    own_house: House, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "FILE_LOOK_S", 0)
    monkeypatch.setattr(postgres, "ACQUIRE_TIMEOUT_S", 0.5)
    own_house.send("/readyz")
    take_away(own_house, run)
    with capture_logs() as logged:
        answer = own_house.send("/readyz")
    assert answer.failure == (503, "UNAVAILABLE")
    assert answer.header("retry-after") == str(RETRY_AFTER_S)
    (entry,) = logged
    assert (entry["event"], entry["log_level"]) == ("not ready", "warning")
    assert entry["reason"]


def test_metrics_are_prometheus_text(house: House) -> None:
    answer = house.send("/metrics")
    assert (answer.status, answer.body) == (200, b"figures 1\n")
    assert answer.header("content-type") == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.header("cache-control") == "no-store"


def test_metrics_can_be_closed_off_and_stand_on_a_port_of_their_own(house: House) -> None:
    def figures() -> bytes:
        return b"figures 2\n"

    own_port = site.metrics_pages(figures, Observed())
    assert house.run(send(own_port, "GET", "/metrics")).body == b"figures 2\n"
    assert house.run(send(own_port, "GET", "/healthz")).failure == (404, "NOT_FOUND")
    closed = site.pages(house.store, house.downloads, Observed(), openapi=b"{}", reference=b"", metrics=None)
    assert house.run(send(closed, "GET", "/metrics")).failure == (404, "NOT_FOUND")


def test_the_root_leads_to_the_reference(house: House) -> None:
    answer = house.send("/")
    assert (answer.status, answer.header("location")) == (307, "/docs")


def test_the_reference_loads_nothing_from_elsewhere(house: House) -> None:
    answer = house.send("/docs")
    assert answer.header("content-type") == "text/html; charset=utf-8"
    assert "default-src 'none'" in (answer.header("content-security-policy") or "")


def test_the_openapi_document_needs_no_token(house: House) -> None:
    answer = house.send(f"{PREFIX}/openapi.json")
    assert (answer.status, answer.header("content-type")) == (200, "application/json")


@pytest.mark.parametrize("path", PAGES)
def test_head_is_answered_and_other_methods_are_refused_with_allow(house: House, path: str) -> None:
    assert house.send(path, method="HEAD").status == house.send(path).status
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        answer = house.send(path, method=method)
        assert answer.failure == (405, "METHOD_NOT_ALLOWED")
        assert set((answer.header("allow") or "").split(", ")) == {"GET", "HEAD"}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_needs_no_token_and_ignores_one(desk: Desk, path: str) -> None:
    headers = (("authorization", f"Bearer {desk.secret}"), ("authorization", "nonsense"))
    assert desk.house.send(path, headers=headers).status == desk.house.send(path).status


@pytest.mark.parametrize(
    "path",
    [
        "/health",
        "/healthz/",
        "/docs/",
        "/api",
        "/api/public",
        PREFIX,
        "/api/public/v2/tasks",
        "/attachments",
        "/attachments/x",
        "//",
        "/%2e%2e/etc/passwd",
        "/%00",
    ],
)
def test_any_other_path_is_not_found_in_the_envelope(house: House, path: str) -> None:
    answer = house.send(path)
    assert answer.failure == (404, "NOT_FOUND")
    assert answer.header("content-type") == "application/json"


def test_the_observer_hears_of_pages_by_their_route(house: House) -> None:
    for path, route, status in (
        ("/healthz", "/healthz", 200),
        ("/attachments/x/y", "/attachments/{workspace_id}/{attachment_id}", 403),
        ("/nothing", "unknown", 404),
    ):
        house.send(path)
        assert house.observed.seen[-1] == ("GET", route, status, None)


def test_a_page_that_fails_says_internal_and_no_more_and_the_log_says_why(house: House) -> None:
    def fail() -> bytes:
        raise RuntimeError("secret of the house")

    app = site.metrics_pages(fail, Observed())

    async def contained(scope: Scope, receive: Receive, send: Send) -> None:
        with contextlib.suppress(RuntimeError):
            await app(scope, receive, send)

    with capture_logs() as logged:
        answer = house.run(send(contained, "GET", "/metrics"))
    assert answer.json == {"success": False, "error": {"code": "INTERNAL", "message": ""}}
    assert answer.status == 500
    (entry,) = logged
    assert (entry["event"], str(entry["exc_info"])) == ("failed", "secret of the house")
