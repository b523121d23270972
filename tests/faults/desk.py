"""A desk with one channel under a fault: where it is served now, who writes to it, its tables at the end."""

import time
from collections.abc import Sequence

from tests.faults.arrivals import Arrivals
from tests.faults.retrying import Retrying
from tests.system.operators import Client, Operator, Served, until
from tests.system.writers import kept_numbers, with_a_channel

DELIVERED_S = 120


class FaultyDesk:
    def __init__(self, operator: Operator, *serving: str) -> None:
        self.operator = operator
        self.token = with_a_channel(operator)
        self.serving = serving
        self.served = self.serve()
        with self.client() as client:
            self.workspace: str = client.api("/workspace").data["id"]

    def serve(self) -> Served:
        self.served = self.operator.serve(*self.serving)
        return self.served

    def client(self) -> Client:
        return self.served.client(self.token)

    def kill(self) -> None:
        self.served.process.kill()
        self.served.wait()

    def restart_s(self) -> float:
        """Seconds until it can be asked again."""
        began_at = time.monotonic()
        self.serve()
        until(lambda: self.served.get("/readyz").status == 200)
        return time.monotonic() - began_at

    def assert_nothing_lost(self, writers: Sequence[Retrying]) -> int:
        """Each acknowledged reply is there once, and every table is as it should be; answers how many."""
        with self.client() as client:
            assert kept_numbers(client) == {each.name: each.numbers for each in writers}
        assert self.served.stop() == 0
        self.assert_sound()
        assert "Traceback" not in self.served.log()
        return sum(each.acknowledged for each in writers)

    def assert_sound(self) -> None:
        checked = self.operator.run("check")
        assert (checked.code, checked.err) == (0, ""), checked.out

    @staticmethod
    def wait_for_deliveries(arrivals: Arrivals, writers: Sequence[Retrying]) -> None:
        texts = {text for each in writers for text in each.texts}
        until(lambda: texts <= arrivals.taken.keys(), DELIVERED_S)
