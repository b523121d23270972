"""What every answer has in common: envelope, headers, request id, methods, and faults that show nothing."""

import io
import json
import re
from collections.abc import Iterator
from uuid import UUID

import apsw
import pytest
import structlog
from structlog.testing import capture_logs

from deskwire.api.endpoint import Endpoint
from deskwire.api.routes import PREFIX
from deskwire.api.statuses import RETRY_AFTER_S
from deskwire.api.table import ENDPOINTS, READS
from deskwire.store import sqlite
from deskwire.store.sqlite import SqliteStore
from tests.api.client import Answer
from tests.api.desk import Desk, House
from tests.api.filled import Filled, query_of
from tests.engines import Run

UNKNOWN_PATHS = [
    "/",
    "/nothing",
    "/Members",
    "/members/",
    "/workspace/",
    "/workspace/x",
    "/hours/00000000-0000-4000-8000-000000000000",
    "//members",
    "/members//",
    "/contacts//tags",
    "/contacts/x/tags/",
    "/contacts/x/tags/y",
    "/contacts/x/nothing",
    "/channels/x/messages/y",
    "/teams/x",
    "/voice",
    "/voice/calls/x",
    "/search/",
    "/openapi.json/",
    "/%2e%2e/members",
    "/members%2f",
    "/.",
    "/%C3%A9",
    "/%FF",
    "/%00",
]
METHODS = ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get", "FOO"]
FORBIDDEN_HEADERS = ("access-control-", "server", "x-powered-by")


def every_kind_of_answer(
    desk: Desk, headers: tuple[tuple[str, str], ...] = ()
) -> Iterator[tuple[int, Answer]]:
    """An answer of each status that a read can have, of the API and of the pages beside it."""
    for status, path, query in (
        (200, "/workspace", ""),
        (200, "/tasks", ""),
        (400, "/tasks", "limit=0"),
        (400, "/members/x", ""),
        (404, "/tasks/x", ""),
        (404, "/nothing", ""),
    ):
        yield status, desk.get(path, query, headers=headers)
    yield 403, desk.get("/tasks", token=desk.token(), headers=headers)
    yield 401, desk.house.send(f"{PREFIX}/tasks", headers=headers)
    yield 405, desk.get("/tasks", method="DELETE", headers=headers)
    for status, path in (
        *((200, path) for path in ("/healthz", "/readyz", "/metrics", "/docs", f"{PREFIX}/openapi.json")),
        (307, "/"),
        (404, "/nothing"),
        (404, PREFIX),
        (403, "/attachments/x/y"),
    ):
        yield status, desk.house.send(path, headers=headers)
    yield 405, desk.house.send("/healthz", method="POST", headers=headers)


def test_every_answer_has_a_request_id_of_its_own_when_none_was_sent(desk: Desk) -> None:
    seen = []
    for status, answer in every_kind_of_answer(desk):
        assert answer.status == status
        seen.append(answer.header("x-request-id"))
        assert seen[-1] is not None and str(UUID(seen[-1])) == seen[-1]
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("sent", ["a", "A-z_09", "x" * 64, "-", "00000000-0000-4000-8000-000000000000"])
def test_a_request_id_of_at_most_64_plain_characters_is_echoed_on_every_answer(desk: Desk, sent: str) -> None:
    for _, answer in every_kind_of_answer(desk, (("x-request-id", sent),)):
        assert answer.header("x-request-id") == sent


def test_blanks_around_a_request_id_are_no_part_of_it(desk: Desk) -> None:
    for _, answer in every_kind_of_answer(desk, (("x-request-id", " a\t"),)):
        assert answer.header("x-request-id") == "a"


@pytest.mark.parametrize("sent", ["", "x" * 65, "a b", "a.b", "é", "a,b", "²", "a/b", '"a"', "<script>"])
def test_any_other_request_id_is_replaced_on_every_answer(desk: Desk, sent: str) -> None:
    for _, answer in every_kind_of_answer(desk, (("x-request-id", sent),)):
        shown = answer.header("x-request-id")
        assert shown is not None and str(UUID(shown)) == shown


def test_no_answer_has_a_cors_header_or_says_what_serves_it(desk: Desk) -> None:
    asking = (("origin", "https://example.com"), ("access-control-request-method", "GET"))
    answers = [answer for _, answer in every_kind_of_answer(desk, asking)]
    answers += [desk.get("/tasks", method="OPTIONS", headers=asking)]
    answers += [desk.house.send("/healthz", method="OPTIONS", headers=asking)]
    for answer in answers:
        assert not [name for name, _ in answer.headers if name.startswith(FORBIDDEN_HEADERS)]


def test_every_failure_has_the_envelope_and_details_only_when_there_is_something(desk: Desk) -> None:
    with_details = set()
    for status, answer in every_kind_of_answer(desk):
        if status < 400:
            continue
        assert answer.header("content-type") == "application/json"
        assert answer.json["error"]["message"]
        if "details" in answer.json["error"]:
            with_details.add(answer.code)
            assert set(answer.json["error"]["details"]) == {"fields"}
            for field in answer.json["error"]["details"]["fields"]:
                assert set(field) == {"field", "problem"}
    assert with_details == {"INVALID_QUERY"}


def test_the_length_is_said_and_every_answer_of_the_api_is_json_that_is_not_kept(desk: Desk) -> None:
    for _, answer in every_kind_of_answer(desk):
        assert answer.header("content-length") == str(len(answer.body))
    for path in ("/workspace", "/tasks", "/search?q=x", "/nothing"):
        answer = desk.get(path)
        assert answer.header("content-type") == "application/json"
        assert answer.header("cache-control") == "no-store"
        assert answer.header("x-content-type-options") == "nosniff"
        assert json.loads(answer.body.decode("utf-8")) == answer.json


@pytest.mark.parametrize("path", UNKNOWN_PATHS)
def test_an_unknown_path_is_not_found_in_any_method(desk: Desk, path: str) -> None:
    for method in ("GET", "HEAD", "POST", "OPTIONS"):
        answer = desk.get(path, method=method)
        assert answer.failure == (404, "NOT_FOUND"), method
        assert "no such path" in answer.json["error"]["message"]


@pytest.mark.parametrize("endpoint", READS, ids=lambda endpoint: endpoint.path)
def test_a_path_with_a_slash_or_a_segment_too_many_is_another_path(
    filled: Filled, endpoint: Endpoint
) -> None:
    path = filled.path(endpoint)
    for more in ("/", "//", "/x/y/z"):
        assert filled.desk.get(path + more, query_of(endpoint)).failure == (404, "NOT_FOUND"), more


@pytest.mark.parametrize("endpoint", READS, ids=lambda endpoint: endpoint.path)
def test_a_method_that_is_not_there_is_answered_with_those_that_are(
    filled: Filled, endpoint: Endpoint
) -> None:
    there = {each.method for each in ENDPOINTS if each.path == endpoint.path} | {"HEAD"}
    for method in METHODS:
        if method in there:
            continue
        answer = filled.desk.get(filled.path(endpoint), query_of(endpoint), method=method)
        assert answer.failure == (405, "METHOD_NOT_ALLOWED")
        assert set((answer.header("allow") or "").split(", ")) == there


@pytest.mark.parametrize("endpoint", READS, ids=lambda endpoint: endpoint.path)
def test_head_is_answered_as_get_is(filled: Filled, endpoint: Endpoint) -> None:
    got = filled.get(endpoint)
    headed = filled.desk.get(filled.path(endpoint), query_of(endpoint), method="HEAD")
    assert headed.status == got.status == 200
    without_id = [header for header in got.headers if header[0] != "x-request-id"]
    assert [header for header in headed.headers if header[0] != "x-request-id"] == without_id


def test_the_observer_hears_of_every_answer_with_its_route_not_its_path(filled: Filled) -> None:
    observed = filled.desk.house.observed
    for endpoint in READS:
        filled.get(endpoint)
        method, route, status, token = observed.seen[-1]
        assert (method, route, status) == ("GET", endpoint.path, 200)
        assert token is not None and token.workspace_id == filled.desk.workspace_id
    filled.desk.get("/nothing/secret")
    assert observed.seen[-1][1:3] == ("unknown", 404)


def spoil(house: House, statement: str) -> None:
    """Changes the database behind the application's back."""
    store = house.store

    async def execute() -> None:
        if isinstance(store, SqliteStore):
            apsw.Connection(str(store.path)).execute(statement)
        else:
            await store.pool.execute(statement)

    house.run(execute())


def test_a_failing_workflow_store_is_500_internal_with_an_empty_message_and_the_log_says_why(
    own_house: House,
) -> None:
    filled = Filled(own_house.open_desk())
    spoil(own_house, "ALTER TABLE workflows RENAME TO elsewhere")
    with capture_logs() as logged:
        answer = filled.desk.get("/workflows")
    assert answer.failure == (500, "INTERNAL")
    assert answer.json == {"success": False, "error": {"code": "INTERNAL", "message": ""}}
    (entry,) = [each for each in logged if each["log_level"] == "error"]
    assert (entry["event"], entry["route"], entry["exc_info"]) == ("failed", "/workflows", True)
    for endpoint in READS:
        assert filled.get(endpoint).status == (500 if endpoint.path == "/workflows" else 200)
    spoil(own_house, "ALTER TABLE elsewhere RENAME TO workflows")
    assert filled.desk.get("/workflows").status == 200


def test_the_log_of_a_failure_names_the_cause(own_house: House) -> None:
    desk = own_house.open_desk()
    spoil(own_house, "ALTER TABLE workflows RENAME TO elsewhere")
    written = io.StringIO()
    with_text = structlog.get_config()
    structlog.configure(
        processors=[structlog.processors.format_exc_info, structlog.processors.JSONRenderer()],
        logger_factory=structlog.PrintLoggerFactory(written),
        cache_logger_on_first_use=False,
    )
    try:
        desk.get("/workflows")
    finally:
        structlog.configure(**with_text)
    assert re.search("workflows.*(does not exist|no such table)|no such table: workflows", written.getvalue())


def test_a_fault_inside_an_endpoint_shows_nothing_of_itself(own_house: House) -> None:
    filled = Filled(own_house.open_desk())
    for table in ("tasks", "contacts", "channels", "messages"):
        spoil(own_house, f"ALTER TABLE {table} RENAME TO gone_{table}")
    with capture_logs():
        for path, query in (("/tasks", ""), ("/contacts", "q=a"), ("/channels", ""), ("/search", "q=hello")):
            answer = filled.desk.get(path, query)
            assert answer.json == {"success": False, "error": {"code": "INTERNAL", "message": ""}}
            assert answer.status == 500


def take_away(house: House, run: Run) -> None:
    if isinstance(house.store, SqliteStore):
        house.store.path.rename(house.store.path.with_suffix(".away"))
    else:
        run(house.store.pool.expire_connections())
        house.store.pool.set_connect_args("postgresql://127.0.0.1:1/nowhere")


def test_a_database_that_is_away_is_503_with_retry_after_on_every_route(
    own_house: House, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "FILE_LOOK_S", 0)
    filled = Filled(own_house.open_desk())
    for endpoint in READS:
        assert filled.get(endpoint).status == 200
    take_away(own_house, run)
    with capture_logs():
        for endpoint in READS:
            answer = filled.get(endpoint)
            assert answer.failure == (503, "UNAVAILABLE")
            assert answer.header("retry-after") == str(RETRY_AFTER_S)
            assert "deskwire.db" not in answer.body.decode()
            assert "127.0.0.1" not in answer.body.decode()
        # The token is looked up too.
        own_house.steady.seconds += 60
        assert filled.desk.get("/workspace").failure == (503, "UNAVAILABLE")
        # What needs no database is answered as ever.
        assert filled.desk.get("/nothing").failure == (404, "NOT_FOUND")
        assert own_house.send("/healthz").status == 200


def test_a_database_file_that_comes_back_is_taken_up_again(
    own_house: House, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "FILE_LOOK_S", 0)
    store = own_house.store
    if not isinstance(store, SqliteStore):
        pytest.skip("a server that comes back is the pool's matter")
    desk = own_house.open_desk()
    take_away(own_house, run)
    with capture_logs():
        assert desk.get("/tasks").status == 503
    store.path.with_suffix(".away").rename(store.path)
    assert desk.get("/tasks").status == 200
