"""Connections that are kept for a while, since the next request to the same place can use them."""

import asyncio

from deskwire.delivery.answers import Connection
from deskwire.model.limits import CONNECTION_IDLE_S, UNKEPT_PLACES_REMEMBERED, UNKEPT_S
from deskwire.model.webhook_urls import Target

# Scheme, host and port.
Place = tuple[str, str, int]


class Connections:
    """How many there are is bounded elsewhere. To be made while a loop runs, and closed."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._open_ones: set[Connection] = set()
        self._idle: dict[Place, list[Connection]] = {}
        # Places whose connections are not kept, and until when; what was added last comes last.
        self._unkept: dict[Place, float] = {}
        self._sweep: asyncio.TimerHandle | None = None

    def make(self) -> Connection:
        return Connection(self._open_ones)

    def take(self, target: Target) -> Connection | None:
        """The one that was used last: the others may be closed the sooner."""
        idle = self._idle.get(_place(target), [])
        while idle:
            connection = idle.pop()
            if self._is_fresh(connection) and connection.is_quiet():
                return connection
            connection.abort()
        return None

    def give_back(self, target: Target, connection: Connection) -> None:
        place = _place(target)
        if not connection.is_free or self._loop.time() < self._unkept.get(place, 0.0):
            connection.abort()
            return
        connection.idle_since = self._loop.time()
        self._idle.setdefault(place, []).append(connection)
        if self._sweep is None:
            self._sweep = self._loop.call_later(CONNECTION_IDLE_S, self._close_old)

    def mistrust(self, target: Target) -> None:
        """Of a place that ends connections that it had promised to keep, none is kept for a while."""
        place = _place(target)
        for connection in self._idle.pop(place, []):
            connection.abort()
        self._unkept.pop(place, None)
        self._unkept[place] = self._loop.time() + UNKEPT_S
        if len(self._unkept) > UNKEPT_PLACES_REMEMBERED:
            del self._unkept[next(iter(self._unkept))]

    def close(self) -> None:
        if self._sweep is not None:
            self._sweep.cancel()
        self._idle.clear()
        for connection in list(self._open_ones):
            connection.abort()

    def _is_fresh(self, connection: Connection) -> bool:
        return connection.is_free and self._loop.time() - connection.idle_since < CONNECTION_IDLE_S

    def _close_old(self) -> None:
        for place, idle in list(self._idle.items()):
            fresh = []
            for connection in idle:
                if self._is_fresh(connection):
                    fresh.append(connection)
                else:
                    connection.abort()
            if fresh:
                self._idle[place] = fresh
            else:
                del self._idle[place]
        self._sweep = self._loop.call_later(CONNECTION_IDLE_S, self._close_old) if self._idle else None


def _place(target: Target) -> Place:
    return target.scheme, target.host, target.port
