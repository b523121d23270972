"""Where the program starts: it heeds signals before it loads the rest, which takes a moment."""

import os
import signal
import sys
from importlib import import_module
from types import FrameType

from deskwire.cli.interruption import Interrupted, exit_code, handle


def main() -> None:
    open_standard_streams()
    handle(end)
    try:
        import_module("deskwire.wiring.program").main()
    finally:
        # It is ending, and a signal more must not make a failure of that.
        handle(signal.SIG_IGN)


def open_standard_streams() -> None:
    """Where one was closed, what is opened first would take its number, and be written to in its place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # The lowest number that is free is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
            mode = "r" if number == 0 else "w"
            stream = os.fdopen(number, mode, encoding="utf-8", errors="replace", closefd=False)
            setattr(sys, name, stream)


def end(number: int, _frame: FrameType | None) -> None:
    """Where nothing has begun that has to be ended in order."""
    code = exit_code(Interrupted(number), sys.argv[1:])
    if code:
        os.write(2, b"deskwire: interrupted\n")
    os._exit(code)
