"""Figures of one worker and of several."""

import contextlib
import os
import tempfile
from collections.abc import Iterator

import pytest

from deskwire.api.board import CELLS
from deskwire.api.metrics import Metrics

REQUEST = "deskwire_http_request_duration_seconds"
LABELS = 'method="GET",route="/channels/{id}",status="200"'


def _values(metrics: Metrics) -> dict[str, float]:
    lines = [line for line in metrics.render().decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


@pytest.fixture
def boards() -> Iterator[tuple[int, ...]]:
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        yield tuple(file.fileno() for file in files)


def test_requests_are_counted_with_their_latency() -> None:
    metrics = Metrics()
    for duration_s in (0.0005, 0.0006, 3.0, 99.0):
        metrics.count_request("GET", "/channels/{id}", 200, duration_s)
    values = _values(metrics)
    assert values[f"{REQUEST}_count{{{LABELS}}}"] == 4
    assert values[f"{REQUEST}_sum{{{LABELS}}}"] == pytest.approx(102.0011)
    buckets = {
        bound: values[f'{REQUEST}_bucket{{le="{bound}",{LABELS}}}']
        for bound in ("0.0005", "0.001", "5.0", "+Inf")
    }
    assert buckets == {"0.0005": 1, "0.001": 2, "5.0": 3, "+Inf": 4}


def test_counters_and_gauges_of_others_are_told() -> None:
    metrics = Metrics()
    groups = metrics.counter("deskwire_commit_groups", "Groups of writes committed together.")
    groups.add()
    groups.add(2)
    metrics.gauge("deskwire_pool_connections", "Connections in use.", lambda: 7)
    assert _values(metrics) == {"deskwire_commit_groups_total": 3, "deskwire_pool_connections": 7}
    assert b"# HELP deskwire_commit_groups_total Groups of writes committed together." in metrics.render()


def test_any_worker_tells_the_sum_of_all(boards: tuple[int, ...]) -> None:
    first, second = Metrics(boards, 0), Metrics(boards, 1)
    for metrics, connections in ((first, 2), (second, 3)):
        metrics.counter("deskwire_writes", "Writes.").add(connections)
        metrics.gauge("deskwire_connections", "Open connections.", lambda n=connections: n)  # type: ignore[misc]
        metrics.gauge("deskwire_queue", "Waiting deliveries.", lambda: 50, is_shared=True)
        metrics.refresh()
    first.count_request("GET", "/channels/{id}", 200, 0.1)
    second.count_request("GET", "/channels/{id}", 200, 0.1)
    second.count_request("GET", "/hours", 200, 0.1)
    for metrics in (first, second):
        values = _values(metrics)
        assert values[f"{REQUEST}_count{{{LABELS}}}"] == 2
        assert values[f'{REQUEST}_count{{method="GET",route="/hours",status="200"}}'] == 1
        assert values["deskwire_writes_total"] == 5
        assert values["deskwire_connections"] == 5
        assert values["deskwire_queue"] == 50


def test_a_replaced_worker_goes_on_counting_and_its_gauges_begin_anew(boards: tuple[int, ...]) -> None:
    dead = Metrics(boards, 0)
    dead.count_request("GET", "/channels/{id}", 200, 0.1)
    dead.gauge("deskwire_connections", "Open connections.", lambda: 9)
    dead.refresh()
    replaced, other = Metrics(boards, 0), Metrics(boards, 1)
    for metrics in (replaced, other):
        metrics.gauge("deskwire_connections", "Open connections.", lambda: 0)
    replaced.count_request("GET", "/channels/{id}", 200, 0.1)
    values = _values(other)
    assert values[f"{REQUEST}_count{{{LABELS}}}"] == 2
    assert values["deskwire_connections"] == 0


def test_a_board_is_seen_by_another_process(boards: tuple[int, ...]) -> None:
    child = os.fork()
    if child == 0:
        Metrics(boards, 1).count_request("GET", "/channels/{id}", 200, 0.1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert _values(Metrics(boards, 0))[f"{REQUEST}_count{{{LABELS}}}"] == 1


def test_a_full_board_counts_what_it_knows_and_fails_nobody() -> None:
    metrics = Metrics()
    for number in range(CELLS):
        metrics.count_request("GET", f"/{number}", 200, 0.1)
    metrics.count_request("GET", "/0", 200, 0.1)
    values = _values(metrics)
    assert values[f'{REQUEST}_count{{method="GET",route="/0",status="200"}}'] == 2
