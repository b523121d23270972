import asyncio
import re
from pathlib import Path
from typing import Any

from deskwire.desk.tokens import find_by_hash
from deskwire.model.scopes import SCOPES
from deskwire.model.times import parse_time
from deskwire.model.tokens import Token, is_token, token_hash
from tests.cli.conftest import Deskwire
from tests.cli.house import SqliteHouse

UNKNOWN = "018f3e1c-7c2a-7b11-9a53-00000000ffff"
SHOWN = {"id", "token", "prefix", "scopes", "expires_at"}
LISTED = {
    "id",
    "workspace_id",
    "name",
    "prefix",
    "scopes",
    "state",
    "created_at",
    "expires_at",
    "revoked_at",
}


def create(deskwire: Deskwire, workspace: str, *more: str) -> dict[str, Any]:
    made = deskwire("token", "create", "--workspace", workspace, "--name", "integration", *more, "--json")
    assert isinstance(made.json, dict)
    return made.json


def listed(deskwire: Deskwire, *more: str) -> list[dict[str, Any]]:
    found = deskwire("token", "list", *more, "--json").json
    assert set(found) == {"tokens"}
    tokens: list[dict[str, Any]] = found["tokens"]
    return tokens


def kept(folder: Path, secret: str) -> Token | None:
    async def find() -> Token | None:
        async with SqliteHouse(folder).open({}) as house:
            return await house.store.read(lambda tx: find_by_hash(tx, token_hash(secret)))

    return asyncio.run(find())


def test_a_new_token_answers_its_secret_and_what_it_may_do(
    deskwire: Deskwire, workspace: str, folder: Path
) -> None:
    made = create(deskwire, workspace, "--all-scopes")
    assert set(made) == SHOWN
    assert is_token(made["token"]) and made["token"].startswith(made["prefix"])
    assert made["scopes"] == list(SCOPES)
    assert made["expires_at"] is None
    token = kept(folder, made["token"])
    assert token is not None
    assert (token.id, token.workspace_id, token.name) == (made["id"], workspace, "integration")


def test_scopes_are_given_one_by_one_or_in_a_row(deskwire: Deskwire, workspace: str) -> None:
    wanted = ["workspaces:read", "contacts:read", "search:read"]
    repeated = create(deskwire, workspace, "--scope", "search:read", "--scope", "contacts:read")
    in_a_row = create(deskwire, workspace, "--scope", "search:read", "contacts:read")
    assert repeated["scopes"] == in_a_row["scopes"] == wanted


def test_a_token_expires_when_it_was_told_to(deskwire: Deskwire, workspace: str) -> None:
    made = create(deskwire, workspace, "--all-scopes", "--expires-in", "90d")
    token = listed(deskwire)[0]
    assert token["expires_at"] == made["expires_at"]
    assert parse_time(token["expires_at"]) - parse_time(token["created_at"]) == 90 * 86_400_000_000


def test_people_are_told_that_a_token_is_shown_once(deskwire: Deskwire, workspace: str, folder: Path) -> None:
    code, out, err = deskwire(
        "token", "create", "--workspace", workspace, "--name", "n", "--scope", "macros:read"
    )
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert [line.split()[0] for line in lines] == ["id", "token", "scopes", "expires", "Keep"]
    assert lines[2].endswith("workspaces:read, macros:read") and lines[3].endswith("never")
    assert lines[4] == "Keep the token now: it is not shown again."
    assert kept(folder, lines[1].split()[1]) is not None


def test_an_unknown_workspace_has_no_tokens_and_gets_none(deskwire: Deskwire, workspace: str) -> None:
    for argv in (
        ("create", "--workspace", UNKNOWN, "--name", "n", "--all-scopes", "--json"),
        ("list", "--workspace", UNKNOWN, "--json"),
        ("list", "--workspace", UNKNOWN),
    ):
        refused = deskwire("token", *argv)
        assert (refused.code, refused.complaint) == (1, "There is no such workspace.")


def test_tokens_are_listed_newest_first_and_never_with_their_secret(
    deskwire: Deskwire, workspace: str
) -> None:
    assert deskwire("token", "list").out == "There are no tokens.\n"
    made = [create(deskwire, workspace, "--all-scopes") for _ in range(2)]
    found = listed(deskwire)
    assert [token["id"] for token in found] == [made[1]["id"], made[0]["id"]]
    assert all(set(token) == LISTED for token in found)
    assert all(token["state"] == "active" and token["workspace_id"] == workspace for token in found)
    for argv in (("token", "list"), ("token", "list", "--json")):
        assert not any(each["token"] in deskwire(*argv).out for each in made)


def test_the_list_can_be_of_one_workspace(deskwire: Deskwire, workspace: str) -> None:
    other = deskwire("workspace", "create", "--name", "Other", "--owner-email", "bo@other.test", "--json")
    create(deskwire, workspace, "--all-scopes")
    theirs = create(deskwire, other.json["workspace_id"], "--all-scopes")
    found = listed(deskwire, "--workspace", other.json["workspace_id"])
    assert [token["id"] for token in found] == [theirs["id"]]
    assert len(listed(deskwire)) == 2


def test_people_see_the_list_in_columns(deskwire: Deskwire, workspace: str) -> None:
    made = create(deskwire, workspace, "--scope", "macros:read")
    header, row = deskwire("token", "list").out.splitlines()
    assert header.split() == ["ID", "WORKSPACE", "PREFIX", "STATE", "EXPIRES", "SCOPES", "NAME"]
    assert row.split() == [made["id"], workspace, made["prefix"], "active", "never", "2", "integration"]
    assert header.index("NAME") == row.index("integration")


def test_rotation_gives_a_new_secret_and_ends_the_old_one(
    deskwire: Deskwire, workspace: str, folder: Path
) -> None:
    made = create(deskwire, workspace, "--scope", "macros:read", "--expires-in", "1h")
    new = deskwire("token", "rotate", made["id"], "--json").json
    assert set(new) == SHOWN
    assert {**new, "token": "", "prefix": ""} == {**made, "token": "", "prefix": ""}
    assert kept(folder, made["token"]) is None
    assert kept(folder, new["token"]) is not None
    assert "not shown again" in deskwire("token", "rotate", made["id"]).out


def test_revocation_ends_a_token_and_may_be_repeated(deskwire: Deskwire, workspace: str) -> None:
    made = create(deskwire, workspace, "--all-scopes")
    revoked = deskwire("token", "revoke", made["id"], "--json").json
    assert set(revoked) == LISTED
    assert revoked["state"] == "revoked"
    assert deskwire("token", "revoke", made["id"], "--json").json == revoked
    code, out, err = deskwire("token", "revoke", made["id"])
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"The token {made['prefix']}… is revoked since {revoked['revoked_at']}\.\n", out)


def test_a_revoked_token_is_not_rotated(deskwire: Deskwire, workspace: str) -> None:
    made = create(deskwire, workspace, "--all-scopes")
    deskwire("token", "revoke", made["id"])
    refused = deskwire("token", "rotate", made["id"], "--json")
    assert refused.code == 1
    assert "revoked" in refused.complaint


def test_an_unknown_token_is_neither_rotated_nor_revoked(deskwire: Deskwire) -> None:
    for argv in (("rotate", UNKNOWN), ("revoke", UNKNOWN, "--json")):
        refused = deskwire("token", *argv)
        assert (refused.code, refused.complaint) == (1, "There is no such token.")
