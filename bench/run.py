"""A whole run: fills a database of each engine, starts the servers, measures them side by side."""

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bench.cases import Case, Measure
from bench.databases import Database, Engine, open_database
from bench.deliveries import Amounts, Deliveries, figures
from bench.figures import Goal, Load, ratio, typical
from bench.filled import FilledDesk, get
from bench.load import Generator, Request, Volley
from bench.mixed import drive_mixed
from bench.programs import serve_floor
from bench.records import Size, channel_id, write_records
from bench.report import Result

IMPORT = Goal(15_000, 40_000, "records/s", more_is_better=True)
START = Goal(1.5, 0.8, "s")
IDLE, LOADED, IMPORTING = Goal(120, None, "MB"), Goal(250, None, "MB"), Goal(300, None, "MB")
SAMPLES = 21

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    size: Size
    engines: Sequence[Engine]
    cases: Sequence[Case]
    # Of what is measured of webhooks.
    deliveries: Sequence[str]
    amounts: Amounts
    rounds: int
    seconds: int
    # How long the mixed load lasts, or 0 to leave it out.
    mixed_s: int


@dataclass
class Filled:
    """A database with its records in it, and what became known while it was used."""

    database: Database
    token: str
    memory_mb: float = 0.0


@dataclass(frozen=True)
class Target:
    """A server of so many processes on a filled database."""

    filled: Filled
    desk: FilledDesk
    processes: int

    @property
    def label(self) -> str:
        engine = self.filled.database.engine
        return engine if self.processes == 1 else f"{engine}, {self.processes} processes"

    def look_at_memory(self) -> None:
        if self.processes == 1:
            self.filled.memory_mb = max(self.filled.memory_mb, self.desk.server.memory_mb())


class Run:
    def __init__(self, plan: Plan, folder: Path, generator: Generator, tell: Tell) -> None:
        self._plan = plan
        self._folder = folder
        self._generator = generator
        self._tell = tell
        self._results: list[Result] = []

    def measure(self) -> list[Result]:
        self._tell("writing records")
        records = self._folder / "records.ndjson"
        count = write_records(records, self._plan.size)
        with ExitStack() as databases:
            filled: list[Filled] = []
            for engine in self._plan.engines:
                database = databases.enter_context(open_database(engine, self._folder))
                filled.append(self._fill(database, records, count))
                self._time_start(filled[-1])
            if self._plan.cases or self._plan.mixed_s:
                self._measure_cases(filled)
            for name in self._plan.deliveries:
                self._tell(name)
                for each in filled:
                    self._measure_deliveries(each, name)
        return self._results

    def _fill(self, database: Database, records: Path, count: int) -> Filled:
        self._tell(f"importing {count:,} records into {database.engine}")
        desk = database.desk
        workspace, token = desk.make_workspace()
        imported = desk.run("import", str(records), "--workspace", workspace, "--json")
        database.settle()
        filled = Filled(database, token)
        self._note("import", "import", filled, count / imported.took_s, IMPORT)
        self._note("memory-import", "memory while importing", filled, imported.memory_mb, IMPORTING)
        return filled

    def _time_start(self, filled: Filled) -> None:
        request = get(f"/channels/{channel_id(0, self._plan.size)}")
        took_s = []
        for _ in range(self._plan.rounds):
            began_s = time.perf_counter()
            with filled.database.desk.serve() as server:
                FilledDesk(server, filled.token, self._plan.size).ask(request)
                took_s.append(time.perf_counter() - began_s)
        self._note("start", "start to first answer", filled, statistics.median(took_s), START)

    def _serve(self, filled: Filled, servers: ExitStack, processes: int = 1) -> Target:
        server = servers.enter_context(filled.database.desk.serve("--workers", str(processes)))
        desk = FilledDesk(server, filled.token, self._plan.size)
        desk.ask(get("/workspace"))
        target = Target(filled, desk, processes)
        if processes == 1:
            self._note("memory-idle", "memory idle", filled, server.memory_mb(), IDLE)
        return target

    def _measure_cases(self, filled: Sequence[Filled]) -> None:
        with ExitStack() as servers:
            targets = [self._serve(each, servers) for each in filled]
            for each in filled:
                if each.database.engine == "postgresql" and any(case.several for case in self._plan.cases):
                    targets.append(self._serve(each, servers, processes=2))
            for case in self._plan.cases:
                self._tell(case.what)
                self._measure_case(case, [one for one in targets if case.several or one.processes == 1])
            for each in filled:
                self._note("memory-load", "memory under load", each, each.memory_mb, LOADED)
            for target in targets:
                if self._plan.mixed_s and target.processes == 1:
                    self._mix(target)

    def _measure_deliveries(self, filled: Filled, name: str) -> None:
        amounts = self._plan.amounts
        deliveries = Deliveries(filled.database.desk, filled.token, self._plan.size, amounts)
        for row, what, figure, goal in figures(deliveries, name, amounts):
            self._note(row, what, filled, figure, goal)

    def _measure_case(self, case: Case, targets: Sequence[Target]) -> None:
        """Round after round the floor and each engine in turn, so that a slow moment meets all of them."""
        asked = [case.requests(target.desk) for target in targets]
        floor_loads: list[Load] = []
        loads: list[list[Load]] = [[] for _ in targets]
        with ExitStack() as floors:
            has_floor = case.measure is Measure.RATIO
            # What is compared with nothing else in the run needs fewer rounds.
            rounds = self._plan.rounds if has_floor else (self._plan.rounds + 1) // 2
            if has_floor:
                floor = floors.enter_context(serve_floor(usual_answer(targets[0].desk, asked[0])))
            for _ in range(rounds):
                if has_floor:
                    floor_loads.append(self._drive(floor.port, case, asked[0], targets[0].desk))
                for place, target in enumerate(targets):
                    loads[place].append(self._drive(target.desk.server.port, case, asked[place], target.desk))
                    target.look_at_memory()
                    target.filled.database.desk.forget_log()
        for place, target in enumerate(targets):
            self._note_case(case, target, loads[place], floor_loads)

    def _mix(self, target: Target) -> None:
        """All kinds of requests at once for a while; afterwards everything that is derived must be right."""
        desk = target.filled.database.desk
        self._tell(f"mixed load, {target.label}")
        course = drive_mixed(target.desk, self._generator, self._plan.mixed_s, self._tell)
        load = typical([slice.load for slice in course])
        memory_mb = max(slice.memory_mb for slice in course)
        self._results.append(
            Result("mixed", "mixed load, memory", target.label, memory_mb, LOADED, load, course=course)
        )
        desk.forget_log()
        self._tell(f"checking {target.label}")
        desk.run("check")

    def _drive(self, port: int, case: Case, requests: Sequence[Request], desk: FilledDesk) -> Load:
        raw = [request.raw(desk.token) for request in requests]
        return self._generator.drive(port, Volley(raw, case.connections, self._plan.seconds))

    def _note_case(self, case: Case, target: Target, loads: Sequence[Load], floor: Sequence[Load]) -> None:
        load = typical(loads)
        figure = load.p95_ms if case.measure is Measure.P95 else ratio(loads, floor)
        floor_requests_per_s = typical(floor).requests_per_s if floor else None
        self._results.append(
            Result(case.name, case.what, target.label, figure, case.goal, load, floor_requests_per_s)
        )

    def _note(self, name: str, what: str, filled: Filled, figure: float, goal: Goal) -> None:
        self._results.append(Result(name, what, filled.database.engine, figure, goal))


def usual_answer(desk: FilledDesk, requests: Sequence[Request]) -> bytes:
    """The body of middle length among some of the answers, for the floor to answer."""
    some = requests[:: max(1, len(requests) // SAMPLES)]
    bodies = sorted((desk.ask(request) for request in some), key=len)
    return bodies[len(bodies) // 2]
