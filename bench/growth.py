"""The same cases on databases of several sizes, side by side: what takes longer when there is more."""

import asyncio
import json
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.cases import CASES, Case, Measure
from bench.databases import Database, Engine, open_database
from bench.figures import Goal, Load, Verdict, ratio, typical
from bench.filled import FilledDesk, get
from bench.filling import fill
from bench.load import Generator, Volley
from bench.records import Size
from bench.report import VERDICTS, Circumstances, aligned, notes
from deskwire.store.clock import system_clock
from deskwire.store.postgres import open_postgres
from deskwire.store.sqlite import SqliteStore

USUAL_SIZES = (Size(10_000), Size(1_000_000))
LARGE = Size(5_000_000)
LONGER = Goal(1.3, 1.1, "times the time")
# Tells of a database that was filled to the end.
FILLED = "filled.json"

# POST a contact and the rest have nothing in them that a reply does not have.
NAMES = (
    *("one-channel", "one-contact", "one-message"),
    *("page-channels", "page-contacts", "page-messages", "deep-page"),
    *("q-selective", "q-common", "search-rare", "search-common", "search-short", "search-korean"),
    "reply",
)
GROWTH_CASES = [case for case in CASES if case.name in NAMES]
HEADER = (
    *("what", "engine", "messages", "requests/s", "p50 ms", "p95 ms", "p99 ms"),
    *("against the smallest", "asked", ""),
)


@dataclass(frozen=True)
class Plan:
    sizes: Sequence[Size]
    engines: Sequence[Engine]
    cases: Sequence[Case]
    rounds: int
    seconds: int


@dataclass(frozen=True)
class Grown:
    """A database of a size, and what it took to fill it."""

    engine: Engine
    messages: int
    token: str
    took_s: float
    size_mb: float


@dataclass(frozen=True)
class Figure:
    """How a case does on one size, and how many times the time of the smallest size it takes."""

    name: str
    what: str
    engine: Engine
    messages: int
    load: Load
    longer: float
    goal: Goal

    @property
    def verdict(self) -> Verdict:
        return self.goal.verdict(self.load.p95_ms if self.goal.unit.startswith("ms") else self.longer)


@dataclass(frozen=True)
class Outcome:
    grown: Sequence[Grown]
    figures: Sequence[Figure]


class Growth:
    """With a folder to keep them in, databases that are there already are not filled again."""

    def __init__(self, plan: Plan, folder: Path, generator: Generator, tell: Callable[[str], None]) -> None:
        self._plan = plan
        self._folder = folder
        self._generator = generator
        self._tell = tell

    def measure(self) -> Outcome:
        grown: list[Grown] = []
        figures: list[Figure] = []
        for engine in self._plan.engines:
            with ExitStack() as open_ones:
                desks: list[FilledDesk] = []
                for size in self._plan.sizes:
                    database, filled = self._open(engine, size, open_ones)
                    grown.append(filled)
                    server = open_ones.enter_context(database.desk.serve())
                    desks.append(FilledDesk(server, filled.token, size))
                    desks[-1].ask(get("/workspace"))
                for case in self._plan.cases:
                    self._tell(f"{case.what}, {engine}")
                    figures += self._measure_case(case, engine, desks)
        return Outcome(grown, figures)

    def _open(self, engine: Engine, size: Size, open_ones: ExitStack) -> tuple[Database, Grown]:
        place = self._folder / str(size.messages)
        told = place / f"{engine}-{FILLED}"
        if not told.exists():
            shutil.rmtree(place / engine, ignore_errors=True)
        database = open_ones.enter_context(open_database(engine, place, keep=True))
        if not told.exists():
            self._tell(f"filling {engine} with {size}")
            filled = fill_database(database, size)
            told.write_text(json.dumps(asdict(filled)))
        filled = Grown(**json.loads(told.read_text()))
        self._tell(filled_text(filled))
        return database, filled

    def _measure_case(self, case: Case, engine: Engine, desks: Sequence[FilledDesk]) -> list[Figure]:
        """Round after round each size in turn, so that a slow moment meets all of them."""
        asked = [[request.raw(desk.token) for request in case.requests(desk)] for desk in desks]
        loads: list[list[Load]] = [[] for _ in desks]
        for desk, requests in zip(desks, asked, strict=True):
            # What a cache takes up at first is the same work for every size, but not the same part of it.
            self._generator.drive(desk.server.port, Volley(requests, case.connections, 1))
        for _ in range(self._plan.rounds):
            for place, desk in enumerate(desks):
                volley = Volley(asked[place], case.connections, self._plan.seconds)
                loads[place].append(self._generator.drive(desk.server.port, volley))
        goal = case.goal if case.measure is Measure.P95 else LONGER
        return [
            Figure(
                *(case.name, case.what, engine, desk.size.messages),
                *(typical(seen), 1 / ratio(seen, loads[0]), goal),
            )
            for desk, seen in zip(desks, loads, strict=True)
        ]


def fill_database(database: Database, size: Size) -> Grown:
    workspace, token = database.desk.make_workspace()
    began_s = time.perf_counter()
    asyncio.run(fill_through_store(database, workspace, size))
    database.settle()
    took_s = time.perf_counter() - began_s
    return Grown(database.engine, size.messages, token, took_s, database.size_mb())


async def fill_through_store(database: Database, workspace_id: str, size: Size) -> None:
    if database.url is None:
        store = SqliteStore(database.folder / "deskwire.db", system_clock)
    else:
        store = await open_postgres(database.url, system_clock)  # type: ignore[assignment]
    try:
        await fill(store, workspace_id, size)
    finally:
        await store.close()


def growth_table(outcome: Outcome, circumstances: Circumstances) -> str:
    filled = [f"Filled: {filled_text(grown)}" for grown in outcome.grown]
    return "\n".join(
        [*notes(circumstances), *filled, "", *aligned(HEADER, list(map(cells, outcome.figures)))]
    )


def growth_json(outcome: Outcome, circumstances: Circumstances) -> str:
    filled = [
        {"engine": one.engine, "messages": one.messages, "took_s": one.took_s, "size_mb": one.size_mb}
        for one in outcome.grown
    ]
    figures = [asdict(one) | {"verdict": one.verdict} for one in outcome.figures]
    return json.dumps({"circumstances": asdict(circumstances), "filled": filled, "figures": figures})


def filled_text(grown: Grown) -> str:
    return (
        f"{grown.engine} with {grown.messages:,} messages in {grown.took_s:,.0f} s "
        f"({grown.messages / grown.took_s:,.0f} messages/s), {grown.size_mb:,.0f} MB"
    )


def cells(figure: Figure) -> tuple[str, ...]:
    load, goal = figure.load, figure.goal
    return (
        figure.what,
        figure.engine,
        f"{figure.messages:,}",
        f"{load.requests_per_s:,.0f}",
        *(f"{ms:.2f}" for ms in (load.p50_ms, load.p95_ms, load.p99_ms)),
        f"{figure.longer:.2f}",
        f"{goal.least:g}, aim {goal.aim:g} {goal.unit}",
        VERDICTS[figure.verdict],
    )
