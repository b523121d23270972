"""256 MiB for the whole process, and the largest bodies from many clients: refused at worst, never killed."""

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from uuid import uuid4

import pytest

from deskwire.model.limits import MAX_BODY_BYTES
from tests.faults.desk import FaultyDesk
from tests.faults.report import Report
from tests.system.conftest import Hire
from tests.system.operators import COMMAND, PREFIX, until

MEMORY_BYTES = 256 * 1024 * 1024
GROUPS = Path("/sys/fs/cgroup")
NAME = "Large"
CONTACT = json.dumps({"name": NAME}).encode()
MANY = [pytest.mark.stress, pytest.mark.timeout(900)]


class MemoryGroup:
    """A control group, of either version; whoever is started by `command` is in it from the start."""

    def __init__(self, folder: Path, limit: str, peak: str) -> None:
        self.folder = folder
        self._limit, self._peak = limit, peak
        folder.mkdir()
        (folder / limit).write_text(str(MEMORY_BYTES))

    @property
    def command(self) -> tuple[str, ...]:
        return ("sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(self.folder), *COMMAND)

    @property
    def peak_mib(self) -> float:
        return int((self.folder / self._peak).read_text()) / 1024 / 1024

    def kills(self) -> int:
        events = self.folder / "memory.events"
        told = (events if events.exists() else self.folder / "memory.oom_control").read_text()
        return int(told.partition("oom_kill ")[2].split()[0])


@pytest.fixture
def memory_group() -> Iterator[MemoryGroup]:
    name = f"deskwire-{uuid4().hex}"
    try:
        if (GROUPS / "memory").is_dir():
            group = MemoryGroup(
                GROUPS / "memory" / name, "memory.limit_in_bytes", "memory.max_usage_in_bytes"
            )
        else:
            group = MemoryGroup(GROUPS / name, "memory.max", "memory.peak")
    except OSError as error:
        pytest.skip(f"no control group for memory can be made here: {error}")
    yield group
    until(lambda: not (group.folder / "cgroup.procs").read_text())
    group.folder.rmdir()


class Sender:
    """A client that sends bodies of the greatest size, and holds back the end of each until it may go on."""

    def __init__(self, desk: FaultyDesk, body_bytes: int) -> None:
        self._desk = desk
        # Blanks before a document mean nothing, so that the largest body is a good one.
        self._body = CONTACT.rjust(body_bytes)

    def send(self, sent: threading.Barrier, goes_on: threading.Event) -> int:
        """The status of the answer."""
        head = (
            f"POST {PREFIX}/contacts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {self._desk.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(self._body)}\r\n"
            "Connection: close\r\n\r\n"
        )
        with closing(socket.create_connection(("127.0.0.1", self._desk.served.port), 60)) as connection:
            # Whoever is refused early may be closed before all is sent; the answer is there all the same.
            with suppress(ConnectionError):
                connection.sendall(head.encode() + self._body[:-1])
            sent.wait(60)
            goes_on.wait(60)
            with suppress(ConnectionError):
                connection.sendall(self._body[-1:])
            return int(connection.makefile("rb").readline().split()[1])


def send_at_once(desk: FaultyDesk, clients: int) -> Counter[int]:
    """All that is held back arrives when the server has taken as much as it takes."""
    sent, goes_on = threading.Barrier(clients + 1), threading.Event()
    senders = [Sender(desk, MAX_BODY_BYTES + (number % 10 == 0)) for number in range(clients)]
    with ThreadPoolExecutor(clients) as pool:
        answers = [pool.submit(each.send, sent, goes_on) for each in senders]
        sent.wait(60)
        wait_until_steady(desk)
        goes_on.set()
    return Counter(each.result() for each in answers)


def wait_until_steady(desk: FaultyDesk) -> None:
    before = 0.0
    while (now := desk.served.resident_mib()) > before + 1:
        before = now
        time.sleep(0.5)


@pytest.mark.parametrize(("clients", "times"), [(300, 1), pytest.param(600, 10, marks=MANY)])
def test_the_largest_bodies_at_once_fit_into_little_memory(
    hire: Hire, memory_group: MemoryGroup, report: Report, clients: int, times: int
) -> None:
    operator = hire("sqlite")
    operator.command = memory_group.command
    operator.settings["DESKWIRE_RATE_LIMIT"] = str(clients * 9 // 10)
    desk = FaultyDesk(operator)
    statuses = Counter[int]()
    for _ in range(times):
        statuses += send_at_once(desk, clients)
        assert desk.served.process.poll() is None and memory_group.kills() == 0
    assert statuses.keys() <= {201, 413, 429, 503} and statuses[413], statuses
    assert desk.served.get("/readyz").status == 200
    assert desk.served.stop() == 0
    desk.assert_sound()
    exported = operator.run("export", "--workspace", desk.workspace)
    assert exported.out.count(f'"name":"{NAME}"') == statuses[201]
    report(bodies=clients * times, answers=dict(statuses), peak_mib=memory_group.peak_mib, killed=0, lost=0)
