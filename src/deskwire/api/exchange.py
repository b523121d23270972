"""One request and its answer on a connection: uvicorn's cycle, with the endings that Deskwire wants."""

import asyncio
from collections.abc import Callable

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from deskwire.api.refusal import INTERNAL


class Outlet:
    """What an exchange sees of its transport: closing it goes through the connection, which may linger."""

    __slots__ = ("close", "is_closing", "write")

    def __init__(self, transport: asyncio.Transport, close: Callable[[], None]) -> None:
        self.write = transport.write
        self.is_closing = transport.is_closing
        self.close = close


class Exchange(RequestResponseCycle):
    """An answer that does not wait for the end of its request closes the connection, since a client that was
    promised `100 Continue` or is still sending could take the rest of its body for the next request."""

    _keep_alive: bool

    @property
    def keep_alive(self) -> bool:
        if self._keep_alive and self.more_body:
            self._keep_alive = False
        return self._keep_alive

    @keep_alive.setter
    def keep_alive(self, keep_alive: bool) -> None:
        self._keep_alive = keep_alive

    async def run_asgi(self, app: ASGI3Application) -> None:
        try:
            await app(self.scope, self.receive, self.send)
        except Exception:
            self.logger.exception("the application failed")
            await self._end()
        else:
            if not (self.response_complete or self.disconnected):
                self.logger.error("the application returned without a complete answer")
                await self._end()
        finally:
            self.on_response = _nothing

    async def _end(self) -> None:
        if self.response_started:
            self.transport.close()
            return
        await self.send(
            {"type": "http.response.start", "status": INTERNAL.status, "headers": INTERNAL.headers()}
        )
        await self.send({"type": "http.response.body", "body": INTERNAL.body(), "more_body": False})

    def hang_up(self) -> None:
        """Tells the application that its client is gone."""
        self.disconnected = True
        self.message_event.set()


def _nothing() -> None:
    """Stands for a callback that has been called."""
