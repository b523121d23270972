"""A disk that is full: writes are refused soon, reads go on, and with space all goes on, deliveries too."""

import time
from pathlib import Path

import pytest

from tests.faults.arrivals import REFUSED, TAKEN, Arrivals
from tests.faults.desk import FaultyDesk
from tests.faults.report import Report, spread
from tests.faults.retrying import refusals, retrying, wait_for_more
from tests.store.places import fill, filled, mounted
from tests.system.conftest import Hire
from tests.system.operators import PREFIX, until

WRITERS, WRITES_A_SECOND = 4, 100
DISK = "32m"
READS = 20
# A refusal is promised within a second, recovery within five; a machine with much else to do takes longer.
REFUSED_S, READ_S, BACK_S = 10, 10, 20
MANY = [pytest.mark.stress, pytest.mark.timeout(900)]


@pytest.mark.parametrize("times", [1, pytest.param(20, marks=MANY)])
def test_a_full_disk_refuses_writes_and_costs_nothing_else(
    hire: Hire, tmp_path: Path, arrivals: Arrivals, report: Report, times: int
) -> None:
    operator = hire("sqlite")
    operator.settings |= arrivals.settings
    with mounted(tmp_path / "disk", DISK) as disk:
        operator.settings["DESKWIRE_DATA_DIR"] = str(disk)
        desk = FaultyDesk(operator)
        with desk.client() as client:
            arrivals.subscribe(client)
        back_s, read_s = [], [0.0]
        with retrying(desk.client, WRITERS, WRITES_A_SECOND) as writers:
            for _ in range(times):
                # What is refused now waits to be sent again through the fault.
                arrivals.status = REFUSED
                wait_for_more(writers, 3)
                before = refusals(writers)[503]
                with filled(disk):
                    arrivals.status = TAKEN
                    until(lambda: is_refused(desk, disk), 60)
                    read_s += [seconds_of_a_read(desk) for _ in range(READS)]
                    assert desk.served.get("/healthz").status == 200
                assert refusals(writers)[503] > before
                began_at = time.monotonic()
                wait_for_more(writers)
                back_s.append(time.monotonic() - began_at)
        desk.wait_for_deliveries(arrivals, writers)
        assert set(refusals(writers)) == {503}
        slowest_s = max(each.slowest_s for each in writers)
        written = desk.assert_nothing_lost(writers)
    assert slowest_s < REFUSED_S and max(read_s) < READ_S and max(back_s) < BACK_S
    report(
        fired=times,
        writes_refused=refusals(writers)[503],
        slowest_answer_s=slowest_s,
        slowest_read_s=max(read_s),
        written_again_after=spread(back_s),
        acknowledged=written,
        lost=0,
        delivered=len(arrivals.taken),
        delivered_again=sum(arrivals.taken.values()) - len(arrivals.taken),
    )


def is_refused(desk: FaultyDesk, disk: Path) -> bool:
    """What the program itself gives free is taken as well."""
    fill(disk)
    with desk.client() as client:
        return client.post("/contacts", {"name": "Kim"}).status == 503


def seconds_of_a_read(desk: FaultyDesk) -> float:
    began_at = time.monotonic()
    for path in ("/workspace", "/channels", "/contacts", "/search?q=r0"):
        assert desk.served.get(PREFIX + path, desk.token).status == 200
    return time.monotonic() - began_at
