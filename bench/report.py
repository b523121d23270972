"""What came out, as a table for people and as JSON for machines."""

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.figures import Goal, Load, Verdict
from bench.mixed import Slice, slice_text


@dataclass(frozen=True)
class Result:
    """One row: a figure, what it is held against, and under load what else was seen."""

    name: str
    what: str
    # With the number of processes that answered, where it is not one.
    engine: str
    figure: float
    goal: Goal
    load: Load | None = None
    floor_requests_per_s: float | None = None
    course: Sequence[Slice] = ()

    @property
    def verdict(self) -> Verdict:
        return self.goal.verdict(self.figure)


@dataclass(frozen=True)
class Circumstances:
    """Where and how it was measured."""

    machine: str
    python: str
    generator: str
    records: str
    rounds: str
    load_average: float

    @classmethod
    def found(cls, generator: str, records: str, rounds: str) -> "Circumstances":
        return cls(
            f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}",
            platform.python_version(),
            generator,
            records,
            rounds,
            round(os.getloadavg()[0], 1),
        )


HEADER = ("what", "engine", "requests/s", "p50 ms", "p99 ms", "measured", "least", "aim", "")
IDLE_LOAD = 0.5
VERDICTS: dict[Verdict, str] = {"aim": "pass, aim met", "pass": "pass", "short": "SHORT"}


def table(results: Sequence[Result], circumstances: Circumstances) -> str:
    """In Markdown, so that it can be read as it is and put into a page."""
    return "\n".join(
        [*notes(circumstances), "", *aligned(HEADER, list(map(cells, results))), *courses(results)]
    )


def aligned(header: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    rows = [header, *cells]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [row_of(row, widths) for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return lines


def courses(results: Sequence[Result]) -> list[str]:
    """How what went on for a while went over time."""
    lines: list[str] = []
    for result in results:
        if result.course:
            lines += ["", f"{result.what}, {result.engine}, over time:", *map(slice_text, result.course)]
    return lines


def as_json(results: Sequence[Result], circumstances: Circumstances) -> str:
    rows = [asdict(each) | {"verdict": each.verdict} for each in results]
    return json.dumps({"circumstances": asdict(circumstances), "results": rows})


def cells(result: Result) -> tuple[str, ...]:
    load, goal = result.load, result.goal
    return (
        result.what,
        result.engine,
        f"{load.requests_per_s:,.0f}" if load else "",
        f"{load.p50_ms:.2f}" if load else "",
        f"{load.p99_ms:.2f}" if load else "",
        f"{figure_text(result.figure)} {goal.unit}",
        figure_text(goal.least),
        "" if goal.aim is None else figure_text(goal.aim),
        VERDICTS[result.verdict],
    )


def figure_text(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 20 else f"{figure:.2f}"


def row_of(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
    return f"| {' | '.join(padded)} |"


def notes(circumstances: Circumstances) -> list[str]:
    lines = [
        f"Machine: {circumstances.machine}; Python {circumstances.python}",
        f"Load from: {circumstances.generator}",
        f"Records: {circumstances.records}",
        f"Rounds: {circumstances.rounds}",
    ]
    if circumstances.load_average > IDLE_LOAD:
        lines.append(
            f"The machine was not idle before this began (load average {circumstances.load_average}): "
            "every figure may be off, ratios too; run this again when it is."
        )
    return lines


def processor() -> str:
    """As the system names it."""
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    if platform.system() == "Darwin":
        named = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True)
        return named.stdout.strip()
    return platform.machine()
