"""Serves an application on listening sockets until told to stop, and then answers what is under way."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any, cast

from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.server import ServerState

from deskwire.api.acceptor import Acceptor
from deskwire.api.departures import Departures
from deskwire.api.pace import Pace
from deskwire.api.protocol import BoundedProtocol
from deskwire.model import limits

_DRAIN_POLL_S = 0.02


async def serve(
    app: ASGIApp,
    sockets: list[socket.socket],
    *,
    stop: asyncio.Event,
    ready: Callable[[], None],
    note_refused: Callable[[int, str], None] = lambda _status, _request_id: None,
    grace_s: float = limits.SHUTDOWN_GRACE_S,
    pace: Pace = Pace(),  # noqa: B008 - frozen
) -> None:
    """Returns when all is answered or the grace is over; when it is cancelled, it cuts everything at once.

    `note_refused` hears of what was answered without asking the application, since it was no request.
    """
    loop = asyncio.get_running_loop()
    state = ServerState()
    config = _configure(app)
    departures = Departures(loop)

    def make_protocol() -> BoundedProtocol:
        return BoundedProtocol(config, state, loop, pace, departures, note_refused)

    acceptors = [Acceptor(each, make_protocol) for each in sockets]
    ticker = asyncio.create_task(_tick(state, pace.check_interval_s))
    try:
        ready()
        await stop.wait()
        for acceptor in acceptors:
            acceptor.close()
        await _drain(state, grace_s)
    finally:
        ticker.cancel()
        for acceptor in acceptors:
            acceptor.close()
        await _cut(state)


def _configure(app: ASGIApp) -> Config:
    config = Config(
        cast("Any", app),
        interface="asgi3",
        lifespan="off",
        ws="none",
        http=BoundedProtocol,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
    )
    config.load()
    return config


async def _tick(state: ServerState, check_interval_s: float) -> None:
    loop = asyncio.get_running_loop()
    while True:
        state.default_headers = [(b"date", formatdate(time.time(), usegmt=True).encode())]
        _check(state, loop.time())
        await asyncio.sleep(check_interval_s)


def _check(state: ServerState, now_s: float) -> None:
    for connection in _connections(state):
        connection.check(now_s)


async def _drain(state: ServerState, grace_s: float) -> None:
    # What the clients have already sent is read before a connection counts as idle.
    await asyncio.sleep(_DRAIN_POLL_S)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(grace_s):
            while state.connections or state.tasks:
                for connection in _connections(state):
                    connection.shutdown()
                await asyncio.sleep(_DRAIN_POLL_S)


async def _cut(state: ServerState) -> None:
    for connection in _connections(state):
        connection.transport.abort()
    for task in state.tasks:
        task.cancel()
    if state.tasks:
        await asyncio.wait(state.tasks, timeout=1)


def _connections(state: ServerState) -> list[BoundedProtocol]:
    return cast("list[BoundedProtocol]", list(state.connections))
