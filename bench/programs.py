"""The programs that are measured, as real processes: the command line, a server of it, the floor."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

START_TIMEOUT_S = 60
STOP_TIMEOUT_S = 20
DESKWIRE = (sys.executable, "-c", "from deskwire.wiring.main import main; main()")
FLOOR = (sys.executable, "-m", "bench.floor")


class ProgramFailed(Exception):
    """A program that is measured did not do what it was started for."""


class Server(NamedTuple):
    port: int
    pid: int

    def memory_mb(self) -> float:
        shown = subprocess.run(["ps", "-o", "rss=", "-p", str(self.pid)], capture_output=True, check=True)
        return int(shown.stdout) / 1024


class Done(NamedTuple):
    """What a command of the command line answered, and what it took."""

    answer: Mapping[str, object]
    took_s: float
    memory_mb: float


class Desk:
    """The command line in one place: a folder, and a database there or elsewhere."""

    def __init__(self, folder: Path, database_url: str | None = None) -> None:
        self._log = folder / "server.log"
        # No setting of whoever runs this may change what is measured.
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith("DESKWIRE_")
        }
        self._environment["DESKWIRE_DATA_DIR"] = str(folder)
        if database_url is not None:
            self._environment["DESKWIRE_DATABASE_URL"] = database_url
            self._environment["DESKWIRE_SECRET_KEY"] = "the benchmark's key, which guards nothing"

    def run(self, *arguments: str) -> Done:
        began_s = time.perf_counter()
        process = subprocess.Popen(
            [*DESKWIRE, *arguments],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None and process.stderr is not None
        with process.stdout as output, process.stderr as errors:
            said, complaint = output.read(), errors.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise ProgramFailed(f"deskwire {' '.join(arguments)}: {said}{complaint}")
        answer = json.loads(said) if "--json" in arguments else {}
        return Done(answer, time.perf_counter() - began_s, peak_mb(used))

    def make_workspace(self) -> tuple[str, str]:
        """The id of a new workspace, and a token that may do everything in it."""
        made = self.run(
            "workspace", "create", "--name", "Bench", "--owner-email", "owner@example.test", "--json"
        )
        workspace = str(made.answer["workspace_id"])
        token = self.run(
            "token", "create", "--workspace", workspace, "--name", "bench", "--all-scopes", "--json"
        )
        return workspace, str(token.answer["token"])

    def allow(self, places: str) -> None:
        """From the next start on webhooks may lead there."""
        self._environment["DESKWIRE_WEBHOOK_ALLOW"] = places

    @contextmanager
    def serve(self, *arguments: str) -> Iterator[Server]:
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                [*DESKWIRE, "serve", "--port", "0", *arguments],
                env=self._environment,
                stdout=subprocess.PIPE,
                stderr=log,
            )
            with stopped_at_the_end(process) as said:
                line = said.readline()
                if not line.startswith(b"ready on "):
                    raise ProgramFailed(f"deskwire serve: {self._log.read_text()}")
                yield Server(int(line.rpartition(b":")[2]), process.pid)

    def forget_log(self) -> None:
        """It grows by megabytes a second under load."""
        os.truncate(self._log, 0)


@contextmanager
def serve_floor(body: bytes) -> Iterator[Server]:
    process = subprocess.Popen(FLOOR, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with stopped_at_the_end(process) as said:
        assert process.stdin is not None
        process.stdin.write(body)
        process.stdin.close()
        line = said.readline()
        if not line:
            raise ProgramFailed("the floor did not start")
        yield Server(int(line), process.pid)


@contextmanager
def stopped_at_the_end(process: subprocess.Popen[bytes]) -> Iterator[IO[bytes]]:
    """What it prints, while it runs."""
    assert process.stdout is not None
    try:
        with process.stdout as said:
            yield said
    finally:
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def peak_mb(used: resource.struct_rusage) -> float:
    unit = 1024 if sys.platform == "darwin" else 1
    return used.ru_maxrss / 1024 / unit
