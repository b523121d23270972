"""What is measured, and how it compares with what is asked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

Verdict = Literal["aim", "pass", "short", ""]


@dataclass(frozen=True)
class Load:
    """What a load generator saw of a server."""

    requests_per_s: float
    p50_ms: float
    p95_ms: float
    p99_ms: float


@dataclass(frozen=True)
class Goal:
    """The least that the design asks of a figure, and its aim, where it has one."""

    least: float
    aim: float | None
    unit: str
    more_is_better: bool = False

    def verdict(self, figure: float) -> Verdict:
        if self.aim is not None and self._reaches(figure, self.aim):
            return "aim"
        return "pass" if self._reaches(figure, self.least) else "short"

    def _reaches(self, figure: float, mark: float) -> bool:
        return figure >= mark if self.more_is_better else figure <= mark


def percentile(sorted_values: Sequence[float], percent: float) -> float:
    """The smallest value that so many per cent of the values do not exceed."""
    if not sorted_values:
        raise ValueError("there is no percentile of nothing")
    return sorted_values[max(0, math.ceil(len(sorted_values) * percent / 100) - 1)]


def typical(loads: Sequence[Load]) -> Load:
    """The median of each figure over several rounds."""
    return Load(
        median(each.requests_per_s for each in loads),
        median(each.p50_ms for each in loads),
        median(each.p95_ms for each in loads),
        median(each.p99_ms for each in loads),
    )


def ratio(case: Sequence[Load], floor: Sequence[Load]) -> float:
    return typical(case).requests_per_s / typical(floor).requests_per_s
