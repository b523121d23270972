"""128 open files and 500 clients that say nothing: who was there goes on, and when they leave all is well."""

import os
import resource
import socket
import time
from contextlib import ExitStack

import pytest

from tests.faults.desk import FaultyDesk
from tests.faults.report import Report, spread
from tests.system.conftest import Hire
from tests.system.operators import PREFIX, Answer, until
from tests.system.writers import REPLIES

FILES, CLIENTS = 128, 500
# Five seconds are promised.
BACK_S = 20
MANY = [pytest.mark.stress, pytest.mark.timeout(600)]


@pytest.mark.parametrize("times", [1, pytest.param(20, marks=MANY)])
def test_idle_clients_may_take_all_descriptors_and_nothing_more(
    hire: Hire, report: Report, times: int
) -> None:
    desk = FaultyDesk(hire("sqlite"))
    pid = desk.served.process.pid
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (FILES, FILES))
    back_s, written = [], 0

    def write() -> Answer:
        reply = {"content_type": "text", "content": f"w0 {written}"}
        return client.post(REPLIES, reply)

    with desk.client() as client:
        for _ in range(times):
            assert client.api("/channels").status == 200
            with ExitStack() as crowd:
                for _ in range(CLIENTS):
                    crowd.enter_context(socket.create_connection(("127.0.0.1", desk.served.port), 20))
                until(lambda: len(os.listdir(f"/proc/{pid}/fd")) >= FILES - 1)
                assert client.api("/channels").status == 200
                assert write().status == 201
                written += 1
            began_at = time.monotonic()
            assert desk.served.get(f"{PREFIX}/channels", desk.token).status == 200
            until(lambda: desk.served.get("/readyz").status == 200)
            back_s.append(time.monotonic() - began_at)
        assert client.api(f"/channels/{REPLIES.split('/')[2]}").data["message_count"] == written
    assert max(back_s) < BACK_S
    assert desk.served.stop() == 0
    desk.assert_sound()
    report(fired=times, idle_clients=CLIENTS * times, acknowledged=written, lost=0, back=spread(back_s))
