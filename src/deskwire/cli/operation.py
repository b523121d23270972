"""Doing something in an open house, in a way that Ctrl-C ends at once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from deskwire.cli.house import Invocation, OpenHouse
from deskwire.cli.interruption import Interrupted, interruptible
from deskwire.store.transaction import Tx

T = TypeVar("T")


def run_open(invocation: Invocation, work: Callable[[OpenHouse], Awaitable[T]]) -> T:
    async def run() -> T:
        async with invocation.house.open(invocation.options) as house:
            return await work(house)

    return run_interruptibly(run)


def run_interruptibly(work: Callable[[], Awaitable[T]]) -> T:
    async def run() -> T:
        asyncio.get_running_loop().set_exception_handler(report)
        return await work()

    with interruptible():
        return asyncio.run(run())


def run_read(invocation: Invocation, operation: Callable[[Tx], Awaitable[T]]) -> T:
    return run_open(invocation, lambda house: house.store.read(operation))


def run_write(invocation: Invocation, operation: Callable[[Tx], Awaitable[T]]) -> T:
    return run_open(invocation, lambda house: house.store.write(operation))


def report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What a task dies of while nobody waits for it; of an interruption the command speaks itself."""
    if not isinstance(context.get("exception"), Interrupted):
        loop.default_exception_handler(context)
