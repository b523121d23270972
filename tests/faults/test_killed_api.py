"""The API killed over and over while clients write: nothing acknowledged is lost, and it is back soon."""

import random
import time

import pytest

from tests.engines import ENGINES
from tests.faults.arrivals import Arrivals
from tests.faults.desk import FaultyDesk
from tests.faults.report import Report, spread
from tests.faults.retrying import refusals, retrying, wait_for_more
from tests.system.conftest import Hire

WRITERS = 8
WRITES_A_SECOND = 200
# Three seconds are promised; a machine that does much else at once may take longer.
BACK_S = 15
MANY = [pytest.mark.stress, pytest.mark.timeout(1_200)]


@pytest.mark.parametrize("engine", ENGINES[:2])
@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=MANY)])
def test_a_killed_api_loses_nothing_and_is_back_soon(
    hire: Hire, engine: str, kills: int, report: Report
) -> None:
    desk = FaultyDesk(hire(engine), "--no-delivery")
    back_s, written_s = [], 0.0
    with retrying(desk.client, WRITERS, WRITES_A_SECOND) as writers:
        for _ in range(kills):
            began_at, before = time.monotonic(), sum(refusals(writers).values())
            wait_for_more(writers)
            time.sleep(random.uniform(0, 0.2))
            desk.kill()
            written_s += time.monotonic() - began_at
            back_s.append(desk.restart_s())
            assert sum(refusals(writers).values()) > before
        wait_for_more(writers)
    assert max(back_s) < BACK_S
    written = desk.assert_nothing_lost(writers)
    report(
        fired=kills,
        acknowledged=written,
        a_second=written / written_s,
        lost=0,
        requests_cut=refusals(writers)[0],
        ready_again=spread(back_s),
    )


@pytest.mark.stress
@pytest.mark.timeout(900)
def test_what_a_killed_process_had_to_deliver_arrives(hire: Hire, arrivals: Arrivals, report: Report) -> None:
    operator = hire("sqlite")
    operator.settings |= arrivals.settings
    desk = FaultyDesk(operator)
    with desk.client() as client:
        arrivals.subscribe(client)
    kills = 20
    with retrying(desk.client, WRITERS, WRITES_A_SECOND / 4) as writers:
        for _ in range(kills):
            wait_for_more(writers)
            desk.kill()
            desk.restart_s()
        wait_for_more(writers)
    began_at = time.monotonic()
    desk.wait_for_deliveries(arrivals, writers)
    waited_s = time.monotonic() - began_at
    again = sum(arrivals.taken.values()) - len(arrivals.taken)
    written = desk.assert_nothing_lost(writers)
    report(fired=kills, events=written, lost=0, delivered_again=again, all_arrived_after=waited_s)
