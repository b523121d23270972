"""`deskwire contact merge`."""

import json
from pathlib import Path

from tests.cli.conftest import Deskwire

KEEP, GONE = "018f3e1c-7c2a-7b11-9a53-0000000000a1", "018f3e1c-7c2a-7b11-9a53-0000000000a2"


def import_two(deskwire: Deskwire, workspace: str, tmp_path: Path) -> None:
    lines = [
        {"kind": "contact", "id": id, "created_at": "2026-01-01T00:00:00Z", "external_id": name}
        for id, name in ((KEEP, "a"), (GONE, "b"))
    ]
    file = tmp_path / "two.ndjson"
    file.write_text("\n".join(map(json.dumps, lines)))
    assert deskwire("import", file, "--workspace", workspace, "--json").code == 0


def test_a_merge_says_what_moved(deskwire: Deskwire, workspace: str, tmp_path: Path) -> None:
    import_two(deskwire, workspace, tmp_path)
    merged = deskwire("contact", "merge", KEEP, GONE, "--workspace", workspace)
    assert (merged.code, merged.err) == (0, "")
    assert KEEP in merged.out and "external ids: 1" in merged.out
    assert deskwire("check").code == 0


def test_a_merge_that_fails_is_one_line(deskwire: Deskwire, workspace: str, tmp_path: Path) -> None:
    import_two(deskwire, workspace, tmp_path)
    again = deskwire("contact", "merge", KEEP, KEEP, "--workspace", workspace)
    assert (again.code, again.complaint) == (1, "A contact cannot be merged with itself.")
    unknown = deskwire("contact", "merge", KEEP, workspace, "--workspace", workspace)
    assert unknown.code == 1 and workspace in unknown.complaint
    assert deskwire("contact", "merge", KEEP, "x", "--workspace", workspace).code == 2


def test_what_is_exported_after_a_merge_gives_the_same_elsewhere(
    deskwire: Deskwire, workspace: str, tmp_path: Path
) -> None:
    import_two(deskwire, workspace, tmp_path)
    moved = deskwire("contact", "merge", KEEP, GONE, "--workspace", workspace, "--json").json
    assert moved["moved"]["external_ids"] == 1
    output = tmp_path / "out.ndjson"
    assert deskwire("export", "--workspace", workspace, "--output", output).code == 0
    contacts = [
        line for line in map(json.loads, output.read_text().splitlines()) if line["kind"] == "contact"
    ]
    assert [contact["id"] for contact in contacts] == [KEEP]
    assert contacts[0]["former_external_ids"] == ["b"]
