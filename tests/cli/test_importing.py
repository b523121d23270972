import json
import os
import pty
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from deskwire.model.errors import Unavailable
from deskwire.store.sqlite import SqliteStore
from tests.cli.conftest import Deskwire
from tests.cli.program import command, environment

UNKNOWN = "018f3e1c-7c2a-7b11-9a53-00000000ffff"


def contact(number: int, **more: object) -> dict[str, object]:
    id = f"018f3e1c-7c2a-7b11-9a53-{number:012}"
    return {"kind": "contact", "id": id, "created_at": "2026-01-31T12:00:00Z", "name": f"n{number}", **more}


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return write(tmp_path / "desk.ndjson", [contact(1), contact(2)])


@pytest.fixture
def bad_records(tmp_path: Path) -> Path:
    return write(tmp_path / "bad.ndjson", [contact(1), contact(2, nmae="x"), {"kind": "contcat"}])


def write(file: Path, lines: Sequence[object]) -> Path:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


def test_an_import_answers_what_it_brought(deskwire: Deskwire, workspace: str, records: Path) -> None:
    assert deskwire("import", records, "--workspace", workspace, "--json").json == {
        "imported": True,
        "checked": False,
        "records": {"contact": 2},
        "bad_lines": [],
        "more_bad_lines": False,
    }


def test_an_import_tells_people_in_aligned_lines(deskwire: Deskwire, workspace: str, records: Path) -> None:
    told = deskwire("import", records, "--workspace", workspace)
    assert told == (0, "contact  2\nEverything was imported.\n", "")


def test_a_check_changes_nothing(deskwire: Deskwire, workspace: str, records: Path) -> None:
    checked = deskwire("import", records, "--workspace", workspace, "--check", "--json").json
    assert (checked["imported"], checked["checked"], checked["records"]) == (False, True, {"contact": 2})
    told = deskwire("import", records, "--workspace", workspace, "--check")
    assert told == (0, "contact  2\nEvery line is good; nothing was changed.\n", "")


@pytest.mark.parametrize("check", [(), ("--check",)])
def test_bad_lines_are_named_and_nothing_is_imported(
    deskwire: Deskwire, workspace: str, bad_records: Path, check: tuple[str, ...]
) -> None:
    code, out, err = deskwire("import", bad_records, "--workspace", workspace, *check)
    assert (code, out) == (1, "")
    first, second, last = err.splitlines()
    assert first.startswith("line 2: ") and "nmae" in first
    assert second.startswith("line 3: ") and "kind" in second
    assert last == "deskwire: nothing was imported; bad lines: 2"


def test_bad_lines_are_one_object_as_json(deskwire: Deskwire, workspace: str, bad_records: Path) -> None:
    code, out, err = deskwire("import", bad_records, "--workspace", workspace, "--json")
    assert (code, err) == (1, "deskwire: nothing was imported; bad lines: 2\n")
    found = json.loads(out)
    assert out.count("\n") == 1
    assert (found["imported"], found["more_bad_lines"]) == (False, False)
    assert [set(bad) for bad in found["bad_lines"]] == [{"line", "reason"}] * 2
    assert [bad["line"] for bad in found["bad_lines"]] == [2, 3]


def test_more_bad_lines_than_are_listed_are_said_to_be_more(
    deskwire: Deskwire, workspace: str, tmp_path: Path
) -> None:
    file = write(tmp_path / "bad.ndjson", [{}] * 150)
    code, _, err = deskwire("import", file, "--workspace", workspace)
    assert code == 1
    assert err.endswith("deskwire: nothing was imported; bad lines: more than 100\n")


def test_an_empty_file_is_imported(deskwire: Deskwire, workspace: str, tmp_path: Path) -> None:
    told = deskwire("import", write(tmp_path / "empty", []), "--workspace", workspace)
    assert told == (0, "Everything was imported.\n", "")


def test_a_file_that_is_missing_is_a_failure_that_names_it(deskwire: Deskwire, workspace: str) -> None:
    failed = deskwire("import", "nowhere.ndjson", "--workspace", workspace, "--json")
    assert (failed.code, failed.complaint) == (1, "nowhere.ndjson: No such file or directory")


def test_a_folder_is_no_file(deskwire: Deskwire, workspace: str, tmp_path: Path) -> None:
    failed = deskwire("import", tmp_path, "--workspace", workspace)
    assert (failed.code, failed.complaint) == (1, f"{tmp_path}: Is a directory")


def test_nothing_is_imported_into_an_unknown_workspace(deskwire: Deskwire, records: Path) -> None:
    failed = deskwire("import", records, "--workspace", UNKNOWN)
    assert (failed.code, failed.complaint) == (1, "There is no such workspace.")


def test_a_terminal_sees_how_far_an_import_is(folder: Path, workspace: str, records: Path) -> None:
    terminal, its_end = pty.openpty()
    ended = subprocess.run(
        command(folder, "import", records, "--workspace", workspace, "--json"),
        env=environment(TERM="xterm"),
        stdout=subprocess.PIPE,
        stderr=its_end,
        check=False,
    )
    os.close(its_end)
    shown = os.read(terminal, 65536)
    os.close(terminal)
    assert ended.returncode == 0
    assert json.loads(ended.stdout)["imported"]
    assert b"importing" in shown and b"%" in shown


def test_what_is_imported_but_not_put_in_order_is_no_failure(
    deskwire: Deskwire, workspace: str, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody can be made to write without a pause from the very moment of the commit.
    async def busy(store: SqliteStore) -> None:
        raise Unavailable("another process has locked it")

    monkeypatch.setattr(SqliteStore, "analyse", busy)
    code, out, err = deskwire("import", records, "--workspace", workspace)
    assert (code, "Everything was imported." in out) == (0, True)
    assert err == (
        "deskwire: all of it is imported, but may be found slowly until the next import: "
        "another process has locked it\n"
    )
