"""A program that migrates a database and dies at the statement of the number that it is told, by SIGKILL.

On SQLite it kills itself there; on PostgreSQL the server dawdles there, and whoever started it does it.
"""

import asyncio
import itertools
import os
import signal
import sys
from pathlib import Path

import apsw

from deskwire.store import migration, migration_script

DAWDLE = "SELECT pg_sleep(1)"


def die_at(death: int) -> None:
    statements = itertools.count(1)

    def look(*_: object) -> bool:
        if next(statements) == death:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def watch(connection: apsw.Connection) -> None:
        connection.exec_trace = look

    apsw.connection_hooks.append(watch)


def dawdle_at(death: int) -> None:
    whole = migration_script.script

    def with_a_pause(dialect: str, version: str | None) -> str:
        statements = whole(dialect, version).split(";\n")
        return ";\n".join([*statements[:death], DAWDLE, *statements[death:]])

    migration_script.script = with_a_pause  # type: ignore[assignment]


def main(target: str, death: int) -> None:
    if target.startswith("postgresql"):
        if death:
            dawdle_at(death)
        asyncio.run(migration.migrate_postgres(target))
    else:
        die_at(death)
        migration.migrate_sqlite(Path(target))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
