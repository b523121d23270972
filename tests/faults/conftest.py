"""What the tests of faults share: desks on both engines, a receiver of webhooks, and a report at the end."""

from collections.abc import Iterator

import pytest

from tests.faults.arrivals import Arrivals, receiving
from tests.faults.report import Report
from tests.store.servers import server
from tests.system.conftest import hire, operator

__all__ = ["hire", "operator", "server"]

LINES = pytest.StashKey[list[str]]()


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Report:
    """Its lines stand at the end of the run, before pytest's own summary."""
    return Report(request.node.nodeid, request.config.stash.setdefault(LINES, []))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    lines = config.stash.get(LINES, [])
    if lines:
        terminalreporter.section("faults")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture
def arrivals() -> Iterator[Arrivals]:
    with receiving() as arrivals:
        yield arrivals
