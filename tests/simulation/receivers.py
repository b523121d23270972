"""Receivers of every temper, in memory: what each answers to a request, and after how long."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

HOUR_S = 3600.0


class Answer(NamedTuple):
    """No status: there is no answer, or no connection."""

    status: int | None
    after_s: float
    retry_after_s: int | None = None


@dataclass
class Receiver:
    temper: str
    behave: "Callable[[Receiver, float], Answer]"
    chance: random.Random
    is_healed: bool = False
    requests: int = 0

    def answer(self, now_s: float) -> Answer:
        self.requests += 1
        return self.behave(self, now_s)


def quick(receiver: Receiver) -> float:
    return receiver.chance.uniform(0.001, 0.05)


def good(receiver: Receiver, now_s: float) -> Answer:
    return Answer(receiver.chance.choice((200, 202, 204)), quick(receiver))


def slow(receiver: Receiver, now_s: float) -> Answer:
    return Answer(200, receiver.chance.uniform(1.0, 9.0))


def flaky(receiver: Receiver, now_s: float) -> Answer:
    if receiver.chance.random() < 0.6:
        return good(receiver, now_s)
    return receiver.chance.choice(
        (
            Answer(None, quick(receiver)),
            Answer(500, quick(receiver)),
            Answer(503, quick(receiver), receiver.chance.choice((1, 5, 90, 7200))),
            Answer(302, quick(receiver)),
            Answer(None, 60.0),
        )
    )


def busy(receiver: Receiver, now_s: float) -> Answer:
    if receiver.requests % 5 == 0:
        return good(receiver, now_s)
    return Answer(429, quick(receiver), receiver.chance.choice((None, 0, 3, 12, 120, 100_000)))


def refusing(receiver: Receiver, now_s: float) -> Answer:
    return Answer(400, quick(receiver))


def broken(receiver: Receiver, now_s: float) -> Answer:
    return Answer(receiver.chance.choice((500, 502, 599)), quick(receiver))


def hanging(receiver: Receiver, now_s: float) -> Answer:
    return Answer(None, 1000.0)


def unconnectable(receiver: Receiver, now_s: float) -> Answer:
    return Answer(None, quick(receiver))


def down_for_an_hour(receiver: Receiver, now_s: float) -> Answer:
    return unconnectable(receiver, now_s) if 60 < now_s < 60 + HOUR_S else good(receiver, now_s)


def good_then_dead(receiver: Receiver, now_s: float) -> Answer:
    return good(receiver, now_s) if receiver.requests <= 3 or receiver.is_healed else broken(receiver, now_s)


def healed_by_toggling(receiver: Receiver, now_s: float) -> Answer:
    return good(receiver, now_s) if receiver.is_healed else refusing(receiver, now_s)


def up_and_down(receiver: Receiver, now_s: float) -> Answer:
    """Fails long enough to stop its webhook, again and again, and has worked in between."""
    return good(receiver, now_s) if receiver.requests % 24 < 4 else refusing(receiver, now_s)


TEMPERS = {
    each.__name__: each
    for each in (
        good,
        slow,
        flaky,
        busy,
        refusing,
        broken,
        hanging,
        unconnectable,
        down_for_an_hour,
        good_then_dead,
        healed_by_toggling,
        up_and_down,
    )
}
