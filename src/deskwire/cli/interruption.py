"""A signal that ends a command before it is done."""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

RETRY_S = 0.01
ENDED_BY_SIGNALS = frozenset({"serve", "worker", "listen"})


class Interrupted(KeyboardInterrupt):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def interruptible() -> Iterator[None]:
    """asyncio would wait for the next turn of its loop, which an operation on SQLite reaches at its end."""
    before = handle(interrupt)
    sys.unraisablehook = try_again
    try:
        yield
    finally:
        sys.unraisablehook = sys.__unraisablehook__
        for number, handler in before.items():
            signal.signal(number, handler)


def handle(handler: Callable[[int, FrameType | None], object] | signal.Handlers) -> dict[signal.Signals, Any]:
    """What handled them before. What the parent process ignores, as nohup and `&` do, stays ignored."""
    return {
        number: signal.signal(number, handler)
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) is not signal.SIG_IGN
    }


def interrupt(number: int, frame: FrameType | None) -> NoReturn:
    # It may have come between making a coroutine and awaiting it, which nobody needs to hear of.
    warnings.simplefilter("ignore", RuntimeWarning)
    raise Interrupted(number)


def try_again(lost: "sys.UnraisableHookArgs") -> None:
    """Python drops what is raised where it tidies up, and with it a signal that came just then."""
    if isinstance(lost.exc_value, Interrupted):
        threading.Timer(RETRY_S, os.kill, (os.getpid(), lost.exc_value.number)).start()
    else:
        sys.__unraisablehook__(lost)


def exit_code(interruption: KeyboardInterrupt, argv: Sequence[str]) -> int:
    """As shells tell it, 128 and the number of the signal; 0 of a command that only a signal ends."""
    command = next((each for each in argv if not each.startswith("-")), "")
    if command in ENDED_BY_SIGNALS:
        return 0
    return 128 + (interruption.number if isinstance(interruption, Interrupted) else signal.SIGINT)
