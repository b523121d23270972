"""Where the program starts."""

import sys

from deskwire.cli.main import run
from deskwire.wiring.house import House


def main() -> None:
    raise SystemExit(run(House(), sys.argv[1:]))
