"""The house as most commands see it: what is opened and migrated under the settings."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from deskwire.cli.house import StartError
from deskwire.store.migration import migrate_postgres, migrate_sqlite
from deskwire.store.schema import SCHEMA, refuse_newer, sqlite_file_version
from deskwire.store.sharding import distribute
from deskwire.wiring import logs
from deskwire.wiring.backup import back_up
from deskwire.wiring.opening import OpenHouse, open_house, prepare, sqlite_path, version_of
from deskwire.wiring.settings import Settings, load_given


class House:
    @asynccontextmanager
    async def open(self, options: Mapping[str, str]) -> AsyncIterator[OpenHouse]:
        said = load_given(options)
        logs.configure(said.log)
        await prepare(said)
        async with open_house(said) as house:
            yield house

    def find_database(self, options: Mapping[str, str]) -> None:
        said = load_given(options)
        if not said.is_postgresql and not sqlite_path(said).exists():
            raise StartError(f"there is no database at {sqlite_path(said)}")

    def migrate(self, options: Mapping[str, str], *, check: bool) -> bool:
        said = load_given(options)
        logs.configure(said.log)
        if check:
            version = asyncio.run(current_version(said))
            refuse_newer(version)
            return version != SCHEMA
        if said.is_postgresql:
            return asyncio.run(migrate_postgres(said.database))
        return migrate_sqlite(sqlite_path(said))

    def distribute(self, options: Mapping[str, str]) -> Sequence[str]:
        said = load_given(options)
        logs.configure(said.log)
        if not said.is_postgresql:
            raise StartError(
                "an embedded database cannot be distributed: give DESKWIRE_DATABASE_URL the URL of a "
                "PostgreSQL with Citus"
            )
        return asyncio.run(distribute(said.database))

    def back_up(
        self, options: Mapping[str, str], folder: Path, advance: Callable[[int, int], None]
    ) -> Sequence[str]:
        said = load_given(options)
        logs.configure(said.log)
        return back_up(said, folder, advance)


async def current_version(said: Settings) -> str | None:
    if said.is_postgresql:
        return await version_of(said.database)
    path = sqlite_path(said)
    return sqlite_file_version(path) if path.exists() else None
