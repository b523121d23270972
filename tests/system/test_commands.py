"""The command line of the contract, run as a program: what it prints, its exit codes, its settings."""

import sqlite3
from pathlib import Path

import pytest

from tests.system.conftest import SECRET_KEY, Hire
from tests.system.operators import PREFIX, Operator

NOBODY = "018f3e1c-7c2a-7b11-9a53-000000000001"
UNREACHABLE = {"DESKWIRE_DATABASE_URL": "postgresql://ann:dear-password@127.0.0.1:1/desk"}


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_workspaces_and_tokens_have_the_keys_of_the_contract(engine: str, hire: Hire) -> None:
    operator = hire(engine)
    made = operator.run("workspace", "create", "--name", "Acme", "--owner-email", "a@b.test", "--json").json
    assert list(made) == ["workspace_id", "owner_member_id"]
    of_it = ("--workspace", made["workspace_id"])
    token = operator.run("token", "create", *of_it, "--name", "t", "--scope", "members:read", "--json").json
    assert list(token) == ["id", "token", "prefix", "scopes", "expires_at"]
    assert (token["scopes"], token["expires_at"]) == (["workspaces:read", "members:read"], None)
    assert token["token"].startswith(token["prefix"]) and len(token["prefix"]) == 12
    rotated = operator.run("token", "rotate", token["id"], "--json").json
    assert list(rotated) == list(token) and rotated["token"] != token["token"]
    assert operator.run("token", "revoke", token["id"], "--json").json["state"] == "revoked"
    listed = operator.run("token", "list", "--json").json
    assert [each["id"] for each in listed["tokens"]] == [token["id"]]
    assert token["token"] not in str(listed) and rotated["token"] not in str(listed)


@pytest.mark.parametrize(
    "argv",
    [
        ("nope",),
        ("serve", "--nope"),
        ("serve", "--workers", "0"),
        ("serve", "--max-body", "lots"),
        ("token", "create", "--workspace", NOBODY, "--name", "t", "--scope", "cats:read"),
        ("workspace", "create", "--name", "n"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(argv: tuple[str, ...], operator: Operator) -> None:
    refused = operator.run(*argv)
    assert refused.code == 2 and refused.complaint


@pytest.mark.parametrize(
    "argv",
    [
        ("token", "create", "--workspace", NOBODY, "--name", "t", "--all-scopes", "--json"),
        ("token", "rotate", NOBODY, "--json"),
        ("export", "--workspace", NOBODY),
        ("import", "no-such-file", "--workspace", NOBODY, "--json"),
    ],
)
def test_what_is_not_there_is_one_line_and_exit_1(argv: tuple[str, ...], operator: Operator) -> None:
    failed = operator.run(*argv)
    assert failed.code == 1 and failed.complaint


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ({"DESKWIRE_MAXBODY": "1"}, "DESKWIRE_MAXBODY is not a setting"),
        ({"DESKWIRE_MAX_BODY": "lots"}, "DESKWIRE_MAX_BODY must be"),
        ({"DESKWIRE_SECRET_KEY": "short-and-dear"}, "DESKWIRE_SECRET_KEY must be"),
        ({"DESKWIRE_ATTACHMENTS_URL": "file:///proc/nowhere"}, "/proc/nowhere"),
        ({"DESKWIRE_DATA_DIR": "/proc/nowhere"}, "/proc/nowhere"),
        ({"DESKWIRE_DATABASE_URL": "postgresql://localhost/x"}, "DESKWIRE_SECRET_KEY is needed"),
        ({**UNREACHABLE, "DESKWIRE_SECRET_KEY": SECRET_KEY}, "PostgreSQL cannot be reached"),
    ],
)
def test_a_setting_that_cannot_be_used_stops_the_start_with_a_line_that_names_it(
    setting: dict[str, str], named: str, operator: Operator
) -> None:
    stopped = operator.run("serve", "--port", "0", **setting)
    assert stopped.code == 1
    assert named in stopped.complaint
    assert "dear" not in stopped.err


def test_a_setting_is_taken_from_the_environment_or_an_option(operator: Operator, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    served = operator.serve(
        "--data-dir", other, "--log", "json", "--public-url", "https://desk.example", DESKWIRE_METRICS="off"
    )
    assert (other / "deskwire.db").exists() and not (tmp_path / "data").exists()
    assert other.stat().st_mode & 0o077 == 0
    assert served.get("/metrics").code == "NOT_FOUND"
    assert f"https://desk.example{PREFIX}" in str(served.get(f"{PREFIX}/openapi.json").json["servers"])
    assert served.stop() == 0
    assert served.log().startswith("{")


def test_postgresql_that_is_behind_is_refused_until_it_is_migrated(hire: Hire) -> None:
    operator = hire("postgres", "template0")
    refused = operator.run("serve", "--port", "0")
    assert refused.code == 1 and "run `deskwire migrate`" in refused.complaint
    assert operator.run("workspace", "list").code == 1
    checked = operator.run("migrate", "--check")
    assert checked.code == 1 and "deskwire migrate" in checked.complaint
    assert operator.run("migrate").code == 0
    assert operator.run("migrate", "--check").code == 0
    served = operator.serve()
    assert served.get("/readyz").status == 200
    assert served.stop() == 0


def test_a_database_of_a_later_version_is_not_said_to_be_behind(operator: Operator) -> None:
    assert operator.run("migrate").code == 0
    with sqlite3.connect(operator.folder / "data" / "deskwire.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    for argv in (("migrate",), ("migrate", "--check"), ("serve", "--port", "0")):
        failed = operator.run(*argv)
        assert failed.code == 1 and "9999 is newer than this version's" in failed.complaint


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
@pytest.mark.parametrize("how", ["rotate", "revoke"])
def test_when_the_command_has_ended_the_old_secret_opens_nothing(engine: str, how: str, hire: Hire) -> None:
    operator = hire(engine)
    workspace = operator.new_workspace()
    served = operator.serve()
    for _ in range(3):
        made = operator.run(
            "token", "create", "--workspace", workspace, "--name", "t", "--all-scopes", "--json"
        )
        token = made.json
        with operator.launch("token", how, token["id"]) as ending:
            # In use all the while, as only then is it remembered.
            while ending.poll() is None:
                served.get(f"{PREFIX}/workspace", token["token"])
        assert ending.returncode == 0
        assert served.get(f"{PREFIX}/workspace", token["token"]).code == "INVALID_TOKEN"
    assert served.stop() == 0


def test_an_unreachable_postgresql_is_one_line_without_its_password(operator: Operator) -> None:
    for argv in (("migrate",), ("token", "list")):
        failed = operator.run(*argv, **UNREACHABLE)
        assert failed.code == 1 and failed.complaint
        assert "dear-password" not in failed.err


def test_a_database_that_is_none_is_one_line_that_names_it(operator: Operator) -> None:
    database = operator.folder / "data" / "deskwire.db"
    database.mkdir(parents=True)
    for _ in range(2):
        for argv in (("serve", "--port", "0"), ("migrate", "--check")):
            failed = operator.run(*argv)
            assert failed.code == 1 and str(database) in failed.complaint
        if database.is_dir():
            database.rmdir()
            database.write_bytes(b"no database " * 1000)


def test_a_damaged_database_is_one_line_that_names_it(operator: Operator) -> None:
    operator.new_workspace()
    database = operator.folder / "data" / "deskwire.db"
    whole = database.read_bytes()
    for damaged in (whole[:4096] + bytes(range(256)) * 300 + whole[80896:], whole[: len(whole) // 3]):
        database.write_bytes(damaged)
        failed = operator.run("serve", "--port", "0")
        assert failed.code == 1 and str(database) in failed.complaint


def test_a_schema_of_a_later_version_is_refused(operator: Operator) -> None:
    operator.run("migrate")
    with sqlite3.connect(operator.folder / "data" / "deskwire.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    for argv in (("serve", "--port", "0"), ("migrate",)):
        refused = operator.run(*argv)
        assert refused.code == 1 and "9999 is newer" in refused.complaint


def test_reading_commands_and_a_start_wait_for_nobody_who_writes(operator: Operator) -> None:
    workspace = operator.new_workspace()
    token = operator.new_token(workspace)
    writer = sqlite3.connect(operator.folder / "data" / "deskwire.db")
    writer.execute("BEGIN IMMEDIATE")
    try:
        assert operator.run("workspace", "list", "--json").json["workspaces"]
        served = operator.serve()
        assert served.get(f"{PREFIX}/workspace", token).data["id"] == workspace
        assert served.stop() == 0
    finally:
        writer.close()
