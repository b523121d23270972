from pathlib import Path

import apsw

from tests.cli.conftest import Deskwire


def test_a_sound_database_is_said_to_be_one(deskwire: Deskwire, workspace: str) -> None:
    assert deskwire("check") == (0, "Every derived value is as it should be.\n", "")


def test_each_value_that_differs_is_a_line(deskwire: Deskwire, workspace: str, folder: Path) -> None:
    connection = apsw.Connection(str(folder / "deskwire.db"))
    connection.execute("UPDATE members SET email = 'bo@acme.test'")
    connection.execute("UPDATE workspaces SET document = x'7b7d'")
    connection.close()
    code, out, err = deskwire("check")
    assert code == 1
    lines = out.splitlines()
    assert any("members" in line for line in lines)
    assert any("workspaces" in line and workspace in line for line in lines)
    assert err == f"deskwire: values that differ from what they are derived from: {len(lines)}\n"
