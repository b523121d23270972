"""What `/metrics` tells: requests by route with their latency, and the other parts' counters and gauges."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from deskwire.api.board import Board, read_figures

LATENCY_BOUNDS_S: Final = (
    *(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05),
    *(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
_BUCKET_NAMES: Final = (*map(str, LATENCY_BOUNDS_S), "+Inf")
_REQUEST_CELLS: Final = 1 + len(_BUCKET_NAMES)

Figures = dict[tuple[str, ...], list[float]]


class Counter:
    """A figure that only grows."""

    def __init__(self, cells: "memoryview[float]", at: int) -> None:
        self._cells, self._at = cells, at

    def add(self, amount: float = 1) -> None:
        self._cells[self._at] += amount


@dataclass(frozen=True, slots=True)
class _Gauge:
    help: str
    read: Callable[[], float]
    is_shared: bool


class Metrics(Collector):
    """Of all workers, when there are several: `boards` are then each one's open file, the own at `slot`."""

    def __init__(self, boards: tuple[int, ...] = (), slot: int = 0) -> None:
        self._others = tuple(file for place, file in enumerate(boards) if place != slot)
        self._board = Board(boards[slot] if boards else None)
        self._cells = self._board.cells
        self._requests: dict[tuple[str, str, int], int] = {}
        self._helps: dict[str, str] = {}
        self._gauges: dict[str, _Gauge] = {}
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def count_request(self, method: str, route: str, status: int, duration_s: float) -> None:
        at = self._requests.get((method, route, status))
        if at is None:
            at = self._open_request(method, route, status)
            if at is None:
                return
        cells = self._cells
        cells[at] += duration_s
        cells[at + 1 + bisect_left(LATENCY_BOUNDS_S, duration_s)] += 1.0

    def _open_request(self, method: str, route: str, status: int) -> int | None:
        at = self._board.open(("request", method, route, str(status)), _REQUEST_CELLS)
        if at is not None:
            self._requests[method, route, status] = at
        return at

    def counter(self, name: str, help: str) -> Counter:
        self._helps[name] = help
        at = self._board.open(("counter", name))
        assert at is not None, "counters are made at the start, when there is room"
        return Counter(self._cells, at)

    def gauge(self, name: str, help: str, read: Callable[[], float], *, is_shared: bool = False) -> None:
        """Each worker's values are added up, but for a shared one, which every worker would read alike."""
        self._gauges[name] = _Gauge(help, read, is_shared)
        if not is_shared:
            self._level(name, 0)

    def refresh(self) -> None:
        """Puts the gauges on the board: with several workers, each does so about once a second."""
        for name, gauge in self._gauges.items():
            if not gauge.is_shared:
                self._level(name, gauge.read())

    def _level(self, name: str, value: float) -> None:
        at = self._board.open(("gauge", name))
        if at is not None:
            self._cells[at] = value

    def render(self) -> bytes:
        """Prometheus' text format."""
        self.refresh()
        return generate_latest(self._registry)

    def collect(self) -> Iterable[Metric]:
        figures = _add_up([self._board.figures(), *map(read_figures, self._others)])
        yield _requests_of(figures)
        for name, help in self._helps.items():
            yield CounterMetricFamily(name, help, value=figures["counter", name][0])
        for name, gauge in self._gauges.items():
            value = gauge.read() if gauge.is_shared else figures["gauge", name][0]
            yield GaugeMetricFamily(name, gauge.help, value=value)


def _add_up(boards: list[Iterator[tuple[tuple[str, ...], list[float]]]]) -> Figures:
    total: Figures = {}
    for board in boards:
        for name, cells in board:
            sums = total.get(name)
            total[name] = cells if sums is None else [a + b for a, b in zip(sums, cells, strict=True)]
    return total


def _requests_of(figures: Figures) -> Metric:
    family = HistogramMetricFamily(
        "deskwire_http_request_duration_seconds",
        "Requests by method, route and status, with the time until they were answered.",
        labels=("method", "route", "status"),
    )
    for name, (sum_s, *counts) in figures.items():
        if name[0] == "request":
            buckets = list(zip(_BUCKET_NAMES, accumulate(counts), strict=True))
            family.add_metric(name[1:], buckets, sum_s)
    return family
