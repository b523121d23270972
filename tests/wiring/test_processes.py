"""One process and several: starting, dying, being told to stop."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


class Program:
    """The jobs program, run as somebody would run the real one."""

    def __init__(self, job: str, workers: int, host: str, port: int, *arguments: str) -> None:
        paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.wiring.jobs", job, host, str(port), str(workers), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": paths},
            process_group=0,
        )

    def wait_ready(self) -> str:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line.startswith("ready on http://"), line + self.stderr()
        self.url = line.removeprefix("ready on ").strip()
        return self.url

    def get(self, path: str = "/") -> int:
        with urllib.request.urlopen(self.url + path, timeout=5) as answer:
            return int(answer.read())

    def workers(self) -> set[int]:
        listing = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return {int(each) for each in listing.split()}

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=15)
        return self.process.returncode, out, err

    def stderr(self) -> str:
        return self.end()[2] if self.process.poll() is not None else ""


@pytest.fixture
def start() -> Iterator[Callable[..., Program]]:
    programs: list[Program] = []

    def begin(
        job: str = "serve_pid", workers: int = 1, host: str = "127.0.0.1", port: int = 0, *more: str
    ) -> Program:
        programs.append(Program(job, workers, host, port, *more))
        return programs[-1]

    yield begin
    for program in programs:
        if program.process.poll() is None:
            program.process.kill()
        program.process.communicate()


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _until(condition: Callable[[], bool], within_s: float = 5) -> None:
    deadline_s = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline_s, "waited in vain"
        time.sleep(0.02)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_answers_what_is_under_way_and_exits_0(
    start: Callable[..., Program], workers: int, number: signal.Signals
) -> None:
    program = start(workers=workers)
    host, port = program.wait_ready().removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as client:
        client.sendall(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
        time.sleep(0.1)
        program.send(number)
        assert client.makefile("rb").read().startswith(b"HTTP/1.1 200 OK")
    assert program.end() == (0, "", "")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_second_signal_cuts_what_is_under_way(start: Callable[..., Program], workers: int) -> None:
    program = start(workers=workers)
    host, port = program.wait_ready().removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as client:
        client.sendall(b"GET /stuck HTTP/1.1\r\nHost: a\r\n\r\n")
        time.sleep(0.1)
        program.send(signal.SIGTERM)
        time.sleep(0.2)
        began_s = time.monotonic()
        program.send(signal.SIGTERM)
        assert program.end()[0] == 0
        assert time.monotonic() - began_s < 2


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stop_during_the_start_exits_0(start: Callable[..., Program], workers: int) -> None:
    program = start("never_ready", workers)
    assert program.process.stdout
    assert program.process.stdout.readline() == "starting\n"
    program.send(signal.SIGTERM)
    assert program.end()[0] == 0


def test_ready_is_said_once_when_all_workers_serve(start: Callable[..., Program]) -> None:
    program = start(workers=3)
    assert re.fullmatch(r"http://127\.0\.0\.1:[1-9]\d*", program.wait_ready())
    assert len(program.workers()) == 3
    assert {program.get() for _ in range(50)} <= program.workers()
    program.send(signal.SIGTERM)
    assert program.end() == (0, "", "")


def test_a_killed_worker_is_replaced_and_the_others_serve_on(start: Callable[..., Program]) -> None:
    program = start(workers=2)
    program.wait_ready()
    before = program.workers()
    victim = min(before)
    os.kill(victim, signal.SIGKILL)
    _until(lambda: len(program.workers() - {victim}) == 2)
    assert {program.get() for _ in range(20)} <= program.workers()
    program.send(signal.SIGTERM)
    code, out, err = program.end()
    assert (code, out) == (0, "")
    assert "worker 0 ended" in err or "worker 1 ended" in err


def test_the_workers_end_when_the_parent_is_killed(start: Callable[..., Program]) -> None:
    program = start(workers=2)
    program.wait_ready()
    workers = program.workers()
    program.process.kill()
    _until(lambda: not any(_is_alive(each) for each in workers))


def test_workers_that_cannot_start_are_one_line_and_exit_1(start: Callable[..., Program]) -> None:
    assert start("fail", 2).end() == (1, "", "the database is behind; run migrate\n")


def test_workers_that_die_at_the_start_are_given_up(start: Callable[..., Program]) -> None:
    code, out, err = start("die", 2).end()
    assert (code, out) == (1, "")
    assert "the workers do not stay up" in err.splitlines()[-1]


def test_a_worker_that_dies_at_the_start_is_tried_again(
    start: Callable[..., Program], tmp_path: Path
) -> None:
    program = start("die_once", 2, "127.0.0.1", 0, str(tmp_path))
    program.wait_ready()
    program.send(signal.SIGTERM)
    assert program.end()[0] == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_a_port_that_is_taken_is_one_line_and_exit_1(start: Callable[..., Program], workers: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = start("serve_pid", workers, "127.0.0.1", port).end()
    assert (code, out) == (1, "")
    assert err == (
        f"cannot listen on 127.0.0.1 port {port}: "
        "another program listens there; stop it or choose another --port\n"
    )


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1"])
def test_a_host_that_is_not_here_is_one_line_and_exit_1(start: Callable[..., Program], host: str) -> None:
    code, _, err = start("serve_pid", 1, host, 0).end()
    assert code == 1
    assert err.startswith(f"cannot listen on {host} port 0: ")
    assert len(err.splitlines()) == 1


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_an_ipv6_host_works(start: Callable[..., Program]) -> None:
    program = start("serve_pid", 1, "::1", 0)
    assert program.wait_ready().startswith("http://[::1]:")
    assert program.get() == program.process.pid


def test_localhost_works(start: Callable[..., Program]) -> None:
    program = start("serve_pid", 1, "localhost", 0)
    assert program.wait_ready().startswith("http://localhost:")
    assert program.get() == program.process.pid
