"""What the arguments mean, and what is refused as wrong usage before anything is touched."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import click
import pytest

from deskwire.cli.command import Group, Later
from deskwire.cli.commands import build_commands
from deskwire.cli.house import Messenger, OpenHouse, Option, OptionError, SettingsError, StartError
from tests.cli.conftest import Deskwire, caller

ID = "018f3e1c-7c2a-7b11-9a53-000000000001"


class ToldHouse:
    """Does nothing but remember what it was told to do."""

    options = (Option("data-dir", ""), Option("database-url", ""), Option("max-body", ""))

    def __init__(self) -> None:
        self.told: list[object] = []
        self.was_behind = False
        self.distributed = ["workspaces", "members"]
        self.failure: BaseException | None = None

    def open(self, options: Mapping[str, str]) -> AbstractAsyncContextManager[OpenHouse]:
        raise AssertionError("wrong usage must not open the house")

    def find_database(self, options: Mapping[str, str]) -> None:
        raise AssertionError("wrong usage must not look for a database")

    def open_messenger(self, options: Mapping[str, str]) -> AbstractAsyncContextManager[Messenger]:
        raise AssertionError("nothing is sent here")

    def serve(
        self, options: Mapping[str, str], *, host: str, port: int, demo: bool, workers: int, delivery: bool
    ) -> int:
        self.tell(("serve", options, host, port, demo, workers, delivery))
        return 0

    def work(self, options: Mapping[str, str]) -> int:
        self.tell(("work", options))
        return 0

    def migrate(self, options: Mapping[str, str], *, check: bool) -> bool:
        self.tell(("migrate", options, check))
        return self.was_behind

    def distribute(self, options: Mapping[str, str]) -> Sequence[str]:
        self.tell(("distribute", options))
        return self.distributed

    def back_up(
        self, options: Mapping[str, str], folder: Path, advance: Callable[[int, int], None]
    ) -> Sequence[str]:
        self.tell(("back_up", options, folder))
        return ["The secret key is not in it."]

    def tell(self, what: object) -> None:
        self.told.append(what)
        if self.failure is not None:
            raise self.failure


@pytest.fixture
def house() -> ToldHouse:
    return ToldHouse()


@pytest.fixture
def deskwire(house: ToldHouse, capsys: pytest.CaptureFixture[str]) -> Deskwire:
    return caller(house, capsys)


def test_serve_listens_on_this_machine_with_one_process_and_delivers(
    house: ToldHouse, deskwire: Deskwire
) -> None:
    assert deskwire("serve") == (0, "", "")
    assert house.told == [("serve", {}, "127.0.0.1", 8000, False, 1, True)]


def test_serve_hands_its_options_and_the_settings_to_the_house(house: ToldHouse, deskwire: Deskwire) -> None:
    options = ("--host", "::1", "--port", "0", "--demo", "--workers", "3", "--no-delivery")
    assert deskwire("serve", *options, "--data-dir", "d", "--max-body", "1MiB").code == 0
    assert house.told == [("serve", {"data-dir": "d", "max-body": "1MiB"}, "::1", 0, True, 3, False)]


def test_worker_hands_its_settings_to_the_house(house: ToldHouse, deskwire: Deskwire) -> None:
    assert deskwire("worker", "--data-dir", "d", "--max-body", "1MiB").code == 0
    assert house.told == [("work", {"data-dir": "d", "max-body": "1MiB"})]


def test_only_what_runs_on_takes_every_setting(deskwire: Deskwire) -> None:
    assert "--max-body" in deskwire("migrate", "--max-body", "1MiB").complaint


@pytest.mark.parametrize(
    ("was_behind", "said"),
    [(True, "The database was brought to this version.\n"), (False, "The database is at this version.\n")],
)
def test_migrate_says_whether_there_was_something_to_do(
    house: ToldHouse, deskwire: Deskwire, was_behind: bool, said: str
) -> None:
    house.was_behind = was_behind
    assert deskwire("migrate") == (0, said, "")
    assert house.told == [("migrate", {}, False)]


def test_migrate_check_fails_when_the_database_is_behind(house: ToldHouse, deskwire: Deskwire) -> None:
    assert deskwire("migrate", "--check").code == 0
    house.was_behind = True
    behind = deskwire("migrate", "--check")
    assert behind.code == 1
    assert behind.complaint == "the database is behind this version: run `deskwire migrate`"
    assert house.told == [("migrate", {}, True)] * 2


def test_migrate_distribute_migrates_first_and_says_what_it_spread(
    house: ToldHouse, deskwire: Deskwire
) -> None:
    first = deskwire("migrate", "--distribute")
    assert first == (0, "The database is at this version.\nDistributed: workspaces, members.\n", "")
    assert house.told == [("migrate", {}, False), ("distribute", {})]
    house.distributed = []
    assert "nothing was to do" in deskwire("migrate", "--distribute").out
    assert deskwire("migrate", "--distribute", "--check").code == 2


def test_backup_says_where_to_and_what_is_not_there(house: ToldHouse, deskwire: Deskwire) -> None:
    done = deskwire("backup", "copy", "--data-dir", "d")
    assert (done.code, done.err) == (0, "")
    assert "serve --data-dir copy" in done.out and "The secret key is not in it." in done.out
    assert house.told == [("back_up", {"data-dir": "d"}, Path("copy"))]


TOKEN = ("token", "create", "--workspace", ID, "--name", "n")
WORKSPACE = ("workspace", "create", "--name", "n", "--owner-email", "ann@acme.test")


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        (("nope",), "nope"),
        (("token", "nope"), "nope"),
        (("--nope",), "--nope"),
        (("serve", "--nope"), "--nope"),
        (("serve", "extra"), "extra"),
        (("serve", "--port"), "--port"),
        (("serve", "--port", "http"), "http"),
        (("serve", "--port", "65536"), "65536"),
        (("serve", "--port", "-1"), "-1"),
        (("serve", "--workers", "0"), "--workers"),
        (("serve", "--workers", "1.5"), "--workers"),
        (("workspace", "create", "--name", "n"), "--owner-email"),
        (("workspace", "create", "--owner-email", "ann@acme.test"), "--name"),
        (("workspace", "create", "--name", "n", "--owner-email", "ann"), "--owner-email"),
        (("workspace", "create", "--name", " ", "--owner-email", "ann@acme.test"), "--name"),
        (("workspace", "create", "--name", "n" * 256, "--owner-email", "ann@acme.test"), "255"),
        (("workspace", "create", "--name", "a\nb", "--owner-email", "ann@acme.test"), "--name"),
        (("workspace", "create", "--name", "a\udcff", "--owner-email", "ann@acme.test"), "UTF-8"),
        ((*WORKSPACE, "--id", "1"), "--id"),
        (("token", "create", "--name", "n", "--all-scopes"), "--workspace"),
        (("token", "create", "--workspace", ID, "--all-scopes"), "--name"),
        (("token", "create", "--workspace", "1", "--name", "n", "--all-scopes"), "UUID"),
        (TOKEN, "--scope or --all-scopes"),
        ((*TOKEN, "--all-scopes", "--scope", "macros:read"), "--scope or --all-scopes"),
        ((*TOKEN, "--all-scopes", "macros:read"), "--scope or --all-scopes"),
        ((*TOKEN, "macros:read"), "--scope or --all-scopes"),
        ((*TOKEN, "--scope", "macros:write"), "macros:write"),
        ((*TOKEN, "--scope", "macros:read", "nope"), "nope"),
        ((*TOKEN, "--all-scopes", "--expires-in", "90"), "90d"),
        ((*TOKEN, "--all-scopes", "--expires-in", "0d"), "--expires-in"),
        ((*TOKEN, "--all-scopes", "--expires-in", "99999999d"), "at most"),
        (("token", "list", "--workspace", "x"), "UUID"),
        (("token", "rotate"), "ID"),
        (("token", "rotate", "x"), "UUID"),
        (("token", "revoke", "x"), "UUID"),
        (("import", "--workspace", ID), "FILE"),
        (("import", "f"), "--workspace"),
        (("export",), "--workspace"),
        (("export", "--workspace", "x"), "UUID"),
        (("completion",), "bash"),
        (("completion", "tcsh"), "tcsh"),
    ],
)
def test_wrong_usage_is_refused_in_one_line(deskwire: Deskwire, argv: tuple[str, ...], named: str) -> None:
    refused = deskwire(*argv)
    assert refused.code == 2
    assert named in refused.complaint
    assert refused.complaint.endswith("--help`")


def test_a_line_about_usage_stays_one_line_whatever_was_typed(deskwire: Deskwire) -> None:
    refused = deskwire("a\nb\x1b[2J")
    assert refused.code == 2
    assert "\x1b" not in refused.complaint


@pytest.mark.parametrize("argv", [(), ("token",), ("workspace",)])
def test_without_a_command_the_help_is_shown_as_wrong_usage(
    deskwire: Deskwire, argv: tuple[str, ...]
) -> None:
    shown = deskwire(*argv)
    assert (shown.code, shown.out) == (2, "")
    assert "Commands:" in shown.err


def test_an_option_that_cannot_be_used_is_wrong_usage(house: ToldHouse, deskwire: Deskwire) -> None:
    house.failure = OptionError("--max-body must be a positive number of bytes")
    refused = deskwire("serve", "--max-body", "x")
    assert (refused.code, refused.complaint) == (2, "--max-body must be a positive number of bytes")


@pytest.mark.parametrize("failure", [SettingsError("DESKWIRE_X is not a setting"), StartError("in use")])
def test_what_keeps_the_program_from_starting_is_a_failure(
    house: ToldHouse, deskwire: Deskwire, failure: Exception
) -> None:
    house.failure = failure
    failed = deskwire("serve")
    assert (failed.code, failed.complaint) == (1, str(failure))


def test_ctrl_c_ends_serving_as_done(house: ToldHouse, deskwire: Deskwire) -> None:
    house.failure = KeyboardInterrupt()
    assert deskwire("serve") == (0, "", "")


def test_ctrl_c_interrupts_anything_else(house: ToldHouse, deskwire: Deskwire) -> None:
    house.failure = KeyboardInterrupt()
    interrupted = deskwire("migrate")
    assert (interrupted.code, interrupted.complaint) == (130, "interrupted")


def test_the_version_is_shown(deskwire: Deskwire) -> None:
    code, out, err = deskwire("--version")
    assert (code, err) == (0, "")
    assert out.startswith("deskwire ") and out.count("\n") == 1


def test_every_command_explains_itself_and_each_of_its_options(deskwire: Deskwire) -> None:
    for path, command in leaves(build_commands(ToldHouse.options)):
        shown = deskwire(*path, "--help")
        assert (shown.code, shown.err) == (0, "")
        assert command.help
        for parameter in command.params:
            assert all(each in shown.out for each in parameter.opts if each.startswith("--"))


def test_every_command_has_a_function_that_takes_its_values() -> None:
    for _, command in leaves(build_commands([])):
        if isinstance(command.callback, Later):
            taken = set(inspect.signature(command.callback.load()).parameters) - {"invocation"}
            assert taken == {parameter.name for parameter in command.params}, command.callback.does


def leaves(group: Group, *path: str) -> list[tuple[tuple[str, ...], click.Command]]:
    found: list[tuple[tuple[str, ...], click.Command]] = []
    for name, command in group.commands.items():
        found += leaves(command, *path, name) if isinstance(command, Group) else [((*path, name), command)]
    return found
