"""The command line as a program of its own: `python program.py FOLDER ARGUMENTS` runs it in a house there."""

import sys
from pathlib import Path

from deskwire.cli.main import run
from tests.cli.house import SqliteHouse

if __name__ == "__main__":
    sys.exit(run(SqliteHouse(Path(sys.argv[1])), sys.argv[2:]))
