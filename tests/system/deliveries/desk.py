"""A desk whose webhooks are tested: an operator's processes, a workspace with channels, writes into it."""

import http.client
import json
import re
from collections.abc import Callable, Iterable
from itertools import count, cycle
from threading import Event, Thread
from typing import Any, NamedTuple
from uuid import uuid4

from tests.system.deliveries.recording import Hook
from tests.system.operators import Answer, Client, Operator, Served, until

CHANNELS = 40
WRITERS = 4
PAUSE_S = 0.02
LONG_AGO = "2026-01-01T00:00:00Z"


class Webhook(NamedTuple):
    id: str
    secret: str


class Desk:
    """What is needed to write into a workspace, whichever process answers."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        made = operator.run("workspace", "create", "--name", "Acme", "--owner-email", "a@b.test", "--json")
        self.workspace, self.owner = str(made.json["workspace_id"]), str(made.json["owner_member_id"])
        self.channels = [str(uuid4()) for _ in range(CHANNELS)]
        records = operator.folder / "channels.ndjson"
        records.write_text("".join(map(self._channel, self.channels)))
        operator.run("import", records, "--workspace", self.workspace, "--json")
        self.token = operator.new_token(self.workspace)

    @staticmethod
    def _channel(id: str) -> str:
        times = {"created_at": LONG_AGO, "updated_at": LONG_AGO}
        record = {"kind": "channel", "id": id, "type": "user_chat", "provider": "web", "status": "open"}
        return json.dumps(record | times | {"tags": []}) + "\n"


class Counter:
    """Somebody at a desk that is served: one connection."""

    def __init__(self, desk: Desk, served: Served) -> None:
        self.desk, self.served = desk, served
        self.client = Client(served.url, desk.token)

    def __enter__(self) -> "Counter":
        return self

    def __exit__(self, *_: object) -> None:
        self.client.__exit__()

    def done(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        answer = self.client.write(method, path, body, **headers)
        assert 200 <= answer.status < 300, (method, path, answer)
        return answer.json["data"] if answer.body else None

    def webhook(self, hook: Hook, *kinds: str) -> Webhook:
        body = {"name": hook.url.rpartition("/")[2], "url": hook.url, "event_filters": kinds}
        made = self.done("POST", "/outbound-webhooks", body)
        return Webhook(made["id"], made["secret"])

    def reply(self, channel: str | None = None, **headers: str) -> Any:
        body = {"content_type": "text", "content": "Hello, 여보세요"}
        return self.done("POST", f"/channels/{channel or self.desk.channels[0]}/messages", body, **headers)

    def act(self, verb: str, **body: object) -> Any:
        path = f"/channels/{self.desk.channels[0]}/{verb}"
        return self.done("POST", path, {"actor_member_id": self.desk.owner, **body})

    def of_webhook(self, webhook: Webhook, part: str = "", verb: str = "POST", body: object = None) -> Any:
        return self.done(verb, f"/outbound-webhooks/{webhook.id}{part}", body)

    def state(self, webhook: Webhook) -> Any:
        return self.client.api(f"/outbound-webhooks/{webhook.id}").data

    def logs(self, webhook: Webhook, count: int = 0) -> Any:
        """The newest first; waits until there are so many."""

        def find() -> Any:
            return self.client.api(f"/outbound-webhooks/{webhook.id}/delivery-logs?limit=100").data

        until(lambda: find()["total"] >= count, 20)
        found = find()
        assert found["total"] == len(found["items"])
        return found["items"]

    def figure(self, name: str) -> float:
        text = self.client.get("/metrics").body.decode()
        found = re.search(rf"^{name}(?:_total)? (\S+)$", text, re.MULTILINE)
        assert found, text
        return float(found[1])


class Load:
    """Replies written over several connections until it is stopped, with pauses so that workers keep pace.

    `served` answers where; whoever finds nobody there goes on when somebody is.
    """

    def __init__(self, desk: Desk, served: Callable[[], Served]) -> None:
        self._desk, self._served = desk, served
        self._stop = Event()
        self.acknowledged: set[str] = set()
        self.statuses: set[int] = set()
        self._threads = [Thread(target=self._write, args=(number,)) for number in range(WRITERS)]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _write(self, number: int) -> None:
        channels = cycle(self._desk.channels[number::WRITERS])
        numbers = count()
        while not self._stop.is_set():
            with Client(self._served().url, self._desk.token) as client:
                self._write_while_answered(client, channels, (f"{number}-{each}" for each in numbers))
            self._stop.wait(0.02)

    def _write_while_answered(self, client: Client, channels: Iterable[str], texts: Iterable[str]) -> None:
        for channel, text in zip(channels, texts, strict=False):
            if self._stop.is_set():
                return
            try:
                body = {"content_type": "text", "content": text}
                self._take(client.write("POST", f"/channels/{channel}/messages", body))
            except (http.client.HTTPException, OSError):
                return
            self._stop.wait(PAUSE_S)

    def _take(self, answer: Answer) -> None:
        self.statuses.add(answer.status)
        if answer.status == 201:
            self.acknowledged.add(answer.json["data"]["id"])
