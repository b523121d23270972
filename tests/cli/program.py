"""The command line as a program of its own: `python program.py FOLDER ARGUMENTS` runs it in a house there."""

import os
import sys
from pathlib import Path

from deskwire.cli.main import run
from tests.cli.house import SqliteHouse

ROOT = Path(__file__).parents[2]


def command(folder: Path, *argv: object, script: str = "") -> list[str]:
    """What starts the program, or a Python script in its place."""
    entry = ["-c", script] if script else [__file__]
    return [sys.executable, *entry, str(folder), *map(str, argv)]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", **more}


if __name__ == "__main__":
    sys.exit(run(SqliteHouse(Path(sys.argv[1])), sys.argv[2:]))
