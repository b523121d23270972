"""What is measured of webhooks: how many deliveries a second, and how soon the first request comes."""

import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from bench.figures import Goal
from bench.filled import FilledDesk, delete, post
from bench.load import HOST
from bench.programs import Desk, ProgramFailed, stopped_at_the_end
from bench.records import Size, channel_id

# As many at once as one webhook may get, times the webhooks.
WEBHOOKS, AT_ONCE = 4, 64
WAIT_S = 60
PAUSE_S = 0.05
DELIVERIES = Goal(0.4, 0.6, "of a bare loop", more_is_better=True)
SOON_MEDIAN, SOON_WORST = Goal(20, 10, "ms"), Goal(200, 100, "ms")
SOON_BESIDE_DEAD = Goal(1_000, None, "ms")
NAMES = ("deliveries", "first-delivery", "first-delivery-dead")


@dataclass(frozen=True)
class Amounts:
    events: int
    writes: int
    dead: int


USUAL, QUICK = Amounts(2_000, 50, 2_000), Amounts(500, 40, 200)


class Receiver:
    def __init__(self, process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
        self._process, self._said = process, said
        self.port = int(said.readline())

    @property
    def place(self) -> str:
        return f"{HOST}:{self.port}"

    def take(self) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        return json.loads(self._said.readline())

    def wait_for(self, count: int, pause_s: float) -> tuple[list[float], list[str]]:
        """When each came, and some of the bodies."""
        at_s: list[float] = []
        bodies: list[str] = []
        give_up_s = time.monotonic() + WAIT_S
        while len(at_s) < count:
            if time.monotonic() > give_up_s:
                raise ProgramFailed(f"{len(at_s)} of {count} deliveries came")
            time.sleep(pause_s)
            taken = self.take()
            at_s += taken["at_s"]
            bodies += taken["bodies"]
        return at_s, bodies


@contextmanager
def receive() -> Iterator[Receiver]:
    command = [sys.executable, "-m", "bench.receiver"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with stopped_at_the_end(process) as said:
        yield Receiver(process, said)


class Deliveries:
    """A filled desk's webhooks, measured; nothing serves it meanwhile but what is started here."""

    def __init__(self, desk: Desk, token: str, size: Size, amounts: Amounts) -> None:
        self._desk, self._token, self._size, self._amounts = desk, token, size, amounts

    def ratio(self) -> float:
        """Deliveries a second, as a part of what a bare loop posts."""
        count = self._amounts.events * WEBHOOKS
        with receive() as receiver:
            self._desk.allow(receiver.place)
            with self._desk.serve("--no-delivery") as server:
                desk = FilledDesk(server, self._token, self._size)
                webhooks = [self._webhook(desk, f"http://{receiver.place}/{n}") for n in range(WEBHOOKS)]
                for number in range(self._amounts.events):
                    self._write(desk, number)
            with self._desk.serve() as server:
                at_s, bodies = receiver.wait_for(count, PAUSE_S)
                self._remove(FilledDesk(server, self._token, self._size), webhooks)
            bare = posted_a_second(receiver.port, bodies[:WEBHOOKS], count)
        return (len(at_s) - 1) / (max(at_s) - min(at_s)) / bare

    def soon_ms(self, dead: int = 0) -> list[float]:
        """How long after the answer to a write the first byte came, one write after another."""
        with receive() as receiver, refusing_place() as refusing:
            self._desk.allow(f"{receiver.place},{refusing}")
            with self._desk.serve() as server:
                desk = FilledDesk(server, self._token, self._size)
                webhooks = [
                    self._webhook(desk, f"http://{refusing if n % 2 else receiver.place}/hang/{n}")
                    for n in range(dead)
                ]
                webhooks.append(self._webhook(desk, f"http://{receiver.place}/good"))
                took_ms = [self._time(desk, receiver, number) for number in range(self._amounts.writes)]
                self._remove(desk, webhooks)
        return took_ms

    def _time(self, desk: FilledDesk, receiver: Receiver, number: int) -> float:
        self._write(desk, number)
        acknowledged_s = time.monotonic()
        (at_s,), _ = receiver.wait_for(1, PAUSE_S)
        return max(0.0, at_s - acknowledged_s) * 1000

    def _write(self, desk: FilledDesk, number: int) -> None:
        channel = channel_id(number % self._size.channels, self._size)
        desk.ask(post(f"/channels/{channel}/messages", content_type="text", content="On its way."))

    def _webhook(self, desk: FilledDesk, url: str) -> str:
        made: Any = json.loads(desk.ask(post("/outbound-webhooks", name="bench", url=url)))
        return str(made["data"]["id"])

    def _remove(self, desk: FilledDesk, webhooks: list[str]) -> None:
        for id in webhooks:
            desk.ask(delete(f"/outbound-webhooks/{id}"))


def posted_a_second(port: int, bodies: list[str], count: int) -> float:
    plan = json.dumps({"port": port, "bodies": bodies, "count": count, "at_once": AT_ONCE})
    command = [sys.executable, "-m", "bench.bare"]
    done = subprocess.run(command, input=plan, capture_output=True, text=True, check=True)
    return float(done.stdout)


@contextmanager
def refusing_place() -> Iterator[str]:
    """A port that nobody listens on, and that nobody else gets."""
    with socket.socket() as bound:
        bound.bind((HOST, 0))
        yield f"{HOST}:{bound.getsockname()[1]}"


def figures(deliveries: Deliveries, name: str, amounts: Amounts) -> Iterator[tuple[str, str, float, Goal]]:
    """Name, description, figure and goal of each row."""
    match name:
        case "deliveries":
            yield name, "deliveries, recorded", deliveries.ratio(), DELIVERIES
        case "first-delivery":
            took_ms = deliveries.soon_ms()
            yield name, "write to delivery, median", statistics.median(took_ms), SOON_MEDIAN
            yield f"{name}-worst", "write to delivery, worst", max(took_ms), SOON_WORST
        case "first-delivery-dead":
            took_ms = deliveries.soon_ms(amounts.dead)
            what = f"write to delivery beside {amounts.dead:,} dead webhooks, worst"
            yield name, what, max(took_ms), SOON_BESIDE_DEAD
