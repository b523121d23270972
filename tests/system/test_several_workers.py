"""Several processes behind one port: what the command line changes reaches them all, and one may die."""

import os
import signal
import time
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.system.conftest import Hire
from tests.system.operators import PREFIX, Operator, Served, until

HEARD_WITHIN_S = 2.0
# Connections go to whoever has time; after this many each worker has had its share.
CONNECTIONS = 16


class Running(NamedTuple):
    operator: Operator
    served: Served
    workspace: str

    def statuses(self, token: str) -> set[int]:
        return {self.served.get(f"{PREFIX}/workspace", token).status for _ in range(CONNECTIONS)}

    def assert_refused_soon(self, token: str) -> None:
        deadline_s = time.monotonic() + HEARD_WITHIN_S
        while self.statuses(token) != {401}:
            assert time.monotonic() < deadline_s


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def running(request: pytest.FixtureRequest, hire: Hire) -> Iterator[Running]:
    operator = hire(request.param)
    workspace = operator.new_workspace()
    served = operator.serve("--workers", "2")
    yield Running(operator, served, workspace)
    assert served.stop() == 0


def test_a_token_is_good_rotated_and_revoked_in_every_worker(running: Running) -> None:
    operator = running.operator
    of_it = ("--workspace", running.workspace, "--name", "t", "--all-scopes", "--json")
    first = operator.run("token", "create", *of_it).json
    assert running.statuses(first["token"]) == {200}
    second = operator.run("token", "rotate", first["id"], "--json").json
    assert running.statuses(second["token"]) == {200}
    running.assert_refused_soon(first["token"])
    operator.run("token", "revoke", first["id"])
    running.assert_refused_soon(second["token"])


def test_a_worker_that_is_killed_is_replaced_and_the_other_answers(running: Running) -> None:
    victim = min(running.served.workers())
    os.kill(victim, signal.SIGKILL)
    assert {running.served.get("/healthz").status for _ in range(CONNECTIONS)} == {200}
    until(lambda: len(running.served.workers() - {victim}) == 2)
    assert {running.served.get("/readyz").status for _ in range(CONNECTIONS)} == {200}
    running.served.wait_log("starting another")


def test_the_figures_are_those_of_all_workers(running: Running) -> None:
    for _ in range(CONNECTIONS):
        running.served.get("/docs")

    def counted() -> bool:
        text = running.served.get("/metrics").body.decode()
        count = next(each for each in text.splitlines() if "_count" in each and 'route="/docs"' in each)
        return float(count.split()[-1]) == CONNECTIONS

    until(counted)
