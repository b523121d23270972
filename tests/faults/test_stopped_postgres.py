"""PostgreSQL stopped as by a crash, again and again: 503 meanwhile, soon, and each reply is there once."""

import time

import pytest

from tests.faults.desk import FaultyDesk
from tests.faults.report import Report, spread
from tests.faults.retrying import refusals, retrying, wait_for_more
from tests.store.servers import Server
from tests.system.conftest import SECRET_KEY
from tests.system.operators import Operator, until

WRITERS, WRITES_A_SECOND = 8, 100
# An answer is promised within five seconds; a machine that does much else may need more.
ANSWERED_S = 15
MANY = [pytest.mark.stress, pytest.mark.timeout(900)]


@pytest.mark.parametrize(("stops", "every_s"), [(2, 0), pytest.param(12, 10, marks=MANY)])
def test_a_postgresql_that_stops_again_and_again_doubles_and_loses_nothing(
    operator: Operator, server: Server, report: Report, stops: int, every_s: float
) -> None:
    database = f"stopped_{stops}"
    server.execute(f"CREATE DATABASE {database}", database="postgres")
    operator.settings |= {
        "DESKWIRE_DATABASE_URL": server.url(database),
        "DESKWIRE_SECRET_KEY": SECRET_KEY,
    }
    assert operator.run("migrate").code == 0
    desk = FaultyDesk(operator, "--no-delivery")
    back_s = []
    with retrying(desk.client, WRITERS, WRITES_A_SECOND) as writers:
        for _ in range(stops):
            next_at = time.monotonic() + every_s
            wait_for_more(writers)
            before = refusals(writers)[503]
            server.stop_immediately()
            until(lambda seen=before: refusals(writers)[503] > seen, 60)  # type: ignore[misc]
            server.start()
            began_at = time.monotonic()
            wait_for_more(writers)
            back_s.append(time.monotonic() - began_at)
            time.sleep(max(0.0, next_at - time.monotonic()))
    assert refusals(writers).keys() == {503}
    slowest_s = max(each.slowest_s for each in writers)
    assert slowest_s < ANSWERED_S
    written = desk.assert_nothing_lost(writers)
    report(
        fired=stops,
        answers_503=refusals(writers)[503],
        slowest_answer_s=slowest_s,
        acknowledged=written,
        lost=0,
        doubled=0,
        written_again_after=spread(back_s),
    )
