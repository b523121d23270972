"""A process that writes until it is killed, and says of each write when it is answered: `writing.py PATH`."""

import asyncio
import sys
from pathlib import Path

from deskwire.store.clock import system_clock
from deskwire.store.sqlite import SqliteStore
from tests.store.deeds import create

WRITERS = 20


async def write_on(store: SqliteStore) -> None:
    while True:
        print(await store.write(create), flush=True)


async def main(path: Path) -> None:
    store = SqliteStore(path, system_clock)
    await asyncio.gather(*(write_on(store) for _ in range(WRITERS)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
