"""Two servers on one PostgreSQL behind a load balancer, restarted in turn: no request fails."""

import time

import pytest

from tests.faults.report import Report
from tests.system.balancer import balancing
from tests.system.conftest import Hire
from tests.system.operators import Client, until
from tests.system.writers import kept_numbers, wait_for_more, with_a_channel, writing

WRITERS = 8
MANY = [pytest.mark.stress, pytest.mark.timeout(900)]


@pytest.mark.parametrize("restarts", [2, pytest.param(20, marks=MANY)])
def test_no_request_fails_while_servers_are_restarted_in_turn(
    hire: Hire, report: Report, restarts: int
) -> None:
    operator = hire("postgres")
    token = with_a_channel(operator)
    serving = [operator.serve(), operator.serve()]
    with balancing() as balancer:
        balancer.ports = tuple(each.port for each in serving)
        with writing(lambda: Client(balancer.url, token), WRITERS, keeps_connection=False) as writers:
            began_at = time.monotonic()
            for _ in range(restarts):
                wait_for_more(writers, 3)
                old = serving.pop(0)
                balancer.ports = tuple(each.port for each in serving)
                assert old.stop() == 0
                serving.append(operator.serve())
                until(lambda: serving[-1].get("/readyz").status == 200)
                balancer.ports = tuple(each.port for each in serving)
            wait_for_more(writers, 3)
            lasted_s = time.monotonic() - began_at
        assert [each.failures for each in writers] == [[]] * WRITERS
        with Client(balancer.url, token) as client:
            kept = kept_numbers(client)
    assert kept == {each.name: list(range(each.acknowledged)) for each in writers}
    assert all(each.stop() == 0 and "Traceback" not in each.log() for each in serving)
    checked = operator.run("check")
    assert (checked.code, checked.err) == (0, ""), checked.out
    written = sum(each.acknowledged for each in writers)
    report(fired=restarts, requests=written, a_second=written / lasted_s, failed=0, lost=0)
