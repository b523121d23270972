"""Deskwire as whoever operates it and calls it meets it: commands, processes, sockets, and nothing inside."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[2]
PREFIX = "/api/public/v1"
COMMAND: tuple[str, ...] = (sys.executable, "-P", "-c", "from deskwire.wiring.main import main; main()")
START_S = 30
STOP_S = 15


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What `--json` printed: one object on one line, and nothing besides."""
        assert self.code == 0, self.err
        assert self.err == ""
        assert self.out.count("\n") == 1 and self.out.endswith("\n")
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        """The one line that was said of what went wrong."""
        assert self.out == ""
        assert self.err.startswith("deskwire: ") and self.err.count("\n") == 1, self.err
        return self.err.removeprefix("deskwire: ").removesuffix("\n")


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> Any:
        assert self.status == 200, self.body
        return self.json["data"]

    @property
    def code(self) -> str:
        """The code of a failure, whose envelope is looked over."""
        assert self.status >= 400
        assert self.headers["content-type"] == "application/json"
        assert self.headers["x-request-id"]
        document = self.json
        assert document.keys() == {"success", "error"} and document["success"] is False
        assert document["error"].keys() - {"details"} == {"code", "message"}
        return str(document["error"]["code"])


class Client:
    """One connection that is kept open, and one token."""

    def __init__(self, url: str, token: str = "") -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
        self._token = token

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        """A path that begins with the API's prefix or stands beside it, or one of a link."""
        return self._ask("GET", path, None, headers)

    def post(self, path: str, body: object) -> Answer:
        return self.write("POST", path, body)

    def write(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """A path of the API."""
        raw = None if body is None else json.dumps(body)
        return self._ask(method, PREFIX + path, raw, {"Content-Type": "application/json", **headers})

    def _ask(self, method: str, path: str, body: str | None, headers: Mapping[str, str]) -> Answer:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self._token:
            sent = {"Authorization": f"Bearer {self._token}", **sent}
        try:
            self._connection.request(method, path, body, sent)
            response = self._connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        except (http.client.HTTPException, OSError):
            self._connection.close()
            raise

    def api(self, path: str) -> Answer:
        return self.get(PREFIX + path)


class Served:
    """A `serve` or `worker` that runs; its standard error is a file, so it never waits for us."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self.process = process
        self.log_file = log
        self.url = ""

    def wait_ready(self) -> "Served":
        """Of a worker, that it delivers."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if line == "delivering\n":
            return self
        assert line.startswith("ready on http://"), line + self.log()
        self.url = line.removeprefix("ready on ").strip()
        return self

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    def said(self) -> str:
        """What the demo says after the line that it is ready."""
        assert self.process.stdout
        said = ""
        while "The reference is at" not in said:
            said += self.process.stdout.readline()
        return said

    def client(self, token: str = "") -> Client:
        return Client(self.url, token)

    def get(self, path: str, token: str = "") -> Answer:
        """Over a connection of its own."""
        with self.client(token) as client:
            return client.get(path)

    def say(self, request: bytes) -> bytes:
        """All that comes back for these bytes until the server closes or falls silent."""
        received = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            try:
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
                while piece := connection.recv(65536):
                    received += piece
            except (TimeoutError, ConnectionError):
                pass
        return received

    def log(self) -> str:
        return self.log_file.read_text(errors="surrogateescape")

    def wait_log(self, text: str) -> str:
        until(lambda: text in self.log())
        return self.log()

    def workers(self) -> set[int]:
        listing = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return {int(each) for each in listing.split()}

    def resident_mib(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        try:
            self.process.communicate(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode


class Operator:
    """Somebody with a folder and an environment, who runs commands; `serve` may be started differently."""

    # What `serve` and `worker` are started with.
    command = COMMAND

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.settings = {"DESKWIRE_DATA_DIR": str(folder / "data"), **settings}
        self._served: list[Served] = []

    def environment(self, **more: str) -> dict[str, str]:
        """As operators have it: with no setting of ours, and nothing that watches which lines run."""
        theirs = ("DESKWIRE_", "COVERAGE_")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
        paths = os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)])
        return {**clean, "PYTHONPATH": paths, **self.settings, **more}

    def run(self, *argv: object, **more: str) -> Outcome:
        done = subprocess.run(
            [*COMMAND, *map(str, argv)],
            capture_output=True,
            text=True,
            timeout=60,
            env=self.environment(**more),
            cwd=self.folder,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Outcome(done.returncode, done.stdout, done.stderr)

    def launch(self, *argv: object) -> subprocess.Popen[str]:
        """A command that is left running."""
        return subprocess.Popen(
            [*COMMAND, *map(str, argv)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment(),
            cwd=self.folder,
        )

    def start(self, *argv: object, **more: str) -> Served:
        """A `serve` that may not be ready yet."""
        return self._leave_running("serve", "--port", "0", *argv, **more)

    def serve(self, *argv: object, **more: str) -> Served:
        return self.start(*argv, **more).wait_ready()

    def work(self, **more: str) -> Served:
        return self._leave_running("worker", **more).wait_ready()

    def _leave_running(self, *argv: object, **more: str) -> Served:
        log = self.folder / f"serve-{len(self._served)}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [*self.command, *map(str, argv)],
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                env=self.environment(**more),
                cwd=self.folder,
                process_group=0,
            )
        self._served.append(Served(process, log))
        return self._served[-1]

    def new_workspace(self, *argv: object, email: str = "ann@acme.test") -> str:
        made = self.run("workspace", "create", "--name", "Acme", "--owner-email", email, *argv, "--json")
        return str(made.json["workspace_id"])

    def new_token(self, workspace: str) -> str:
        made = self.run("token", "create", "--workspace", workspace, "--name", "t", "--all-scopes", "--json")
        return str(made.json["token"])

    def leave(self) -> None:
        """Ends what still runs."""
        for served in self._served:
            if served.process.poll() is None:
                served.process.kill()
            served.process.communicate()


def until(condition: Callable[[], bool], within_s: float = 10) -> None:
    deadline_s = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline_s, "waited in vain"
        time.sleep(0.02)
