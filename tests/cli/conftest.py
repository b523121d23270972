"""Running the command line in a real house, as the tests of this folder do."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from deskwire.cli.house import House
from deskwire.cli.main import run as run_cli
from tests.cli.house import SqliteHouse


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What `--json` printed: one object on one line, and nothing besides."""
        assert self.code == 0, self.err
        assert self.err == ""
        assert self.out.count("\n") == 1 and self.out.endswith("\n")
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        """The one line that was said of what went wrong."""
        assert self.out == ""
        assert self.err.startswith("deskwire: ")
        assert self.err.count("\n") == 1 and self.err.endswith("\n")
        return self.err.removeprefix("deskwire: ").removesuffix("\n")


Deskwire = Callable[..., Outcome]


def caller(house: House, capsys: pytest.CaptureFixture[str]) -> Deskwire:
    def call(*argv: object) -> Outcome:
        code = run_cli(house, [str(each) for each in argv])
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture
def folder(tmp_path: Path, migrated_sqlite: Path) -> Path:
    data = tmp_path / "data"
    data.mkdir()
    shutil.copy(migrated_sqlite, data / "deskwire.db")
    return data


@pytest.fixture
def deskwire(folder: Path, capsys: pytest.CaptureFixture[str]) -> Deskwire:
    return caller(SqliteHouse(folder), capsys)


@pytest.fixture
def workspace(deskwire: Deskwire) -> str:
    made = deskwire("workspace", "create", "--name", "Acme", "--owner-email", "ann@acme.test", "--json")
    return str(made.json["workspace_id"])
