"""A real house on SQLite in one folder, for the command line's tests."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from deskwire.cli.house import Option
from deskwire.delivery.resolving import Lookup, ResolutionFailed
from deskwire.delivery.sending import Sender
from deskwire.desk.sealing import Seal
from deskwire.model.addresses import Address
from deskwire.model.webhook_urls import Allow
from deskwire.store.attachments import Files, open_files
from deskwire.store.clock import system_clock
from deskwire.store.migration import migrate_sqlite
from deskwire.store.sqlite import SqliteStore
from deskwire.store.transaction import Store
from deskwire.wiring.messenger import Messenger

SEAL = Seal(b"s" * 32)


async def nowhere(host: str) -> Sequence[Address]:
    raise ResolutionFailed("there is no such name")


class Opened(NamedTuple):
    store: Store
    files: Files


class SqliteHouse:
    options = (
        Option("data-dir", "Where the data are."),
        Option("database-url", "The database."),
        Option("log", "The form of the log."),
    )

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Where webhooks may lead to.
        self.allow: Allow = ()
        self.lookup: Lookup = nowhere

    def open(self, options: Mapping[str, str]) -> AbstractAsyncContextManager[Opened]:
        return opened(Path(options.get("data-dir", self.folder)))

    def find_database(self, options: Mapping[str, str]) -> None:
        """There is one in each test's folder."""

    @asynccontextmanager
    async def open_messenger(self, options: Mapping[str, str]) -> AsyncIterator[Messenger]:
        async with Sender(self.lookup, allow=self.allow) as sender:
            yield Messenger(self.lookup, sender, SEAL, self.allow)

    def serve(
        self, options: Mapping[str, str], *, host: str, port: int, demo: bool, workers: int, delivery: bool
    ) -> int:
        raise AssertionError("nothing is served here")

    def work(self, options: Mapping[str, str]) -> int:
        raise AssertionError("nothing is delivered here")

    def migrate(self, options: Mapping[str, str], *, check: bool) -> bool:
        raise AssertionError("nothing is migrated here")

    def distribute(self, options: Mapping[str, str]) -> Sequence[str]:
        raise AssertionError("nothing is distributed here")

    def back_up(
        self, options: Mapping[str, str], folder: Path, advance: Callable[[int, int], None]
    ) -> Sequence[str]:
        raise AssertionError("nothing is backed up here")


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Opened]:
    path = folder / "deskwire.db"
    migrate_sqlite(path)
    store = SqliteStore(path, system_clock)
    try:
        yield Opened(store, open_files(str(folder / "attachments")))
    finally:
        await store.close()
