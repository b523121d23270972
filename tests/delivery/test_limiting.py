"""An attempt ends in time, but not for what passes while its process stands still."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from deskwire.delivery.limiting import within
from deskwire.model.deliveries import Unreachable
from tests.delivery.receivers import OK, Receiver, receiver, send
from tests.delivery.stopped_sender import LOOPS

ROOT = Path(__file__).parents[2]
ATTEMPTS = 12
LIMIT_S = 1.5
# Of a slow machine; what hangs takes for ever.
ALLOWED_S = 30.0

on_both_loops = pytest.mark.parametrize("loop", LOOPS)


def run_on(loop: str, coroutine: Coroutine[object, None, None]) -> None:
    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        runner.run(coroutine)


@asynccontextmanager
async def stopped_sender(loop: str, to: Receiver) -> AsyncIterator[asyncio.subprocess.Process]:
    """It stands still from when all its requests have come."""
    paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    arguments = [loop, str(to.port), str(ATTEMPTS), str(LIMIT_S)]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.delivery.stopped_sender", *arguments),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
    )
    try:
        async with asyncio.timeout(ALLOWED_S):
            while len(to.requests) < ATTEMPTS:
                to.arrived.clear()
                await to.arrived.wait()
        process.send_signal(signal.SIGSTOP)
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def outcomes_after_a_stop(loop: str, answers: bool) -> list[str]:
    """Of attempts that are answered, if at all, while their sender stands still beyond their limit."""
    is_stopped = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await is_stopped.wait()
        if answers:
            writer.write(OK)
        else:
            await reader.read()

    async with receiver(answer) as to, stopped_sender(loop, to) as process:
        is_stopped.set()
        await asyncio.sleep(1.5 * LIMIT_S)
        process.send_signal(signal.SIGCONT)
        printed, _ = await asyncio.wait_for(process.communicate(), ALLOWED_S)
    return printed.decode().splitlines()


@on_both_loops
def test_answers_that_came_while_the_process_was_stopped_count(loop: str) -> None:
    assert asyncio.run(outcomes_after_a_stop(loop, True)) == ["delivered"] * ATTEMPTS


@on_both_loops
def test_a_receiver_that_gives_no_answer_fails_also_after_a_stop(loop: str) -> None:
    assert asyncio.run(outcomes_after_a_stop(loop, False)) == ["no answer within 1.5 s"] * ATTEMPTS


async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


@on_both_loops
def test_a_receiver_that_gives_no_answer_fails_in_time(loop: str) -> None:
    async def run() -> None:
        async with receiver(silence) as to:
            outcome = await send(to, limit_s=1.0)
            assert isinstance(outcome, Unreachable) and outcome.error == "no answer within 1 s"
            # Twice its limit is what it may take at most, where this machine is busy.
            assert 1000 <= outcome.duration_ms < 1900

    run_on(loop, run())


def standstill(over_after_s: float) -> Callable[[], None]:
    """To be called by the loop, which then does nothing else until so long after now."""
    over_at = time.monotonic() + over_after_s
    return lambda: time.sleep(max(0.0, over_at - time.monotonic()))


@on_both_loops
def test_a_standstill_lengthens_a_limit_by_itself_at_most(loop: str) -> None:
    async def run() -> None:
        started = time.monotonic()
        asyncio.get_running_loop().call_later(0.05, standstill(2.0))
        with pytest.raises(TimeoutError):
            await within(0.2, asyncio.Event().wait())
        assert 2.15 < time.monotonic() - started < 3.5

    run_on(loop, run())


@on_both_loops
def test_a_cancelled_wait_is_no_timeout(loop: str) -> None:
    async def run() -> None:
        waiting = asyncio.create_task(within(30, asyncio.Event().wait()))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    run_on(loop, run())
