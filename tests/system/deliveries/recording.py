"""A receiver beside the tests that writes down what comes to each of its hooks and answers as it is told."""

import asyncio
import hashlib
import hmac
import json
import ssl
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from threading import Thread
from typing import Any, NamedTuple, TypeVar

from tests.delivery.receivers import read_request
from tests.system.operators import until

T = TypeVar("T")


class Reply(NamedTuple):
    """`status` 0: none, the connection is closed. Held replies wait for the hook's release."""

    status: int = 200
    after_s: float = 0.0
    headers: str = ""
    is_held: bool = False


OK, HELD = Reply(), Reply(is_held=True)


class Arrival(NamedTuple):
    """A request as it came; names of headers in lower case."""

    at_s: float
    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> Any:
        return json.loads(self.body)

    @property
    def kind(self) -> str:
        return str(self.event["kind"])

    @property
    def sent_at(self) -> int:
        return int(self.headers["x-webhook-timestamp"])

    def is_signed_with(self, secret: str) -> bool:
        digest = hmac.new(secret.encode(), self.body, hashlib.sha256).hexdigest()
        return self.headers["x-webhook-signature"] == f"sha256={digest}"


@dataclass
class Hook:
    """What comes to one path: `plan` is how the first requests are answered, `usual` how the others are."""

    url: str
    plan: list[Reply]
    usual: Reply
    arrivals: list[Arrival] = field(default_factory=list)
    answered: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def wait_for(self, count: int, within_s: float = 20) -> list[Arrival]:
        until(lambda: len(self.arrivals) >= count, within_s)
        return self.arrivals[:]

    def wait_for_messages(self, ids: set[str], within_s: float) -> None:
        until(lambda: ids <= set(self.message_ids), within_s)

    @property
    def message_ids(self) -> list[str]:
        return [str(each.event["data"]["message_id"]) for each in self.arrivals[:]]

    @property
    def kinds(self) -> list[str]:
        return [each.kind for each in self.arrivals[:]]

    def next_reply(self) -> Reply:
        return self.plan.pop(0) if self.plan else self.usual


class Receiver:
    """Listens on this machine from its start to its end, in a thread of its own; hooks are its paths."""

    def __init__(self, context: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> None:
        self._loop = asyncio.new_event_loop()
        self._hooks: dict[str, Hook] = {}
        self._scheme = "https" if context else "http"
        self._host = host
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._do(asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context, backlog=4096))
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def place(self) -> str:
        """For DESKWIRE_WEBHOOK_ALLOW."""
        return f"{self._host}:{self.port}"

    def hook(self, name: str, *plan: Reply, usual: Reply = OK) -> Hook:
        path = f"/{name}"
        self._hooks[path] = Hook(f"{self._scheme}://{self.place}{path}", list(plan), usual)
        return self._hooks[path]

    def release(self, hook: Hook) -> None:
        self._loop.call_soon_threadsafe(hook.gate.set)

    def close(self) -> None:
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, what: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(10)

    async def _end(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await read_request(reader):
                hook, reply = self._note(request)
                if reply.is_held:
                    await hook.gate.wait()
                await asyncio.sleep(reply.after_s)
                if not reply.status:
                    return
                head = f"HTTP/1.1 {reply.status} X\r\nContent-Length: 0\r\n{reply.headers}\r\n"
                writer.write(head.encode())
                hook.answered += 1
                await writer.drain()
        except (OSError, ssl.SSLError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    def _note(self, request: bytes) -> tuple[Hook, Reply]:
        head, _, body = request.partition(b"\r\n\r\n")
        line, *rest = head.decode().split("\r\n")
        pairs = [each.split(": ", 1) for each in rest]
        headers = {name.lower(): value for name, value in pairs}
        assert len(headers) == len(pairs)
        hook = self._hooks[line.split()[1]]
        hook.arrivals.append(Arrival(time.monotonic(), line, headers, body))
        return hook, hook.next_reply()
