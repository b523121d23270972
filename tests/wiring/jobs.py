"""Serving jobs for the process tests; a worker process imports them from here."""

import asyncio
import os
import socket
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from deskwire.api.server import serve
from deskwire.cli.house import StartError
from deskwire.wiring.processes import run
from deskwire.wiring.worker import Place

Ready = Callable[[], None]


async def tell_pid(scope: Any, receive: Any, send: Any) -> None:
    if scope["path"] == "/slow":
        await asyncio.sleep(0.4)
    if scope["path"] == "/stuck":
        await asyncio.sleep(60)
    body = str(os.getpid()).encode()
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def serve_pid(sockets: list[socket.socket], stop: asyncio.Event, ready: Ready, place: Place) -> None:
    await serve(tell_pid, sockets, stop=stop, ready=ready, grace_s=5)


async def fail(sockets: list[socket.socket], stop: asyncio.Event, ready: Ready, place: Place) -> None:
    raise StartError("the database is behind;\nrun migrate")


async def die(sockets: list[socket.socket], stop: asyncio.Event, ready: Ready, place: Place) -> None:
    os._exit(3)


async def die_once(
    folder: str, sockets: list[socket.socket], stop: asyncio.Event, ready: Ready, place: Place
) -> None:
    try:
        os.close(os.open(f"{folder}/{place.slot}", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        await serve_pid(sockets, stop, ready, place)
    else:
        os._exit(3)


async def never_ready(sockets: list[socket.socket], stop: asyncio.Event, ready: Ready, place: Place) -> None:
    print("starting", flush=True)
    await asyncio.sleep(60)


def main(name: str, host: str, port: str, workers: str, *arguments: str) -> int:
    # A worker process finds the job under the name of this module, not under __main__.
    job = partial(getattr(import_module("tests.wiring.jobs"), name), *arguments)
    try:
        run(job, host=host, port=int(port), workers=int(workers))
    except StartError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
