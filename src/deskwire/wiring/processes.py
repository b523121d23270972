"""Runs the serving job in this process, or in several that share the listening sockets and are kept alive."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from typing import IO

import uvloop

from deskwire.cli.house import StartError
from deskwire.model import limits
from deskwire.wiring.listening import listen, url_of
from deskwire.wiring.worker import READY, Errand, Job, Place, obey

logger = logging.getLogger("deskwire.processes")


def run(
    job: Job,
    *,
    host: str,
    port: int,
    workers: int,
    get_ready: Callable[[], None] = lambda: None,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Returns when a signal has ended it, and raises StartError when it cannot begin.

    `get_ready` is called when the port is known to be free, and before anything is answered.
    For several workers the job is pickled: it is then a function of a module, or a partial of one."""
    sockets = listen(host, port)
    url = url_of(host, sockets)
    say = announce or _print_ready
    try:
        get_ready()
        if workers == 1:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(obey(job, sockets, Place(), lambda: say(url)))
        else:
            asyncio.run(_Crew(job, sockets, workers, lambda: say(url)).run())
    finally:
        for each in sockets:
            each.close()


def _print_ready(url: str) -> None:
    print(f"ready on {url}", flush=True)


class _Crew:
    """The workers, each restarted when it dies. A rolling restart would end one worker after another the way
    `_keep` ends one, and let `_keep` start the next."""

    def __init__(
        self, job: Job, sockets: list[socket.socket], workers: int, announce: Callable[[], None]
    ) -> None:
        self._job = job
        self._sockets = sockets
        self._announce = announce
        self._size = workers
        self._boards: list[IO[bytes]] = []
        self._serving: set[int] = set()
        self._announced = False
        self._processes: dict[int, asyncio.subprocess.Process] = {}
        self._stop = asyncio.Event()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._order_stop)
        with contextlib.ExitStack() as files:
            # Files without a name: they outlive a worker, and nothing outlives the last process.
            self._boards = [files.enter_context(tempfile.TemporaryFile()) for _ in range(self._size)]
            try:
                async with asyncio.TaskGroup() as group:
                    for slot in range(self._size):
                        group.create_task(self._keep(slot))
            except* StartError as errors:
                raise errors.exceptions[0] from None

    def _order_stop(self) -> None:
        if not self._stop.is_set():
            asyncio.get_running_loop().call_later(
                2 * limits.SHUTDOWN_GRACE_S, self._signal_all, signal.SIGKILL
            )
        self._stop.set()
        self._signal_all(signal.SIGTERM)

    def _signal_all(self, number: signal.Signals) -> None:
        for process in self._processes.values():
            _signal(process, number)

    async def _keep(self, slot: int) -> None:
        failures = 0
        while not self._stop.is_set():
            began_s = time.monotonic()
            complaint = await self._live(slot)
            if self._stop.is_set():
                return
            lived_s = time.monotonic() - began_s
            failures = 0 if complaint is None and lived_s > limits.WORKER_BACK_OFF_MAX_S else failures + 1
            if complaint and not self._announced:
                raise StartError(complaint)
            if failures >= limits.WORKER_START_ATTEMPTS and not self._serving:
                raise StartError(f"the workers do not stay up: {failures} starts failed in a row")
            logger.warning("worker %d ended%s; starting another", slot, f": {complaint}" if complaint else "")
            await self._back_off(failures)

    async def _live(self, slot: int) -> str | None:
        """One worker's life; what it complained of when it could not start."""
        process, channel = await self._start(slot)
        self._processes[slot] = process
        if self._stop.is_set():
            _signal(process, signal.SIGTERM)
        reader, writer = channel
        try:
            said = await _hear(reader)
            if said == READY:
                self._note_serving(slot)
            await process.wait()
        finally:
            self._serving.discard(slot)
            await _end(process)
            del self._processes[slot]
            writer.close()
        return said.decode().strip() if said not in (b"", READY) else None

    async def _start(
        self, slot: int
    ) -> tuple[asyncio.subprocess.Process, tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        listeners = tuple(each.fileno() for each in self._sockets)
        boards = tuple(each.fileno() for each in self._boards)
        ours, theirs = socket.socketpair()
        with theirs:
            # A group of its own keeps the terminal's Ctrl-C for the parent, which passes it on once.
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-c", "from deskwire.wiring.worker import main; main()"),
                f"deskwire worker {slot}",
                stdin=theirs.fileno(),
                pass_fds=(*listeners, *boards),
                process_group=0,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
        reader, writer = await asyncio.open_connection(sock=ours)
        writer.write(Errand(self._job, listeners, Place(slot, self._size, boards)).pack())
        return process, (reader, writer)

    def _note_serving(self, slot: int) -> None:
        self._serving.add(slot)
        if len(self._serving) == self._size and not self._announced:
            self._announced = True
            self._announce()

    async def _back_off(self, failures: int) -> None:
        if failures == 0:
            return
        delay_s = limits.WORKER_BACK_OFF_FIRST_S * 2 ** min(failures - 1, 10)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), min(delay_s, limits.WORKER_BACK_OFF_MAX_S))


async def _hear(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readline()
    except ConnectionError:  # It died before it had read what it was told.
        return b""


async def _end(process: asyncio.subprocess.Process) -> None:
    """A worker that is given up while it runs is asked to stop, and killed when it does not."""
    if process.returncode is not None:
        return
    _signal(process, signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), 2 * limits.SHUTDOWN_GRACE_S)
    except TimeoutError:
        _signal(process, signal.SIGKILL)
        await process.wait()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)
