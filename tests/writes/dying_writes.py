"""A program that does each write again and again, killed one statement later each time."""

import asyncio
import itertools
import json
import os
import signal
import sys
from pathlib import Path

import apsw

from deskwire.api.routes import PREFIX
from deskwire.store.attachments import open_files
from deskwire.store.clock import system_clock
from deskwire.store.sqlite import SqliteStore
from tests.api.client import send
from tests.api.desk import House
from tests.engines import SetClock


def main(place: str, folder: str, secret: str) -> None:
    """Says how many statements each write has; fails if a death at one of them left anything."""
    counts = [die_at_each(place, folder, secret, *one) for one in json.load(sys.stdin)]
    print(json.dumps(counts))


def die_at_each(place: str, folder: str, secret: str, method: str, path: str, body: object) -> int:
    before = everything(place)
    for statement in itertools.count(1):
        child = os.fork()
        if not child:
            asyncio.run(write(place, folder, secret, method, path, body, statement))
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        after = everything(place)
        if code == 0:
            assert after != before, f"{path} changed nothing"
            return statement - 1
        assert code == -signal.SIGKILL
        assert after == before, f"killed at statement {statement}, {path} left a part of itself"
    raise AssertionError("it counts for ever")


async def write(
    place: str, folder: str, secret: str, method: str, path: str, body: object, statement: int
) -> None:
    store = SqliteStore(Path(place), system_clock)
    house = House(store, open_files(folder), SetClock(), asyncio.run, Path(folder))
    left = itertools.count(statement - 1, -1)

    def die(connection: apsw.Cursor, sql: str, values: object) -> bool:
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    store._groups.connection.exec_trace = die
    headers = [("authorization", f"Bearer {secret}"), ("content-type", "application/json")]
    answer = await send(house.app, method, PREFIX + path, headers, [json.dumps(body).encode()])
    assert answer.status in (200, 201, 204), answer.body
    await store.close()


def everything(place: str) -> dict[str, list[str]]:
    connection = apsw.Connection(place)
    try:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            str(name): [
                json.dumps(list(map(repr, row))) for row in connection.execute(f'SELECT * FROM "{name}"')
            ]
            for (name,) in tables
        }
    finally:
        connection.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
