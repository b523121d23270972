"""The reference page: whole, escaped, needing nothing else, and its commands work."""

import argparse
import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

import pytest

from deskwire.api.endpoint import Endpoint
from deskwire.api.failures import codes_of
from deskwire.api.html import VOID, coloured, element, prose
from deskwire.api.openapi import document
from deskwire.api.operation_ids import operation_id
from deskwire.api.reference import curl, operations_of, page
from deskwire.api.routes import PREFIX
from deskwire.api.table import ENDPOINTS
from deskwire.model.event_examples import EVENT_EXAMPLES
from deskwire.model.scopes import SCOPES
from tests.api.example_desk import BASE_URL, VERSION, ExampleDesk

each_endpoint = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda one: f"{one.method} {one.path}")
HOSTILE = "<script>alert('1')</script> & \"quoted\" `<b>code</b>`"


class Reader(HTMLParser):
    """What stands on a page, and what would make it a bad one."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.words: dict[str, str] = {}
        self._open: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.attributes += known.items()
        if tag not in VOID:
            self._open.append((tag, known.get("id", "")))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for _, id in self._open:
            self.words[id] = self.words.get(id, "") + data

    def all_of(self, name: str) -> list[str]:
        return [value for key, value in self.attributes if key == name]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExampleDesk]:
    found = ExampleDesk(tmp_path_factory.mktemp("desk"))
    yield found
    found.close()


@pytest.fixture
def own_desk(tmp_path: Path) -> Iterator[ExampleDesk]:
    """Nobody has deleted in it what another test asks for."""
    found = ExampleDesk(tmp_path)
    yield found
    found.close()


@pytest.fixture(scope="module")
def text() -> str:
    return page(ENDPOINTS, BASE_URL, VERSION).decode()


@pytest.fixture(scope="module")
def read(text: str) -> Reader:
    return Reader(text)


def test_the_page_loads_nothing_and_runs_nothing(text: str, read: Reader) -> None:
    assert not {"script", "img", "iframe", "object", "form", "link", "base"} & set(read.tags)
    assert not [name for name, _ in read.attributes if name in ("src", "style") or name.startswith("on")]
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style


def test_the_page_is_for_phones_and_for_dark_rooms_too(text: str, read: Reader) -> None:
    assert "width=device-width, initial-scale=1" in read.all_of("content")
    assert "prefers-color-scheme: dark" in text


def test_every_link_leads_to_a_place_on_the_page(read: Reader) -> None:
    ids, links = read.all_of("id"), read.all_of("href")
    assert len(set(ids)) == len(ids)
    assert links
    assert {link.removeprefix("#") for link in links} <= set(ids)
    assert all(link.startswith("#") for link in links)


@each_endpoint
def test_an_operation_is_told_whole(read: Reader, endpoint: Endpoint) -> None:
    told = read.words[operation_id(endpoint)]
    for wanted in (
        endpoint.method,
        endpoint.path,
        endpoint.summary,
        *endpoint.scopes,
        *endpoint.query.__struct_fields__,
        *codes_of(endpoint),
        *(endpoint.body.__struct_fields__ if endpoint.body else ()),
        *(('"success": true',) if endpoint.shows else ("204",)),
    ):
        assert wanted in told


def test_every_operation_is_in_the_contents(read: Reader) -> None:
    listed = read.words["contents"]
    for endpoint in ENDPOINTS:
        assert f"{endpoint.method} {endpoint.summary}" in listed


def test_every_kind_of_event_is_told_with_its_example(read: Reader) -> None:
    for kind, example in EVENT_EXAMPLES.items():
        assert kind in read.words["contents"]
        assert json.dumps(example, indent=2, ensure_ascii=False) in read.words[f"event-{kind}"]


def test_every_scope_and_every_resource_is_on_the_page(read: Reader) -> None:
    for scope in SCOPES:
        assert scope in read.words["scopes"]
    for name, schema in document(ENDPOINTS, BASE_URL, VERSION)["components"]["schemas"].items():
        for key in schema["properties"]:
            assert key in read.words[f"resource-{name}"]


def test_whatever_a_row_says_is_escaped() -> None:
    hostile = replace(ENDPOINTS[0], summary=HOSTILE, description=HOSTILE)
    read = Reader(page([hostile], BASE_URL + HOSTILE, VERSION + HOSTILE).decode())
    assert not {"script", "b"} & set(read.tags)
    assert HOSTILE.replace("`", "") in read.words[operation_id(hostile)]


@each_endpoint
def test_a_command_that_is_pasted_into_a_shell_is_answered(own_desk: ExampleDesk, endpoint: Endpoint) -> None:
    described = document([endpoint], BASE_URL, VERSION)
    asked = understood(curl(described, operations_of(described)[0]), own_desk.token)
    assert asked.method == endpoint.method
    assert f"Authorization: Bearer {own_desk.token}" in asked.headers
    assert bool(asked.body) == ("Content-Type: application/json" in asked.headers) == bool(endpoint.body)
    path = urlsplit(asked.url).path
    assert path.startswith(PREFIX)
    query = urlencode([(name, value) for name, _, value in (pair.partition("=") for pair in asked.query)])
    answer = own_desk.ask(path.removeprefix(PREFIX), query, method=asked.method, body=asked.body.encode())
    assert answer.status == endpoint.status


def test_text_between_backticks_is_code() -> None:
    assert prose("use `a<b` & go") == "use <code>a&lt;b</code> &amp; go"


def test_an_attribute_cannot_be_broken_out_of() -> None:
    assert element("a", "x", href='#"><b>') == '<a href="#&quot;&gt;&lt;b&gt;">x</a>'


def test_coloured_json_reads_as_it_was() -> None:
    value = {'a"<b>': ["x: \\", -1.5e3, True, None, {"c": "<&>"}]}
    shown = json.dumps(value, indent=2)
    marked = Reader(f"<p id='it'>{coloured(shown)}</p>")
    assert marked.words["it"] == shown
    assert marked.all_of("class") == ["key", "text", "value", "value", "value", "key", "text"]


class Asked(NamedTuple):
    """What curl would send."""

    method: str
    url: str
    headers: list[str]
    query: list[str]
    body: str


def understood(command: str, token: str) -> Asked:
    """The arguments of curl as a shell makes them of the command, and as curl takes them."""
    script = f'curl() {{ printf "%s\\0" "$@"; }}\n{command}\n'
    run = subprocess.run(
        ["sh", "-eu", "-c", script], env={"TOKEN": token}, capture_output=True, text=True, check=True
    )
    options = argparse.ArgumentParser(exit_on_error=False, allow_abbrev=False)
    options.add_argument("url")
    options.add_argument("--get", action="store_true")
    options.add_argument("-X", dest="method")
    options.add_argument("-H", dest="headers", action="append", default=[])
    options.add_argument("-d", dest="body", default="")
    options.add_argument("--data-urlencode", dest="query", action="append", default=[])
    found = options.parse_args(run.stdout.split("\0")[:-1])
    assert found.get == bool(found.query)
    usual = "POST" if found.body else "GET"
    return Asked(found.method or usual, found.url, found.headers, found.query, found.body)
