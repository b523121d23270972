"""Where the store's transactions take their now from."""

import time
from collections.abc import Callable

from deskwire.model.moments import Moment

Clock = Callable[[], Moment]


def system_clock() -> Moment:
    return Moment(time.time_ns() // 1000)
