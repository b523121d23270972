"""A worker that is told to stop ends what is under way, gives back the rest, and nothing is sent twice."""

import time

import pytest

from tests.system.deliveries.conftest import OpenDesk
from tests.system.deliveries.desk import Counter, Desk
from tests.system.deliveries.recording import Receiver, Reply
from tests.system.operators import Served

# Longer than a stop takes, and much shorter than a lease.
FAR_LONGER_WAIT = Reply(503, headers="Retry-After: 15\r\n")
SHORTER_THAN_A_LEASE_S = 15


def start(desk: Desk, engine: str) -> tuple[Served, Served]:
    """Who answers, and who delivers."""
    if engine == "sqlite":
        served = desk.operator.serve()
        return served, served
    return desk.operator.serve("--no-delivery"), desk.operator.work()


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_what_is_under_way_arrives_and_what_waits_is_taken_up_at_the_next_start(
    engine: str, open_desk: OpenDesk, receiver: Receiver
) -> None:
    desk = open_desk(engine)
    slow = receiver.hook(f"slow-{engine}", usual=Reply(after_s=2))
    waiting = receiver.hook(f"waiting-{engine}", FAR_LONGER_WAIT)
    served, worker = start(desk, engine)
    with Counter(desk, served) as counter:
        of_slow, of_waiting = counter.webhook(slow), counter.webhook(waiting)
        counter.reply()
        slow.wait_for(1)
        counter.logs(of_waiting, 1)
    assert worker.stop() == 0
    assert slow.answered == 1
    assert served.stop() == 0

    again_at = time.monotonic()
    served, worker = start(desk, engine)
    with Counter(desk, served) as counter:
        _, second = waiting.wait_for(2, SHORTER_THAN_A_LEASE_S)
        assert second.at_s > again_at
        assert [entry["success"] for entry in counter.logs(of_waiting, 2)] == [True, False]
        assert [entry["success"] for entry in counter.logs(of_slow, 1)] == [True]
        counter.reply()
        slow.wait_for(2)
        assert len(set(slow.message_ids)) == 2
    assert {worker.stop(), served.stop()} == {0}
