"""Whatever goes wrong: one line on standard error, an exit code, and no traceback unless it was asked for."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from deskwire.cli.interruption import interruptible
from deskwire.model.errors import DeskError, Unavailable
from deskwire.store.attachments import FilesUnavailable
from tests.cli.conftest import Deskwire, caller
from tests.cli.house import Opened, SqliteHouse
from tests.cli.program import command, environment


class BrokenHouse(SqliteHouse):
    def __init__(self, failure: BaseException) -> None:
        super().__init__(Path("nowhere"))
        self._failure = failure

    def open(self, options: Mapping[str, str]) -> AbstractAsyncContextManager[Opened]:
        raise self._failure


def broken(failure: BaseException, capsys: pytest.CaptureFixture[str]) -> Deskwire:
    return caller(BrokenHouse(failure), capsys)


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (DeskError("CONFLICT", "It is taken."), "It is taken."),
        (Unavailable("PostgreSQL cannot be reached"), "PostgreSQL cannot be reached"),
        (FilesUnavailable("the bucket is away"), "the bucket is away"),
        (FileNotFoundError(2, "No such file or directory", "/data/x"), "/data/x: No such file or directory"),
        (PermissionError(13, "Permission denied", b"/data/x"), "/data/x: Permission denied"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError("odd"), "odd"),
        (Unavailable("two\nlines \x1b[2J"), "two lines \ufffd[2J"),
    ],
)
def test_a_failure_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str], failure: Exception, said: str
) -> None:
    failed = broken(failure, capsys)("token", "list", "--json")
    assert (failed.code, failed.complaint) == (1, said)


def test_an_unexpected_failure_says_how_to_see_where_it_came_from(capsys: pytest.CaptureFixture[str]) -> None:
    failed = broken(KeyError("x"), capsys)("token", "list")
    assert failed.code == 1
    assert failed.complaint == (
        "unexpected KeyError: 'x' (`deskwire --traceback …` shows where it came from)"
    )


def test_a_traceback_is_shown_when_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    failed = broken(KeyError("x"), capsys)("--traceback", "token", "list")
    assert (failed.code, failed.out) == (1, "")
    assert failed.err.startswith("Traceback")
    assert failed.err.endswith("\ndeskwire: unexpected KeyError: 'x'\n")


def test_a_damaged_database_is_named(deskwire: Deskwire, folder: Path) -> None:
    (folder / "deskwire.db").write_bytes(b"this is no database" * 1000)
    failed = deskwire("workspace", "list", "--json")
    assert failed.code == 1
    assert str(folder / "deskwire.db") in failed.complaint


def test_output_that_nobody_reads_to_its_end_is_a_failure(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        command(folder, "workspace", "list"),
        env=environment(),
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    said = "deskwire: standard output was closed before everything was written\n"
    assert (ended.returncode, ended.stderr) == (1, said)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_is_a_failure(folder: Path) -> None:
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            command(folder, "workspace", "list"),
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (1, "deskwire: No space left on device\n")


def test_a_terminal_of_few_letters_still_shows_the_rest(folder: Path, deskwire: Deskwire) -> None:
    deskwire("workspace", "create", "--name", "Acme 상점", "--owner-email", "ann@acme.test")
    ended = subprocess.run(
        command(folder, "workspace", "list"),
        env=environment(PYTHONIOENCODING="latin-1"),
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.endswith(b"Acme ??\n")


ENDLESS = """
import signal
import sys
from pathlib import Path
from deskwire.cli import operation
from deskwire.cli.house import Invocation
from deskwire.cli.main import run
from deskwire.cli import workspaces
from deskwire.desk.workspaces import create_workspace
from tests.cli.house import SqliteHouse

async def endless(tx, *more):
    await create_workspace(tx, "half", "ann@acme.test")
    print("started", file=sys.stderr, flush=True)
    while True:
        await create_workspace(tx, "half", "ann@acme.test")

workspaces.create_workspace = endless
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(run(SqliteHouse(Path(sys.argv[1])), sys.argv[2:]))
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_an_operation_in_its_middle_and_nothing_of_it_stays(
    folder: Path, deskwire: Deskwire, number: int, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What watches which lines run has a lock of its own, and the signal may come while it is held.
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    argv = ("workspace", "create", "--name", "n", "--owner-email", "ann@acme.test", "--json")
    with subprocess.Popen(
        command(folder, *argv, script=ENDLESS),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        assert running.stderr.readline() == "started\n"
        running.send_signal(number)
        out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err) == (code, "", "deskwire: interrupted\n")
    assert deskwire("workspace", "list", "--json").json == {"workspaces": []}


def test_a_signal_that_was_ignored_before_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interruptible():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)


def test_handlers_of_signals_are_as_before_once_a_command_is_done(deskwire: Deskwire) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    deskwire("workspace", "list")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_what_only_reads_the_arguments_loads_no_database() -> None:
    heavy = {"sqlalchemy", "apsw", "asyncpg", "alembic", "aiodns", "obstore", "asyncio", "rich", "starlette"}
    script = f"import sys, deskwire.cli.main; print(sorted({heavy!r} & set(sys.modules)))"
    ended = subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, text=True, check=True
    )
    assert ended.stdout == "[]\n"
