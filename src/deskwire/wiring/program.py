"""The program, with as much of the house as reading the arguments needs."""

import sys
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import cast

from deskwire.cli import house
from deskwire.cli.main import run
from deskwire.wiring import settings


def main() -> None:
    raise SystemExit(run(Porch(), sys.argv[1:]))


class Porch:
    """Help, and completion in a shell, answer from here; what works in the house loads it."""

    @property
    def options(self) -> list[house.Option]:
        return settings.options()

    def open(self, options: Mapping[str, str]) -> AbstractAsyncContextManager[house.OpenHouse]:
        return enter().open(options)

    def serve(
        self, options: Mapping[str, str], *, host: str, port: int, demo: bool, workers: int, delivery: bool
    ) -> int:
        return enter().serve(options, host=host, port=port, demo=demo, workers=workers, delivery=delivery)

    def migrate(self, options: Mapping[str, str], *, check: bool) -> bool:
        return enter().migrate(options, check=check)


def enter() -> house.House:
    return cast(house.House, import_module("deskwire.wiring.house").House())
