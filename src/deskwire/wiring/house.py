"""The house as the command line sees it: what is opened, served and migrated under the settings."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from deskwire.cli.operation import run_interruptibly
from deskwire.store.migration import migrate_postgres, migrate_sqlite
from deskwire.store.schema import SCHEMA, sqlite_file_version
from deskwire.wiring import demonstration, logs, processes, settings
from deskwire.wiring.keys import secret_key
from deskwire.wiring.opening import OpenHouse, open_house, prepare, sqlite_path, version_of
from deskwire.wiring.serving import Serving
from deskwire.wiring.settings import Settings

logger = logging.getLogger("deskwire.serve")


class House:
    @asynccontextmanager
    async def open(self, options: Mapping[str, str]) -> AsyncIterator[OpenHouse]:
        said = load(options)
        logs.configure(said.log)
        await prepare(said)
        async with open_house(said) as house:
            yield house

    def serve(
        self,
        options: Mapping[str, str],
        *,
        host: str,
        port: int,
        demo: bool,
        workers: int,
        delivery: bool,
    ) -> int:
        said = load(options)
        logs.configure(said.log)
        if demo:
            said = demonstration.settings_of(said)
        secret_key(said)
        if said.webhook_allow:
            logger.warning("DESKWIRE_WEBHOOK_ALLOW is set, which is for development only")
        introduce: demonstration.Introduction = nothing_more

        def get_ready() -> None:
            nonlocal introduce
            asyncio.run(prepare(said))
            if demo:
                introduce = run_interruptibly(lambda: demonstration.prepare(said))

        def announce(url: str) -> None:
            print(f"ready on {url}{introduce(said.public_url or url)}", flush=True)

        processes.run(
            Serving(said, host),
            host=host,
            port=port,
            workers=workers,
            get_ready=get_ready,
            announce=announce,
        )
        return 0

    def migrate(self, options: Mapping[str, str], *, check: bool) -> bool:
        said = load(options)
        logs.configure(said.log)
        if check:
            return asyncio.run(current_version(said)) != SCHEMA
        if said.is_postgresql:
            return asyncio.run(migrate_postgres(said.database))
        return migrate_sqlite(sqlite_path(said))


def nothing_more(_url: str) -> str:
    return ""


async def current_version(said: Settings) -> str | None:
    if said.is_postgresql:
        return await version_of(said.database)
    path = sqlite_path(said)
    return sqlite_file_version(path) if path.exists() else None


def load(options: Mapping[str, str]) -> Settings:
    return settings.load(os.environ, {name.replace("-", "_"): value for name, value in options.items()})
