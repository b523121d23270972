"""The command line at the door of the house: help and the like are answered before the house is built."""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from deskwire.cli.house import Option
from deskwire.cli.main import run
from deskwire.wiring import settings

if TYPE_CHECKING:
    from deskwire.wiring.house import House
    from deskwire.wiring.messenger import Messenger
    from deskwire.wiring.opening import OpenHouse


class Door:
    """The house to the command line; of what it is built of, each command loads what it needs."""

    @property
    def options(self) -> list[Option]:
        return [
            Option(settings.option_of(each).removeprefix("--"), each.metadata["help"])
            for each in fields(settings.Settings)
        ]

    def open(self, options: Mapping[str, str]) -> "AbstractAsyncContextManager[OpenHouse]":
        return self._house().open(options)

    def find_database(self, options: Mapping[str, str]) -> None:
        self._house().find_database(options)

    def open_messenger(self, options: Mapping[str, str]) -> "AbstractAsyncContextManager[Messenger]":
        opener: Callable[[Mapping[str, str]], AbstractAsyncContextManager[Messenger]]
        opener = importlib.import_module("deskwire.wiring.messenger").open_messenger
        return opener(options)

    def serve(
        self, options: Mapping[str, str], *, host: str, port: int, demo: bool, workers: int, delivery: bool
    ) -> int:
        serve: Callable[..., int] = importlib.import_module("deskwire.wiring.running").serve
        return serve(options, host=host, port=port, demo=demo, workers=workers, delivery=delivery)

    def work(self, options: Mapping[str, str]) -> int:
        work: Callable[..., int] = importlib.import_module("deskwire.wiring.running").work
        return work(options)

    def migrate(self, options: Mapping[str, str], *, check: bool) -> bool:
        return self._house().migrate(options, check=check)

    def distribute(self, options: Mapping[str, str]) -> Sequence[str]:
        return self._house().distribute(options)

    def back_up(
        self, options: Mapping[str, str], folder: Path, advance: Callable[[int, int], None]
    ) -> Sequence[str]:
        return self._house().back_up(options, folder, advance)

    def _house(self) -> "House":
        house: House = importlib.import_module("deskwire.wiring.house").House()
        return house


def main() -> None:
    raise SystemExit(run(Door(), sys.argv[1:]))
