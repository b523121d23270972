"""Doing something in an open house, in a way that Ctrl-C ends at once."""

import asyncio
import signal
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn, TypeVar

from deskwire.cli.house import Invocation, OpenHouse
from deskwire.cli.interruption import Interrupted
from deskwire.store.transaction import Tx

T = TypeVar("T")


def run_open(invocation: Invocation, work: Callable[[OpenHouse], Awaitable[T]]) -> T:
    async def run() -> T:
        asyncio.get_running_loop().set_exception_handler(report)
        async with invocation.house.open(invocation.options) as house:
            return await work(house)

    with interruptible():
        return asyncio.run(run())


def run_read(invocation: Invocation, operation: Callable[[Tx], Awaitable[T]]) -> T:
    return run_open(invocation, lambda house: house.store.read(operation))


def run_write(invocation: Invocation, operation: Callable[[Tx], Awaitable[T]]) -> T:
    return run_open(invocation, lambda house: house.store.write(operation))


@contextmanager
def interruptible() -> Iterator[None]:
    """asyncio would wait for the next turn of its loop, which an operation on SQLite reaches at its end."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number, handler in before.items():
            # What a shell runs in the background is to outlive a Ctrl-C in the foreground.
            if handler is not signal.SIG_IGN:
                signal.signal(number, interrupt)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What a task dies of while nobody waits for it; of an interruption the command speaks itself."""
    if not isinstance(context.get("exception"), Interrupted):
        loop.default_exception_handler(context)


def interrupt(number: int, frame: FrameType | None) -> NoReturn:
    # It may have come between making a coroutine and awaiting it, which nobody needs to hear of.
    warnings.simplefilter("ignore", RuntimeWarning)
    raise Interrupted(number)
