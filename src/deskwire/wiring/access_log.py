"""One line for each request, and for each delivery that arrived.

Made cheap: formatted by hand, gathered, and written by a thread of its own.
"""

import os
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from deskwire.model import limits
from deskwire.wiring.logs import LogFormat, render_value


class AccessLog:
    """A file that blocks, is full or closed costs lines and never a request: what waits is bounded."""

    def __init__(self, format: LogFormat, file: int = 2) -> None:
        self._line = _text_line if format == "text" else _json_line
        self._format = format
        self._file = file
        self._waiting: list[str] = []
        self._waiting_bytes = 0
        self._second = 0
        self._second_text = ""
        self.lost_lines = 0
        self._is_closing = False
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._full = threading.Event()
        self._writer = threading.Thread(target=self._write_until_closed, name="access-log", daemon=True)
        self._writer.start()

    def note(
        self,
        request_id: str,
        method: str,
        route: str,
        status: int,
        duration_s: float,
        workspace_id: str | None = None,
        token_prefix: str | None = None,
    ) -> None:
        """`route` is a template and never holds a query; every text is one that needs no escaping."""
        line = self._line(
            self._now(),
            request_id,
            method,
            route,
            status,
            duration_s * 1000,
            workspace_id,
            token_prefix,
        )
        self._add(line)

    def note_event(self, event: str, logger: str, values: Mapping[str, str | int | None]) -> None:
        """A line as the other logs have it, for a fraction of what those take."""
        if self._format == "text":
            pairs = "".join([f" {name}={render_value(value)}" for name, value in values.items()])
            self._add(f"{self._now()} info    {event}{pairs} logger={logger}\n")
        else:
            line = {**values, "event": event, "level": "info", "logger": logger, "time": self._now()}
            self._add(msgspec.json.encode(line).decode() + "\n")

    def close(self) -> None:
        """Writes what waits, as far as that is possible within a second."""
        with self._lock:
            self._is_closing = True
            self._wake.set()
            self._full.set()
        self._writer.join(1)

    def _now(self) -> str:
        now_s = time.time()
        second = int(now_s)
        if second != self._second:
            self._second = second
            self._second_text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        # Cut off, not rounded: a second has no thousandth thousandth.
        return f"{self._second_text}.{int((now_s - second) * 1000):03}Z"

    def _add(self, line: str) -> None:
        with self._lock:
            if self._waiting_bytes > limits.ACCESS_LOG_MAX_WAITING_BYTES:
                self.lost_lines += 1
                return
            if not self._waiting:
                self._wake.set()
            self._waiting.append(line)
            self._waiting_bytes += len(line)
            if self._waiting_bytes > limits.ACCESS_LOG_FLUSH_BYTES and not self._full.is_set():
                self._full.set()

    def _write_until_closed(self) -> None:
        while not (self._is_closing and not self._waiting):
            self._wake.wait()
            self._full.wait(limits.ACCESS_LOG_FLUSH_INTERVAL_S)
            with self._lock:
                lines, self._waiting, self._waiting_bytes = self._waiting, [], 0
                if not self._is_closing:
                    self._wake.clear()
                    self._full.clear()
            self._write(lines)

    def _write(self, lines: list[str]) -> None:
        rest = memoryview("".join(lines).encode())
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            self.lost_lines += len(lines)


def _text_line(
    at: str,
    request_id: str,
    method: str,
    route: str,
    status: int,
    duration_ms: float,
    workspace_id: str | None,
    token_prefix: str | None,
) -> str:
    who = f" workspace_id={workspace_id} token={token_prefix}" if workspace_id else ""
    return (
        f"{at} info    request request_id={request_id} method={method} route={route} status={status}"
        f" duration_ms={duration_ms:.2f}{who}\n"
    )


def _json_line(
    at: str,
    request_id: str,
    method: str,
    route: str,
    status: int,
    duration_ms: float,
    workspace_id: str | None,
    token_prefix: str | None,
) -> str:
    who = f',"workspace_id":"{workspace_id}","token":"{token_prefix}"' if workspace_id else ""
    return (
        f'{{"time":"{at}","level":"info","event":"request","request_id":"{request_id}","method":"{method}",'
        f'"route":"{route}","status":{status},"duration_ms":{duration_ms:.2f}{who}}}\n'
    )
