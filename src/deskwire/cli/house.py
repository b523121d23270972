"""What the command line asks of the house that is built around it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from deskwire.model.deliveries import Outcome
    from deskwire.model.examinations import Examination
    from deskwire.model.webhooks import WebhookRecord
    from deskwire.store.attachments import Files
    from deskwire.store.transaction import Store


class Option(NamedTuple):
    """A setting that may be given on the command line: its name without the dashes, such as `data-dir`."""

    name: str
    help: str


class SettingsError(Exception):
    """A setting of the environment that cannot be used: one line that names it and says what is accepted."""


class OptionError(SettingsError):
    """The same of a setting that was given on the command line."""


class StartError(Exception):
    """Why the program cannot start, in one line for the person who started it."""


class OpenHouse(Protocol):
    @property
    def store(self) -> "Store": ...

    @property
    def files(self) -> "Files": ...


class Messenger(Protocol):
    """The way to the receivers of webhooks, for what an operator sends."""

    async def send(self, webhook: "WebhookRecord", body: bytes) -> "Outcome":
        """One request, signed, at once."""
        ...

    async def examine(self, url: str) -> "Examination": ...


class House(Protocol):
    """`options` are the settings given on the command line, by the names of `Option`; the others are the
    environment's. Every method raises SettingsError for a setting that cannot be used."""

    @property
    def options(self) -> Sequence[Option]: ...

    def open(self, options: Mapping[str, str]) -> AbstractAsyncContextManager[OpenHouse]: ...

    def find_database(self, options: Mapping[str, str]) -> None:
        """Raises StartError where opening would make an empty one."""
        ...

    def open_messenger(self, options: Mapping[str, str]) -> AbstractAsyncContextManager[Messenger]: ...

    def serve(
        self, options: Mapping[str, str], *, host: str, port: int, demo: bool, workers: int, delivery: bool
    ) -> int:
        """Answers the exit code."""
        ...

    def work(self, options: Mapping[str, str]) -> int:
        """Delivers; answers the exit code."""
        ...

    def migrate(self, options: Mapping[str, str], *, check: bool) -> bool:
        """True when the database was behind; with `check` it still is."""
        ...

    def distribute(self, options: Mapping[str, str]) -> Sequence[str]:
        """The tables that were spread over the machines of a PostgreSQL with Citus, and were not before."""
        ...

    def back_up(
        self, options: Mapping[str, str], folder: Path, advance: Callable[[int, int], None]
    ) -> Sequence[str]:
        """What a desk needs that the backup does not hold, in sentences."""
        ...


class Invocation(NamedTuple):
    """The house, and the settings that one command was given for it."""

    house: House
    options: Mapping[str, str]
