"""A load balancer of a few lines: connections go to the servers in turn, past one that does not listen."""

import asyncio
import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PIECE_BYTES = 65_536


class Balancer:
    def __init__(self) -> None:
        self.ports: tuple[int, ...] = ()
        self.url = ""
        self._turns = itertools.count()
        self._relays: set[asyncio.Task[None]] = set()

    def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        relay = asyncio.create_task(self._relay(reader, writer))
        self._relays.add(relay)
        relay.add_done_callback(self._relays.discard)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await self._connect()
        await asyncio.gather(pour(reader, far_writer), pour(far_reader, writer))

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while True:
            ports = self.ports
            with suppress(ConnectionRefusedError):
                return await asyncio.open_connection("127.0.0.1", ports[next(self._turns) % len(ports)])
            await asyncio.sleep(0)

    async def run(self, started: threading.Event, done: asyncio.Event) -> None:
        server = await asyncio.start_server(self.take, "127.0.0.1", 0, backlog=512)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        started.set()
        await done.wait()
        server.close()
        await asyncio.gather(*self._relays)


async def pour(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await source.read(PIECE_BYTES):
            target.write(piece)
            await target.drain()
    with suppress(ConnectionError, OSError):
        target.close()
        await target.wait_closed()


@contextmanager
def balancing() -> Iterator[Balancer]:
    balancer, started = Balancer(), threading.Event()
    loop = asyncio.new_event_loop()
    done = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(balancer.run(started, done),))
    thread.start()
    started.wait()
    try:
        yield balancer
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()
        loop.close()
