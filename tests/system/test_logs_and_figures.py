"""What an operator reads of a running desk: its log and its figures, in which nothing of customers stands."""

import json
import re
import socket
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.system.conftest import Demo
from tests.system.operators import PREFIX, Operator, Served

ID = "the-id_of-this-1"


class Visited:
    """A demo after some visitors, stopped again."""

    def __init__(self, served: Served, token: str) -> None:
        self.served, self.token = served, token
        with served.client(token) as client:
            self.contact = next(each for each in client.api("/contacts").data if "email" in each)
            channel = client.api("/channels").data[0]["id"]
            client.api(f"/contacts?q={self.contact['email']}")
            since = "since=2026-01-01T00:00:00Z"
            client.api(f"/channels/{channel}/messages?{since}")
            self.message = client.api("/search?q=the").data[0]
            client.get(f"{PREFIX}/workspace", X_Request_ID=ID)
        self.ids = {
            200: served.get(f"{PREFIX}/workspace", token).headers["x-request-id"],
            400: served.get(f"{PREFIX}/channels?limit=private-words", token).headers["x-request-id"],
            401: served.get(f"{PREFIX}/workspace", "dwp_" + "a" * 40).headers["x-request-id"],
            404: served.get("/no/such/page-of-mine", token).headers["x-request-id"],
        }
        refused = served.say(b"GET / HTTP/1.1\r\n\r\n").decode()
        self.ids[400_000] = refused.partition("x-request-id: ")[2].split()[0]
        self.figures = served.get("/metrics").body.decode()
        assert served.stop() == 0
        self.log = served.log()

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.splitlines()]


@pytest.fixture(scope="module")
def visited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visited]:
    operator = Operator(tmp_path_factory.mktemp("visited"))
    demo = Demo(operator, operator.serve("--demo", "--log", "json", "--webhook-allow", "localhost:9"))
    yield Visited(demo.served, demo.token)
    operator.leave()


def test_every_line_is_json_with_time_level_and_event(visited: Visited) -> None:
    for record in visited.records():
        assert {"time", "level", "event"} <= record.keys()
    events = [record["event"] for record in visited.records()]
    assert any("DESKWIRE_WEBHOOK_ALLOW" in each for each in events)


def test_every_answer_has_a_line_with_its_request_id(visited: Visited) -> None:
    lines = {each["request_id"]: each for each in visited.records() if each["event"] == "request"}
    for status, id in visited.ids.items():
        assert lines[id]["status"] == (400 if status > 999 else status)
    assert lines[ID]["route"] == "/workspace"


def test_no_secret_and_nothing_of_a_customer_is_in_the_log(visited: Visited) -> None:
    assert visited.token not in visited.log and visited.token[:12] in visited.log
    assert "a" * 40 not in visited.log
    assert visited.contact["email"] not in visited.log and "@" not in visited.log
    assert visited.contact["id"] not in visited.log
    words = re.sub("<[^>]*>", "", visited.message["snippet"])
    assert words[:20] not in visited.log
    for asked in ("private-words", "page-of-mine", "since", "limit", "?"):
        assert asked not in visited.log


def test_the_figures_count_requests_by_route_and_status(visited: Visited) -> None:
    name = "deskwire_http_request_duration_seconds_count"
    for labels in (
        'method="GET",route="/workspace",status="200"',
        'method="GET",route="/workspace",status="401"',
        'method="GET",route="/channels",status="400"',
        'method="GET",route="/channels/{id}/messages",status="400"',
        'method="GET",route="unknown",status="404"',
        'method="OTHER",route="unknown",status="400"',
    ):
        assert f"{name}{{{labels}}}" in visited.figures
    assert "deskwire_commit_groups" in visited.figures
    for told in (visited.token[4:], visited.contact["email"], visited.contact["id"]):
        assert told not in visited.figures


def test_figures_may_have_a_port_of_their_own(operator: Operator) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    served = operator.serve("--workers", "2", DESKWIRE_METRICS=address)
    assert served.get("/metrics").code == "NOT_FOUND"
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
        assert b"deskwire_http_request_duration_seconds" in answer.read()
    assert served.stop() == 0
