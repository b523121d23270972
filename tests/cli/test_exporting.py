import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Deskwire

UNKNOWN = "018f3e1c-7c2a-7b11-9a53-00000000ffff"
ATTACHMENT = "018f3e1c-7c2a-7b11-9a53-000000000003"
RECORDS = [
    {
        "kind": "contact",
        "id": "018f3e1c-7c2a-7b11-9a53-000000000001",
        "created_at": "2026-01-31T12:00:00Z",
        "name": "Kim",
    },
    {
        "kind": "attachment",
        "id": ATTACHMENT,
        "created_at": "2026-01-31T12:00:00Z",
        "filename": "a.txt",
        "content_type": "text/plain",
        "size_bytes": 5,
        "status": "ready",
        "file": "in/a.txt",
    },
]


@pytest.fixture
def filled(deskwire: Deskwire, workspace: str, tmp_path: Path) -> str:
    """A workspace with a contact and an attachment."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_bytes(b"hello")
    file = tmp_path / "in.ndjson"
    file.write_text("".join(f"{json.dumps(record)}\n" for record in RECORDS))
    assert deskwire("import", file, "--workspace", workspace).err == ""
    return workspace


def kinds(lines: str) -> list[str]:
    return sorted(json.loads(line)["kind"] for line in lines.splitlines())


def test_a_workspace_goes_to_a_file_and_its_attachments_beside_it(
    deskwire: Deskwire, filled: str, tmp_path: Path
) -> None:
    output = tmp_path / "out" / "desk.ndjson"
    output.parent.mkdir()
    code, out, err = deskwire("export", "--workspace", filled, "--output", output)
    assert (code, out) == (0, "")
    assert kinds(output.read_text()) == ["attachment", "contact", "member", "workspace"]
    assert sorted(os.listdir(output.parent)) == ["desk-attachments", "desk.ndjson"]
    assert (output.parent / "desk-attachments" / ATTACHMENT).read_bytes() == b"hello"
    assert err == f"Exported 4 records to {output}.\n"


def test_what_was_exported_can_be_imported(deskwire: Deskwire, filled: str, tmp_path: Path) -> None:
    output, again = tmp_path / "desk.ndjson", tmp_path / "again.ndjson"
    deskwire("export", "--workspace", filled, "--output", output)
    elsewhere = ("--data-dir", tmp_path / "elsewhere")
    argv = ("workspace", "create", "--name", "B", "--owner-email", "bo@b.test", "--id", filled)
    assert deskwire(*argv, *elsewhere).code == 0
    brought = deskwire("import", output, "--workspace", filled, "--json", *elsewhere)
    assert brought.json["imported"]
    deskwire("export", "--workspace", filled, "--output", again, *elsewhere)
    exported = [line for line in output.read_text().splitlines() if "attachments/" not in line]
    assert set(exported) <= set(again.read_text().splitlines())


def test_without_a_file_the_records_go_to_standard_output_alone(deskwire: Deskwire, filled: str) -> None:
    code, out, err = deskwire("export", "--workspace", filled)
    assert code == 0
    assert kinds(out) == ["attachment", "contact", "member", "workspace"]
    assert err == (
        "The files of the attachments are left out; with --output they are written too.\n"
        "Exported 4 records to standard output.\n"
    )


def test_an_unknown_workspace_is_not_exported_and_leaves_what_was_there(
    deskwire: Deskwire, tmp_path: Path
) -> None:
    output = tmp_path / "desk.ndjson"
    output.write_text("before")
    for argv in ((), ("--output", output)):
        failed = deskwire("export", "--workspace", UNKNOWN, *argv)
        assert (failed.code, failed.complaint) == (1, "There is no such workspace.")
    assert output.read_text() == "before"
    assert not list(tmp_path.glob(".desk*"))


def test_a_folder_that_is_not_there_is_a_failure(deskwire: Deskwire, workspace: str, tmp_path: Path) -> None:
    output = tmp_path / "nowhere" / "desk.ndjson"
    failed = deskwire("export", "--workspace", workspace, "--output", output)
    assert (failed.code, failed.complaint) == (1, f"{output.parent}: there is no such folder")
