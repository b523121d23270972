"""One process that serves: how it obeys signals, and what it and its parent process tell each other."""

import asyncio
import logging
import pickle
import signal
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import uvloop

logger = logging.getLogger("deskwire.worker")

READY = b"ready\n"
_LENGTH = struct.Struct("!Q")


@dataclass(frozen=True, slots=True)
class Place:
    """Which of how many workers this is; `boards` are the open files in which several keep their figures."""

    slot: int = 0
    workers: int = 1
    boards: tuple[int, ...] = ()


Job = Callable[[list[socket.socket], asyncio.Event, Callable[[], None], Place], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Errand:
    """What a worker process is told at its start, through the socket that is its standard input."""

    job: Job
    listeners: tuple[int, ...]
    place: Place

    def pack(self) -> bytes:
        pickled = pickle.dumps(self)
        return _LENGTH.pack(len(pickled)) + pickled


async def obey(job: Job, sockets: list[socket.socket], place: Place, ready: Callable[[], None]) -> None:
    """Runs the job until it ends by itself or by SIGTERM or SIGINT: one asks it to stop, two cut it short."""
    await _Obedience(ready).run(job, sockets, place)


def main() -> None:
    """The whole life of a worker process."""
    # A signal that comes before the loop listens for it ends the process quietly.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    channel = socket.socket(fileno=0)
    errand = _receive(channel)
    sockets = [socket.socket(fileno=each) for each in errand.listeners]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        succeeded = runner.run(_work(errand, sockets, channel))
    raise SystemExit(0 if succeeded else 1)


class _Obedience:
    def __init__(self, ready: Callable[[], None]) -> None:
        self.stop = asyncio.Event()
        self.is_ready = False
        self._tell_ready = ready

    async def run(self, job: Job, sockets: list[socket.socket], place: Place) -> None:
        loop = asyncio.get_running_loop()
        self._task = asyncio.ensure_future(job(sockets, self.stop, self._on_ready, place))
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.order_stop)
        try:
            await self._task
        except asyncio.CancelledError:
            if not self.stop.is_set():
                raise

    def _on_ready(self) -> None:
        if not self.is_ready and not self.stop.is_set():
            self.is_ready = True
            self._tell_ready()

    def order_stop(self) -> None:
        # A start that is under way has nobody to answer yet and is simply given up.
        if self.stop.is_set() or not self.is_ready:
            self._task.cancel()
        self.stop.set()


def _receive(channel: socket.socket) -> Errand:
    with channel.makefile("rb", buffering=0) as file:
        (length,) = _LENGTH.unpack(_read_exactly(file.read, _LENGTH.size))
        errand = pickle.loads(_read_exactly(file.read, length))
    assert isinstance(errand, Errand)
    return errand


def _read_exactly(read: Callable[[int], bytes | None], size: int) -> bytes:
    received = b""
    while len(received) < size:
        chunk = read(size - len(received))
        if not chunk:
            raise SystemExit(1)
        received += chunk
    return received


async def _work(errand: Errand, sockets: list[socket.socket], channel: socket.socket) -> bool:
    reader, writer = await asyncio.open_connection(sock=channel)
    obedience = _Obedience(ready=lambda: writer.write(READY))
    orphanage = asyncio.create_task(_await_orphanage(reader, obedience))
    try:
        await obedience.run(errand.job, sockets, errand.place)
    except Exception as error:
        if obedience.is_ready:
            logger.exception("the worker failed")
        else:
            writer.write(_describe(error).encode() + b"\n")
            await writer.drain()
        return False
    finally:
        orphanage.cancel()
        writer.close()
    return True


async def _await_orphanage(reader: asyncio.StreamReader, obedience: _Obedience) -> None:
    """The channel's end is the end of the process that started this one, however it ended."""
    await reader.read()
    logger.warning("the parent process is gone; stopping")
    obedience.order_stop()


def _describe(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
