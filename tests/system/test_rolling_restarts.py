"""Two servers on one PostgreSQL behind a load balancer, restarted in turn: no request fails."""

import pytest

from tests.system.balancer import balancing
from tests.system.conftest import Hire
from tests.system.operators import Client
from tests.system.writers import kept_numbers, wait_for_more, with_a_channel, writing

WRITERS = 8


@pytest.mark.parametrize("restarts", [2, pytest.param(20, marks=pytest.mark.stress)])
def test_no_request_fails_while_servers_are_restarted_in_turn(hire: Hire, restarts: int) -> None:
    operator = hire("postgres")
    token = with_a_channel(operator)
    serving = [operator.serve(), operator.serve()]
    with balancing() as balancer:
        balancer.ports = tuple(each.port for each in serving)
        with writing(lambda: Client(balancer.url, token), WRITERS, keeps_connection=False) as writers:
            for _ in range(restarts):
                wait_for_more(writers, 3)
                old = serving.pop(0)
                balancer.ports = tuple(each.port for each in serving)
                assert old.stop() == 0
                serving.append(operator.serve())
                assert serving[-1].get("/readyz").status == 200
                balancer.ports = tuple(each.port for each in serving)
            wait_for_more(writers, 3)
        assert [each.failures for each in writers] == [[]] * WRITERS
        with Client(balancer.url, token) as client:
            kept = kept_numbers(client)
    assert kept == {each.name: list(range(each.acknowledged)) for each in writers}
    assert all(each.stop() == 0 and "Traceback" not in each.log() for each in serving)
