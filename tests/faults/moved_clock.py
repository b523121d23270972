"""Deskwire under a clock that is moved by as many seconds as a file says, ids and all; steady time goes on.

It is moved before anything of Deskwire is loaded, so that nobody there has the real one.
"""

import os
import time
from pathlib import Path

import uuid_utils

from deskwire.wiring.main import main

FILE = "CLOCK_FILE"
SECOND_NS = 1_000_000_000


def move() -> None:
    file = Path(os.environ[FILE])
    real_ns, real_uuid7 = time.time_ns, uuid_utils.uuid7

    def moved_ns() -> int:
        return real_ns() + int(file.read_text()) * SECOND_NS

    def moved_uuid7(*, nanoseconds: int | None = None) -> uuid_utils.UUID:
        return real_uuid7(nanoseconds=moved_ns() if nanoseconds is None else nanoseconds)

    time.time_ns = moved_ns
    time.time = lambda: moved_ns() / SECOND_NS
    uuid_utils.uuid7 = moved_uuid7


if __name__ == "__main__":
    move()
    main()
