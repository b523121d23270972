"""Clients that write one reply after another and ask again until each is acknowledged, as good clients do."""

import http.client
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tests.system.operators import Client
from tests.system.writers import REPLIES

# Between a refusal and the next try; short, so that many meet the fault.
RETRY_S = 0.1
ACKNOWLEDGED = (200, 201)


class Retrying:
    """Its replies are numbered from 0, each with a `client_request_id` that stays the same for every try."""

    def __init__(self, name: str, connect: Callable[[], Client], pause_s: float) -> None:
        self.name = name
        self.acknowledged = 0
        # Answers that were no success, by status; and requests that no answer came to, under 0.
        self.refused: Counter[int] = Counter()
        self.slowest_s = 0.0
        self.last_success_at = 0.0
        self._connect = connect
        self._pause_s = pause_s

    def run(self, done: threading.Event) -> None:
        for number in itertools.count():
            if done.is_set():
                return
            mark = f"{self.name} {number}"
            self._write({"content_type": "text", "content": mark, "client_request_id": mark})
            done.wait(self._pause_s)

    def _write(self, reply: dict[str, str]) -> None:
        while not self._is_acknowledged(reply):
            time.sleep(RETRY_S)
        self.acknowledged += 1
        self.last_success_at = time.monotonic()

    def _is_acknowledged(self, reply: dict[str, str]) -> bool:
        began_at = time.monotonic()
        try:
            with self._connect() as client:
                status = client.post(REPLIES, reply).status
        except (OSError, http.client.HTTPException):
            status = 0
        self.slowest_s = max(self.slowest_s, time.monotonic() - began_at)
        if status not in ACKNOWLEDGED:
            self.refused[status] += 1
        return status in ACKNOWLEDGED

    @property
    def numbers(self) -> list[int]:
        return list(range(self.acknowledged))

    @property
    def texts(self) -> list[str]:
        return [f"{self.name} {number}" for number in self.numbers]


@contextmanager
def retrying(connect: Callable[[], Client], writers: int, rate: float) -> Iterator[Sequence[Retrying]]:
    """Together they write so many a second at most; at the end each has its last reply acknowledged."""
    done = threading.Event()
    all = [Retrying(f"r{at}", connect, writers / rate) for at in range(writers)]
    threads = [threading.Thread(target=each.run, args=(done,), daemon=True) for each in all]
    for thread in threads:
        thread.start()
    try:
        wait_for_more(all)
        yield all
    finally:
        done.set()
        for thread in threads:
            thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "a reply was never acknowledged"


def wait_for_more(writers: Sequence[Retrying], more: int = 1) -> None:
    """Until each has that many replies more acknowledged."""
    aims = [each.acknowledged + more for each in writers]
    deadline_s = time.monotonic() + 60
    while any(each.acknowledged < aim for each, aim in zip(writers, aims, strict=True)):
        assert time.monotonic() < deadline_s, [each.refused for each in writers]
        time.sleep(0.005)


def refusals(writers: Sequence[Retrying]) -> Counter[int]:
    return sum((each.refused for each in writers), Counter())
