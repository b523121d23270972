"""The bundled load generator, a process: connections kept alive, each with one request under way.

It reads what to send as JSON from standard input and prints the latency of every answer.
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import cast

import uvloop

from bench.load import HOST

LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)


@dataclass
class Seen:
    latencies_ms: list[float] = field(default_factory=list)
    failures: int = 0


class Client(asyncio.Protocol):
    def __init__(self, requests: Iterator[bytes], seen: Seen) -> None:
        self._requests = requests
        self._seen = seen
        self._received = b""
        self._is_over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end:
            return
        length = LENGTH.search(head)
        if length is None or not head.startswith(b"HTTP/1.1 2"):
            self._seen.failures += 1
            self.close()
        elif len(body) >= int(length[1]):
            self._seen.latencies_ms.append((time.perf_counter() - self._sent_s) * 1000)
            self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._is_over:
            self._seen.failures += 1

    def close(self) -> None:
        self._is_over = True
        self._transport.close()

    def _send(self) -> None:
        self._received = b""
        self._sent_s = time.perf_counter()
        self._transport.write(next(self._requests))


async def drive(port: int, connections: int, duration_s: float, requests: list[bytes]) -> Seen:
    loop = asyncio.get_running_loop()
    seen, turns = Seen(), cycle(requests)
    clients = [
        (await loop.create_connection(lambda: Client(turns, seen), HOST, port))[1] for _ in range(connections)
    ]
    await asyncio.sleep(duration_s)
    for client in clients:
        client.close()
    return seen


def main() -> None:
    plan = json.load(sys.stdin)
    requests = [text.encode("latin-1") for text in plan["requests"]]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        seen = runner.run(drive(plan["port"], plan["connections"], plan["duration_s"], requests))
    json.dump({"latencies_ms": seen.latencies_ms, "failures": seen.failures}, sys.stdout)


if __name__ == "__main__":
    main()
