"""A program that writes as fast as it can and says of each write that it is acknowledged, until killed."""

import asyncio
import itertools
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from deskwire.api.routes import PREFIX
from deskwire.store.attachments import open_files
from deskwire.store.clock import system_clock
from deskwire.store.postgres import open_postgres
from deskwire.store.sqlite import SqliteStore
from tests.api.client import send
from tests.api.desk import House
from tests.engines import AnyStore, SetClock

CLIENTS = 16


async def open_place(place: str) -> AnyStore:
    if place.startswith("postgres"):
        return await open_postgres(place, system_clock)
    return SqliteStore(Path(place), system_clock)


async def main(place: str, folder: str, secret: str, round_name: str, owner: str, *channels: str) -> None:
    house = House(await open_place(place), open_files(folder), SetClock(), asyncio.run, Path(folder))
    headers = [("authorization", f"Bearer {secret}"), ("content-type", "application/json")]
    numbers = itertools.count()

    async def write(method: str, path: str, body: Mapping[str, object]) -> None:
        answer = await send(house.app, method, PREFIX + path, headers, [json.dumps(body).encode()])
        assert answer.status in (200, 201), answer.body
        acknowledged = {"path": path, "body": body, "data": answer.json["data"]}
        sys.stdout.write(json.dumps(acknowledged) + "\n")
        sys.stdout.flush()

    async def client(number: int) -> None:
        channel = channels[number % len(channels)]
        for mark in map("{}-{}".format, itertools.repeat(round_name), numbers):
            body: dict[str, object] = {
                "content_type": "text",
                "content": f"Reply {mark}",
                "client_request_id": mark,
            }
            await write("POST", f"/channels/{channel}/messages", body)
            await write("POST", "/contacts", {"external_id": mark, "name": mark})
            verb = "close" if number % 2 else "reopen"
            await write("POST", f"/channels/{channel}/{verb}", {"actor_member_id": owner})

    await asyncio.gather(*map(client, range(CLIENTS)))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
