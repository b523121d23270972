"""A workspace that moves: exported from one engine, imported into the other, and back."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.system.conftest import Demo, Hire
from tests.system.operators import Operator
from tests.system.walk import Walk, differences


class Home:
    """Where the workspace is: whose it is, its id and a token."""

    def __init__(self, operator: Operator, workspace: str, token: str, *place: str) -> None:
        self.operator, self.workspace, self.token, self.place = operator, workspace, token, place

    def walk(self, *, brisk: bool = False) -> dict[str, bytes]:
        served = self.operator.serve()
        with served.client(self.token) as client:
            answers = Walk(client, brisk=brisk).run()
        assert served.stop() == 0
        return answers

    def export(self) -> Path:
        file = self.operator.folder / "moving.ndjson"
        done = self.operator.run("export", "--workspace", self.workspace, "--output", file, *self.place)
        assert done.code == 0, done.err
        return file

    def assert_sound(self) -> None:
        checked = self.operator.run("check", *self.place)
        assert (checked.code, checked.err) == (0, ""), checked.out


def settle(operator: Operator, workspace: str, records: Path) -> Home:
    owner = next(each for each in read(records, "member") if each["role"] == "owner")
    operator.new_workspace("--id", workspace, email=str(owner["email"]))
    done = operator.run("import", records, "--workspace", workspace, "--json")
    assert done.json["imported"] is True
    return Home(operator, workspace, operator.new_token(workspace))


def read(records: Path, kind: str) -> Iterator[dict[str, Any]]:
    with records.open() as lines:
        yield from (each for each in map(json.loads, lines) if each["kind"] == kind)


@pytest.fixture(scope="module")
def old_home(demo: Demo) -> Home:
    place = ("--data-dir", str(demo.operator.folder / "data" / "demo"))
    workspaces = demo.operator.run("workspace", "list", "--json", *place).json["workspaces"]
    return Home(demo.operator, workspaces[0]["id"], demo.token, *place)


@pytest.fixture(scope="module")
def new_home(hire: Hire, old_home: Home) -> Home:
    return settle(hire("postgres"), old_home.workspace, old_home.export())


@pytest.fixture(scope="module")
def answers(demo: Demo) -> dict[str, bytes]:
    with demo.served.client(demo.token) as client:
        return Walk(client).run()


@pytest.fixture(scope="module")
def answers_of_the_new_home(new_home: Home) -> dict[str, bytes]:
    return new_home.walk()


def test_the_walk_sees_everything(answers: dict[str, bytes], old_home: Home) -> None:
    kinds = [asked.split("/")[1].split("?")[0] for asked in answers if asked.startswith("/")]
    assert kinds.count("messages") > 5000
    assert kinds.count("contacts") > 800
    assert sum(asked.startswith("file ") for asked in answers) > 20


def test_on_the_other_engine_every_answer_is_the_same(
    answers: dict[str, bytes], answers_of_the_new_home: dict[str, bytes], new_home: Home
) -> None:
    assert differences(answers, answers_of_the_new_home) == []
    assert len(answers) == len(answers_of_the_new_home)
    new_home.assert_sound()


def test_back_on_the_first_engine_every_answer_is_the_same(
    answers: dict[str, bytes], new_home: Home, hire: Hire
) -> None:
    back_home = settle(hire("sqlite"), new_home.workspace, new_home.export())
    assert differences(answers, back_home.walk(brisk=True)) == []
    back_home.assert_sound()


def test_while_it_is_imported_once_more_reads_go_on_and_nothing_changes(
    demo: Demo, old_home: Home, answers: dict[str, bytes]
) -> None:
    records = old_home.export()
    done = threading.Event()
    seen = []

    def read_on() -> None:
        with demo.served.client(demo.token) as client:
            while not done.is_set():
                seen.append(client.api("/contacts?limit=100").status)
                seen.append(client.api("/search?q=bike").status)

    reader = threading.Thread(target=read_on)
    reader.start()
    try:
        again = demo.operator.run(
            "import", records, "--workspace", old_home.workspace, "--json", *old_home.place
        )
    finally:
        done.set()
        reader.join()
    assert again.json["imported"] is True
    assert set(seen) == {200} and len(seen) > 20
    with demo.served.client(demo.token) as client:
        assert differences(answers, Walk(client, brisk=True).run()) == []
    old_home.assert_sound()


def test_a_check_of_the_file_changes_nothing(old_home: Home, hire: Hire) -> None:
    records = old_home.export()
    newcomer = hire("sqlite")
    workspace = newcomer.new_workspace()
    said = newcomer.run("import", records, "--workspace", workspace, "--check", "--json").json
    assert (said["imported"], said["checked"], said["bad_lines"]) == (False, True, [])
    exported = newcomer.run("export", "--workspace", workspace)
    kinds = [json.loads(line)["kind"] for line in exported.out.splitlines()]
    assert kinds == ["workspace", "member"]


def test_a_bad_line_is_named_and_nothing_is_imported(old_home: Home, hire: Hire) -> None:
    records = old_home.export()
    newcomer = hire("sqlite")
    bad = newcomer.folder / "bad.ndjson"
    bad.write_text('{"kind":"team","id":"x","name":"n"}\n' + records.read_text() + "not json\n")
    done = newcomer.run("import", bad, "--workspace", newcomer.new_workspace(), "--json")
    said = json.loads(done.out)
    assert done.code == 1 and said["imported"] is False
    assert said["bad_lines"][0]["line"] == 1
    assert said["bad_lines"][-1]["line"] == len(records.read_text().splitlines()) + 2
