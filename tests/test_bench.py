"""The benchmark measures what it says: its records are good, its figures are right, its generators count."""

import http.server
import json
import threading
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.cases import CASES, Measure, spread
from bench.figures import Goal, Load, percentile, ratio, typical
from bench.filling import fill
from bench.growth import LONGER, Figure, Grown, Outcome, growth_table
from bench.load import Bundled, Generator, LoadFailed, Request, Volley, Wrk, find_generator, lua
from bench.mixed import Slice
from bench.programs import serve_floor
from bench.records import LONG_MESSAGES, TAGS, Size, channel_of, records, write_records
from bench.report import Circumstances, Result, as_json, table
from deskwire.desk.checking import check
from deskwire.desk.exporting import count_records
from deskwire.desk.importing import ImportReport, import_file
from deskwire.desk.workspaces import create_workspace
from deskwire.store.attachments import open_files
from tests.engines import AnyStore, Run

SMALL = Size(1_000)
# The owner.
OWN_RECORDS = 1
HERE = Circumstances("a machine", "3.11", "wrk", str(SMALL), "1 of 1 s each", 0.0)
MORE = Goal(0.35, 0.5, "of the floor", more_is_better=True)
LESS = Goal(50, 20, "ms for 95 %")


def load(requests_per_s: float, p50_ms: float = 1.0) -> Load:
    return Load(requests_per_s, p50_ms, 2.0, 3.0)


def test_the_records_are_imported_without_a_bad_line(store: AnyStore, run: Run, tmp_path: Path) -> None:
    written = write_records(tmp_path / "records.ndjson", SMALL)

    async def import_them() -> ImportReport:
        new = await store.write(lambda tx: create_workspace(tx, "Bench", "owner@example.test"))
        files = open_files(str(tmp_path / "attachments"))
        path = tmp_path / "records.ndjson"
        return await import_file(
            store, files, new.workspace_id, path, check_only=False, progress=lambda *_: None
        )

    report = run(import_them())
    assert not report.bad_lines
    assert sum(report.records.values()) == written
    assert report.records["message"] == 1_000


def test_a_database_that_is_filled_directly_is_as_an_import_leaves_it(store: AnyStore, run: Run) -> None:
    async def fill_it() -> tuple[list[str], int]:
        new = await store.write(lambda tx: create_workspace(tx, "Bench", "owner@example.test"))
        await fill(store, new.workspace_id, SMALL)
        async with store.snapshot() as tx:
            count = await count_records(tx, new.workspace_id)
        return [line async for line in check(store, lambda *_: None)], count

    wrong, count = run(fill_it())
    assert wrong == []
    assert count == sum(1 for _ in records(SMALL)) + OWN_RECORDS + 2 * len(TAGS)


def test_the_records_of_a_size_are_always_the_same() -> None:
    assert list(records(SMALL)) == list(records(SMALL))


@pytest.mark.parametrize("messages", [1_000, 10_000, 100_000])
def test_a_long_channel_fills_a_page(messages: int) -> None:
    size = Size(messages)
    counts = dict.fromkeys(range(size.channels), 0)
    for number in range(messages):
        counts[channel_of(number, size)] += 1
    assert min(counts[number] for number in size.long_channels) >= LONG_MESSAGES


def test_a_spread_reaches_over_everything_without_repeating() -> None:
    numbers = spread(range(100_000))
    assert 5_000 <= len(numbers) <= 20_000
    assert numbers[0] == 0
    assert numbers[-1] > 99_900


def test_a_percentile_is_a_value_that_was_seen() -> None:
    values = [float(value) for value in range(1, 101)]
    assert [percentile(values, percent) for percent in (0, 50, 95, 99, 100)] == [1, 50, 95, 99, 100]
    assert percentile([7.0], 99) == 7
    with pytest.raises(ValueError, match="nothing"):
        percentile([], 50)


def test_one_bad_round_changes_neither_the_typical_figures_nor_the_ratio() -> None:
    case = [load(500), load(10, p50_ms=90), load(510)]
    floor = [load(1_000), load(1_010), load(30)]
    assert typical(case) == load(500)
    assert ratio(case, floor) == 0.5


@pytest.mark.parametrize(
    ("goal", "figure", "verdict"),
    [
        *((MORE, 0.5, "aim"), (MORE, 0.49, "pass"), (MORE, 0.34, "short")),
        *((LESS, 20, "aim"), (LESS, 50, "pass"), (LESS, 51, "short")),
        (Goal(120, None, "MB"), 1, "pass"),
    ],
)
def test_a_figure_is_held_against_its_goal(goal: Goal, figure: float, verdict: str) -> None:
    assert goal.verdict(figure) == verdict


def test_the_table_is_aligned_and_shows_what_falls_short() -> None:
    results = [
        Result("one-channel", "GET one channel", "sqlite", 0.3, MORE, load(12_345.6)),
        Result("start", "start to first answer", "postgresql", 1.25, Goal(1.5, 0.8, "s")),
    ]
    lines = [line for line in table(results, HERE).splitlines() if line.startswith("|")]
    assert len({len(line) for line in lines}) == 1
    channel, start = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:])
    assert channel == [
        *("GET one channel", "sqlite", "12,346", "1.00", "3.00", "0.30 of the floor", "0.35", "0.50", "SHORT")
    ]
    assert start == ["start to first answer", "postgresql", "", "", "", "1.25 s", "1.50", "0.80", "pass"]


def test_machines_get_every_figure() -> None:
    results = [Result("one-channel", "GET one channel", "sqlite", 0.3, MORE, load(12_345.6))]
    (row,) = json.loads(as_json(results, HERE))["results"]
    assert (row["figure"], row["verdict"], row["load"]["requests_per_s"]) == (0.3, "short", 12_345.6)


def test_every_case_has_a_name_of_its_own_and_a_goal_in_its_measure() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    assert all(case.goal.more_is_better is (case.measure is Measure.RATIO) for case in CASES)


def test_a_case_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--only", "one-channel", "--only", "all-of-it"])
    assert ended.value.code == 2
    assert "there is no case all-of-it" in capsys.readouterr().err


def test_a_script_holds_the_bytes_of_a_request_as_they_are() -> None:
    assert '"GET \\013\\010\\034\\092\\237"' in lua([b'GET \r\n"\\\xed'])


@pytest.fixture(params=["bundled", "wrk"])
def generator(request: pytest.FixtureRequest, tmp_path: Path) -> Generator:
    if request.param == "bundled":
        return Bundled()
    found = find_generator(tmp_path)
    if not isinstance(found, Wrk):
        pytest.skip("wrk is not installed")
    return found


def test_a_generator_counts_what_the_floor_answers(generator: Generator) -> None:
    with serve_floor(b'{"success":true}') as server:
        seen = generator.drive(server.port, volley(2))
    assert seen.requests_per_s > 100
    assert 0 < seen.p50_ms <= seen.p95_ms <= seen.p99_ms < 1_000


def test_a_generator_does_not_count_refusals_as_answers(generator: Generator) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            with pytest.raises(LoadFailed, match="requests failed"):
                generator.drive(server.server_port, volley(2))
        finally:
            server.shutdown()


class Refusing(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


def volley(connections: int) -> Volley:
    requests = [Request(f"/{number}").raw("a token") for number in range(3)]
    return Volley(requests, connections, duration_s=1)


def test_growth_tells_how_many_times_longer_more_takes() -> None:
    grown = [Grown("sqlite", 10_000, "t", 2.0, 26.4), Grown("sqlite", 1_000_000, "t", 100.0, 2_236.0)]
    figures = [
        Figure("one-message", "GET one message", "sqlite", 10_000, load(1_000), 1.0, LONGER),
        Figure("one-message", "GET one message", "sqlite", 1_000_000, load(500), 2.0, LONGER),
    ]
    lines = growth_table(Outcome(grown, figures), HERE).splitlines()
    assert "Filled: sqlite with 1,000,000 messages in 100 s (10,000 messages/s), 2,236 MB" in lines
    assert "2.00" in lines[-1] and "SHORT" in lines[-1] and "aim met" in lines[-2]


def test_what_goes_on_for_a_while_is_shown_over_time() -> None:
    course = [Slice(5, load(1_000), 100.0), Slice(10, load(900), 101.0)]
    mixed = Result("mixed", "mixed load, memory", "sqlite", 101.0, Goal(250, None, "MB"), course=course)
    shown = table([mixed], HERE).splitlines()[-3:]
    assert shown[0] == "mixed load, memory, sqlite, over time:"
    assert shown[2].split()[:3] == ["10", "s:", "900"]
