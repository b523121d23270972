from pathlib import Path

from tests.cli.conftest import Deskwire

ID = "018f3e1c-7c2a-7b11-9a53-000000000001"
UNKNOWN = "018f3e1c-7c2a-7b11-9a53-00000000ffff"


def create(deskwire: Deskwire, *more: str) -> dict[str, str]:
    found = deskwire(
        "workspace", "create", "--name", "Acme", "--owner-email", "ann@acme.test", *more, "--json"
    )
    assert isinstance(found.json, dict)
    return found.json


def test_a_new_workspace_answers_its_id_and_its_owners(deskwire: Deskwire) -> None:
    made = create(deskwire)
    assert set(made) == {"workspace_id", "owner_member_id"}
    assert made["workspace_id"] != made["owner_member_id"]


def test_a_new_workspace_is_told_in_aligned_lines(deskwire: Deskwire) -> None:
    code, out, err = deskwire("workspace", "create", "--name", "Acme", "--owner-email", " ann@acme.test ")
    assert (code, err) == (0, "")
    first, second = out.splitlines()
    assert first.startswith("workspace     ") and second.startswith("owner member  ")


def test_a_workspace_may_keep_its_id_once(deskwire: Deskwire) -> None:
    assert create(deskwire, "--id", ID.upper())["workspace_id"] == ID
    again = deskwire(
        "workspace", "create", "--name", "Acme", "--owner-email", "ann@acme.test", "--id", ID, "--json"
    )
    assert again.code == 1
    assert ID in again.complaint


def test_the_workspaces_are_listed_oldest_first(deskwire: Deskwire) -> None:
    assert deskwire("workspace", "list").out == "There are no workspaces.\n"
    assert deskwire("workspace", "list", "--json").json == {"workspaces": []}
    first = create(deskwire)["workspace_id"]
    second = create(deskwire)["workspace_id"]
    listed = deskwire("workspace", "list", "--json").json["workspaces"]
    assert [each["id"] for each in listed] == [first, second]
    assert all(set(each) == {"id", "name", "created_at"} for each in listed)
    header, *rows = deskwire("workspace", "list").out.splitlines()
    assert header.split() == ["ID", "CREATED", "NAME"]
    assert [row.split()[0] for row in rows] == [first, second]


def test_a_name_that_steers_the_terminal_is_shown_harmless(deskwire: Deskwire) -> None:
    name = "Acme \u202egnp.exe"
    deskwire("workspace", "create", "--name", name, "--owner-email", "ann@acme.test")
    assert deskwire("workspace", "list", "--json").json["workspaces"][0]["name"] == name
    assert deskwire("workspace", "list").out.endswith("Acme \ufffdgnp.exe\n")


def test_the_data_folder_may_be_named(deskwire: Deskwire, tmp_path: Path, workspace: str) -> None:
    elsewhere = deskwire("workspace", "list", "--data-dir", tmp_path / "elsewhere", "--json")
    assert elsewhere.json == {"workspaces": []}
    assert deskwire("workspace", "list", "--json").json["workspaces"][0]["id"] == workspace
