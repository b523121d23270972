"""A receiver of webhooks that runs beside a command, in a thread with a loop of its own."""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.delivery.receivers import OK, Answer, Receiver, receiver


@contextmanager
def running(answer: Answer | bytes = OK, context: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def enter() -> Receiver:
        return await opened.__aenter__()

    opened = receiver(answer, context)
    try:
        here = asyncio.run_coroutine_threadsafe(enter(), loop).result(30)
        yield here
    finally:
        asyncio.run_coroutine_threadsafe(opened.__aexit__(None, None, None), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()
