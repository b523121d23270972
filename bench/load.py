"""Drives load against a server: with wrk where it is installed, otherwise with a generator of our own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from bench.figures import Load, percentile

HOST = "127.0.0.1"
# The run itself, and what a slow machine needs to begin and to end it.
SPARE_S = 30


class Request(NamedTuple):
    path: str
    method: str = "GET"
    body: bytes = b""

    def raw(self, token: str) -> bytes:
        lines = [f"{self.method} {self.path} HTTP/1.1", f"Host: {HOST}", f"Authorization: Bearer {token}"]
        if self.body:
            lines += ["Content-Type: application/json", f"Content-Length: {len(self.body)}"]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


@dataclass(frozen=True)
class Volley:
    """Requests as they are sent, one after another and again from the start, over so many connections."""

    requests: Sequence[bytes]
    connections: int
    duration_s: int


class LoadFailed(Exception):
    """Not every request was answered as it should have been."""


class Generator(Protocol):
    @property
    def name(self) -> str: ...

    def drive(self, port: int, volley: Volley) -> Load: ...


def find_generator(folder: Path) -> Generator:
    """The folder is for the generator's own files."""
    program = shutil.which("wrk")
    return Bundled() if program is None else Wrk(program, folder)


class Wrk:
    name = "wrk"

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._script = folder / "requests.lua"

    def drive(self, port: int, volley: Volley) -> Load:
        self._script.write_text(lua(volley.requests), "ascii")
        run = subprocess.run(
            [
                *(self._program, "--threads=1", f"--connections={volley.connections}"),
                *(f"--duration={volley.duration_s}s", f"--script={self._script}", f"http://{HOST}:{port}"),
            ],
            capture_output=True,
            text=True,
            timeout=volley.duration_s + SPARE_S,
            check=True,
        )
        requests, duration_us, failures, p50_us, p95_us, p99_us = map(float, run.stdout.split()[-6:])
        if failures or not requests:
            raise LoadFailed(f"{failures:.0f} of {requests:.0f} requests failed:\n{run.stdout}")
        return Load(requests / duration_us * 1e6, p50_us / 1000, p95_us / 1000, p99_us / 1000)


class Bundled:
    """As many processes as leave one core to the server."""

    def __init__(self) -> None:
        self._processes = max(1, (os.cpu_count() or 1) - 1)

    @property
    def name(self) -> str:
        return f"the bundled generator, {self._processes} processes (wrk is not installed)"

    def drive(self, port: int, volley: Volley) -> Load:
        processes = min(self._processes, volley.connections)
        started = [
            start_generator(
                port, volley, volley.connections // processes + (place < volley.connections % processes)
            )
            for place in range(processes)
        ]
        latencies_ms: list[float] = []
        failures = 0
        for process in started:
            assert process.stdout is not None
            with process:
                said = process.stdout.read()
            if process.returncode != 0:
                raise LoadFailed("the bundled generator failed")
            seen = json.loads(said)
            latencies_ms += seen["latencies_ms"]
            failures += seen["failures"]
        if failures or not latencies_ms:
            raise LoadFailed(f"{failures} requests failed, {len(latencies_ms)} were answered")
        latencies_ms.sort()
        p50, p95, p99 = (percentile(latencies_ms, percent) for percent in (50, 95, 99))
        return Load(len(latencies_ms) / volley.duration_s, p50, p95, p99)


def start_generator(port: int, volley: Volley, connections: int) -> subprocess.Popen[bytes]:
    plan = {
        "port": port,
        "connections": connections,
        "duration_s": volley.duration_s,
        "requests": [raw.decode("latin-1") for raw in volley.requests],
    }
    command = [sys.executable, "-m", "bench.generator"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(json.dumps(plan).encode())
    process.stdin.close()
    return process


def lua(requests: Sequence[bytes]) -> str:
    """A script that sends the requests in turn and tells in its last line what came of it."""
    listed = ",\n".join(f'"{"".join(map(lua_character, raw))}"' for raw in requests)
    return f"local requests = {{\n{listed}\n}}\n{LUA_TURNS}"


def lua_character(byte: int) -> str:
    character = chr(byte)
    return character if " " <= character <= "~" and character not in '"\\' else f"\\{byte:03d}"


LUA_TURNS = """
local at = 0
function request()
  at = at % #requests + 1
  return requests[at]
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format("%d %d %d %.0f %.0f %.0f\\n", summary.requests, summary.duration,
    e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50), latency:percentile(95), latency:percentile(99)))
end
"""
