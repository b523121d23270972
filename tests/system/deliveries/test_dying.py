"""Processes are killed and the database ends under load: every acknowledged write's event arrives."""

import random
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.servers import Server
from tests.system.conftest import SECRET_KEY
from tests.system.deliveries.conftest import OpenDesk
from tests.system.deliveries.desk import Counter, Desk, Load
from tests.system.deliveries.hurried import HURRIED
from tests.system.deliveries.recording import Hook, Receiver, Reply
from tests.system.operators import Operator, Served

KILLS, STRESS_KILLS = 3, 100
LONGEST_LIFE_S = 0.6
# All that is overdue has to be sent on a slow machine; what is lost never comes.
AT_THE_LATEST_S = 60


class Mortals:
    """The processes of a desk: one that does everything, or one that answers and one that delivers."""

    def __init__(self, desk: Desk, engine: str) -> None:
        self._operator = desk.operator
        self._delivers_itself = engine == "sqlite"
        self.served = self._serve()
        self._worker = None if self._delivers_itself else self._operator.work()

    def die(self) -> None:
        """One of them, and another takes its place."""
        if self._worker is not None and random.random() < 0.5:
            self._worker.stop(signal.SIGKILL)
            self._worker = self._operator.work()
        else:
            self.served.stop(signal.SIGKILL)
            self.served = self._serve()

    def stop(self) -> list[int]:
        everybody: list[Served] = [self.served, *([self._worker] if self._worker else [])]
        return [each.stop() for each in everybody]

    def _serve(self) -> Served:
        return self._operator.serve(*(() if self._delivers_itself else ("--no-delivery",)))


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_what_was_acknowledged_before_a_kill_arrives(
    engine: str, open_desk: OpenDesk, receiver: Receiver, pytestconfig: pytest.Config
) -> None:
    desk = open_desk(engine)
    desk.operator.command = HURRIED
    mortals = Mortals(desk, engine)
    hook = receiver.hook(f"killed-{engine}", usual=Reply(after_s=0.01))
    with Counter(desk, mortals.served) as counter:
        counter.webhook(hook, "message.created")
    with Load(desk, lambda: mortals.served) as load:
        for _ in range(STRESS_KILLS if pytestconfig.getoption("--stress") else KILLS):
            before = len(load.acknowledged)
            time.sleep(random.uniform(0.1, LONGEST_LIFE_S))
            mortals.die()
            hook.wait_for(1)
            assert len(load.acknowledged) > before
    hook.wait_for_messages(load.acknowledged, AT_THE_LATEST_S)
    check_seqs(hook)
    assert load.statuses <= {201, 503}
    assert mortals.stop().count(0) == (1 if engine == "sqlite" else 2)
    assert desk.operator.run("check").code == 0


def check_seqs(hook: Hook) -> None:
    """What was written is told of, also where nobody was there any more to hear that it was."""
    seqs: dict[str, set[int]] = {}
    for arrival in hook.arrivals:
        seqs.setdefault(arrival.event["channel"]["id"], set()).add(arrival.event["data"]["seq"])
    assert all(found == set(range(1, max(found) + 1)) for found in seqs.values())


@pytest.fixture
def own_server() -> Iterator[Server]:
    server = Server(Path(tempfile.mkdtemp(prefix="deskwire-")) / "postgres")
    yield server
    server.start()
    server.remove()


def test_a_postgresql_that_crashes_under_load_loses_nothing(
    own_server: Server, receiver: Receiver, tmp_path: Path
) -> None:
    own_server.execute("CREATE DATABASE desk", database="postgres")
    operator = Operator(
        tmp_path,
        DESKWIRE_DATABASE_URL=own_server.url(),
        DESKWIRE_SECRET_KEY=SECRET_KEY,
        DESKWIRE_WEBHOOK_ALLOW=receiver.place,
    )
    operator.command = HURRIED
    try:
        assert operator.run("migrate").code == 0
        desk = Desk(operator)
        served = operator.serve()
        hook = receiver.hook("crashes")
        with Counter(desk, served) as counter:
            counter.webhook(hook, "message.created")
        with Load(desk, lambda: served) as load:
            for _ in range(2):
                hook.wait_for(len(hook.arrivals) + 20)
                own_server.stop_immediately()
                time.sleep(0.5)
                own_server.start()
        hook.wait_for_messages(load.acknowledged, AT_THE_LATEST_S)
        check_seqs(hook)
        assert load.statuses == {201, 503}
        assert served.stop() == 0
        assert "Traceback" not in served.log()
        assert operator.run("check").code == 0
    finally:
        operator.leave()
