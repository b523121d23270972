"""Clients that write replies one after another, and remember which ones they were told are kept."""

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from tests.system.operators import Answer, Client, Operator

CONTACT, CHANNEL = (f"018f3e1c-7c2a-7b11-9a53-{number:012}" for number in (1, 2))
TIME = "2026-01-02T03:04:05.000000Z"
TIMES = "%Y-%m-%dT%H:%M:%SZ"
RECORDS = (
    {"kind": "contact", "id": CONTACT, "created_at": TIME, "name": "Kim"},
    {"kind": "channel", "id": CHANNEL, "created_at": TIME, "contact_id": CONTACT},
)
REPLIES = f"/channels/{CHANNEL}/messages"


def with_a_channel(operator: Operator) -> str:
    """A token of a new workspace with one channel to write into."""
    workspace = operator.new_workspace()
    file = operator.folder / "channel.ndjson"
    file.write_text("".join(json.dumps(each) + "\n" for each in RECORDS))
    imported = operator.run("import", file, "--workspace", workspace, "--json")
    assert imported.json["imported"] is True
    return operator.new_token(workspace)


class Writer:
    """Its replies are numbered from 0; whatever is no 201 or 200 it remembers as a failure."""

    def __init__(self, name: str, connect: Callable[[], Client], *, keeps_connection: bool) -> None:
        self.name = name
        self.acknowledged = 0
        self.failures: list[str] = []
        self._connect = connect
        self._keeps_connection = keeps_connection

    def run(self, done: threading.Event) -> None:
        client = self._connect()
        for number in itertools.count():
            if done.is_set():
                break
            reply = {"content_type": "text", "content": f"{self.name} {number}"}
            try:
                answer = client.post(REPLIES, reply)
            except OSError as error:
                self.failures.append(repr(error))
                return
            if not self._is_kept(answer):
                return
            if not self._keeps_connection:
                client.close()
                client = self._connect()
        client.close()

    def _is_kept(self, answer: Answer) -> bool:
        if answer.status not in (200, 201):
            self.failures.append(f"{answer.status} {answer.body!r}")
            return False
        self.acknowledged += 1
        return True


@contextmanager
def writing(
    connect: Callable[[], Client], writers: int, *, keeps_connection: bool = True
) -> Iterator[list[Writer]]:
    """They write for as long as the block runs, and have begun when it does."""
    done = threading.Event()
    all = [Writer(f"w{at}", connect, keeps_connection=keeps_connection) for at in range(writers)]
    threads = [threading.Thread(target=each.run, args=(done,)) for each in all]
    for thread in threads:
        thread.start()
    try:
        wait_for_more(all, 1)
        yield all
    finally:
        done.set()
        for thread in threads:
            thread.join()


def wait_for_more(writers: list[Writer], more: int) -> None:
    """Until each has written that many replies more."""
    aims = [each.acknowledged + more for each in writers]
    deadline_s = time.monotonic() + 60
    while any(each.acknowledged < aim for each, aim in zip(writers, aims, strict=True)):
        assert not any(each.failures for each in writers), [each.failures for each in writers]
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def kept_numbers(client: Client) -> dict[str, list[int]]:
    """The numbers of the replies in the channel, by who wrote them, in the order of their sequence."""
    found: dict[str, list[int]] = {}
    since, cursor = (datetime.now(UTC) - timedelta(days=1)).strftime(TIMES), ""
    while True:
        answer = client.api(f"{REPLIES}?limit=100&since={since}{cursor}")
        for message in answer.data:
            name, number = message["content"].split()
            found.setdefault(name, []).append(int(number))
        meta = answer.json["meta"]
        if not meta["has_more"]:
            return {name: sorted(numbers) for name, numbers in found.items()}
        cursor = f"&cursor={meta['next_cursor']}"
