"""Seeded chance: everything random in the demo, the same on every run for the same moment."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TypeVar
from uuid import UUID

Choice = TypeVar("Choice")


class Chance:
    """The dice of one subject, so that a change to one subject leaves the others as they were."""

    def __init__(self, now: datetime, subject: str) -> None:
        self.now = now.astimezone(UTC)
        self.dice = Random(f"deskwire demo: {subject}")

    def pick(self, choices: Sequence[Choice]) -> Choice:
        return self.dice.choice(choices)

    def several(self, choices: Sequence[Choice], count: int) -> list[Choice]:
        return self.dice.sample(choices, min(count, len(choices)))

    def weighted(self, weights: Mapping[Choice, int]) -> Choice:
        return self.dice.choices(list(weights), list(weights.values()))[0]

    def percent(self, likelihood: int) -> bool:
        return self.dice.random() * 100 < likelihood

    def number(self, lowest: int, highest: int) -> int:
        return self.dice.randint(lowest, highest)

    def digits(self, pattern: str) -> str:
        """The pattern with every `#` replaced by a digit."""
        return "".join(str(self.number(0, 9)) if mark == "#" else mark for mark in pattern)

    def seconds(self, shortest: float, longest: float) -> timedelta:
        return timedelta(seconds=self.dice.uniform(shortest, longest))

    def ago(self, fewest_days: float, most_days: float) -> datetime:
        return self.now - timedelta(days=self.dice.uniform(fewest_days, most_days))

    def since(self, moment: datetime) -> datetime:
        """Some moment between the given one and now."""
        return moment + (self.now - moment) * self.dice.random()

    def uuid(self, moment: datetime) -> str:
        """A UUID v7 made at the moment."""
        milliseconds = int(moment.timestamp() * 1000)
        return _uuid(milliseconds << 80 | self.dice.getrandbits(80), version=7)

    def random_uuid(self) -> str:
        """A UUID v4."""
        return _uuid(self.dice.getrandbits(128), version=4)


def _uuid(bits: int, version: int) -> str:
    bits = bits & ~(0xF << 76) | version << 76
    return str(UUID(int=bits & ~(0b11 << 62) | 0b10 << 62))
