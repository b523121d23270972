"""How `serve` starts, what it says, and how it ends."""

import re
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.system.conftest import Demo
from tests.system.operators import COMMAND, PREFIX, STOP_S, Client, Operator, until

IDLE_MIB = 120


def test_the_line_of_the_demo_works_when_it_is_pasted(demo: Demo) -> None:
    line = next(each.strip() for each in demo.said.splitlines() if each.strip().startswith("curl"))
    command, *arguments = shlex.split(line)
    assert command == "curl"
    url = next(each for each in arguments if each.startswith("http"))
    name, _, value = arguments[arguments.index("-H") + 1].partition(": ")
    answer = demo.served.get(url.removeprefix(demo.served.url), value.removeprefix("Bearer "))
    assert (name, len(answer.data)) == ("Authorization", 3)
    assert demo.served.get("/docs").status == 200


def test_the_idle_demo_stays_within_its_memory(demo: Demo) -> None:
    assert demo.served.resident_mib() < IDLE_MIB


def test_a_second_start_finds_the_demo_again(operator: Operator) -> None:
    first = operator.serve("--demo")
    said = first.said()
    (token,) = set(re.findall(r"dwp_[A-Za-z0-9]{40}", said))
    before = first.get(f"{PREFIX}/channels", token).data
    assert first.stop(signal.SIGINT) == 0
    second = operator.serve("--demo", "--workers", "2")
    said = second.said()
    assert "dwp_" not in said
    assert second.get(f"{PREFIX}/channels", token).data == before
    line = next(each.strip() for each in said.splitlines() if "token create" in each)
    made = operator.run(*shlex.split(line)[1:], "--json")
    assert second.get(f"{PREFIX}/workspace", made.json["token"]).status == 200
    assert second.stop() == 0


def test_a_port_that_is_taken_costs_the_demo_nothing(operator: Operator) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = operator.run("serve", "--demo", "--port", taken.getsockname()[1])
    assert refused.code == 1 and "another program listens there" in refused.complaint
    assert "dwp_" in operator.serve("--demo").said()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_port_of_the_figures_that_is_taken_is_one_line(operator: Operator, workers: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        refused = operator.run("serve", "--port", "0", "--workers", workers, "--metrics", address)
    assert refused.code == 1
    assert "another program listens there" in refused.complaint


def test_demo_and_a_configured_database_do_not_go_together(operator: Operator) -> None:
    refused = operator.run("serve", "--demo", DESKWIRE_DATABASE_URL="postgresql://localhost/real")
    assert refused.code == 1 and "DESKWIRE_DATABASE_URL" in refused.complaint


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("delay_s", [0, 0.2, 0.6, 1.0])
def test_a_signal_that_comes_early_ends_the_start_with_0(
    operator: Operator, number: signal.Signals, delay_s: float
) -> None:
    starting = operator.start("--demo", "--workers", "2")
    until(is_ours(starting.process.pid))
    time.sleep(delay_s)
    assert starting.stop(number) == 0
    assert "Traceback" not in starting.log()


def is_ours(pid: int) -> Callable[[], bool]:
    """Whether the process has come as far as to handle SIGTERM itself, as /proc tells."""

    def handles_sigterm() -> bool:
        caught = Path(f"/proc/{pid}/status").read_text().partition("SigCgt:")[2].split()[0]
        return bool(int(caught, 16) & (1 << (signal.SIGTERM - 1)))

    return handles_sigterm


def test_an_interrupted_command_says_so(operator: Operator) -> None:
    migrating = operator.launch("migrate")
    until(is_ours(migrating.pid))
    migrating.send_signal(signal.SIGTERM)
    out, err = migrating.communicate(timeout=10)
    assert (migrating.returncode, out, err) == (143, "", "deskwire: interrupted\n")


def test_a_stop_answers_what_is_under_way(operator: Operator) -> None:
    served = operator.serve("--workers", "2")
    request = f"GET {PREFIX}/openapi.json HTTP/1.1\r\nHost: a\r\n"
    with socket.create_connection(("127.0.0.1", served.port), timeout=5) as client:
        client.sendall(request.encode())
        time.sleep(0.2)
        served.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        client.sendall(b"\r\n")
        answer = client.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 200 OK") and b"connection: close" in answer.lower()
    assert served.wait() == 0


def test_nothing_but_what_it_serves_is_said_on_standard_output(operator: Operator) -> None:
    served = operator.serve()
    served.get("/healthz")
    served.process.send_signal(signal.SIGTERM)
    out, _ = served.process.communicate(timeout=10)
    assert (served.process.returncode, out) == (0, "")


def test_the_help_of_a_command_is_there_at_once(operator: Operator) -> None:
    began_s = time.monotonic()
    assert operator.run("serve", "--help").code == 0
    assert operator.run("--version").out == "deskwire 0.1.0\n"
    assert time.monotonic() - began_s < 4


def with_closed(operator: Operator, closing: str, *argv: str) -> subprocess.Popen[str]:
    """A command that is started as a shell starts it whose line ends like this."""
    return subprocess.Popen(
        ["sh", "-c", f'exec "$@" {closing}', "sh", *COMMAND, *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=operator.environment(),
        cwd=operator.folder,
    )


@pytest.mark.parametrize("closing", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_whose_standard_streams_are_closed_does_its_work(operator: Operator, closing: str) -> None:
    with with_closed(operator, closing, "workspace", "list") as process:
        _, said = process.communicate(timeout=STOP_S)
    assert (process.returncode, said) == (0, "")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_serving_without_standard_streams_ends_in_order(operator: Operator, workers: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    argv = ("serve", "--port", str(port), "--workers", workers)
    with with_closed(operator, "<&- >&- 2>&-", *argv) as process:
        client = Client(f"http://127.0.0.1:{port}")

        def answers() -> bool:
            with suppress(OSError):
                return client.get("/readyz").status == 200
            return False

        until(answers)
        client.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOP_S) == 0


def test_a_folder_without_a_database_is_not_found_sound(operator: Operator) -> None:
    missing = operator.folder / "mistyped"
    looked = operator.run("check", "--data-dir", missing)
    assert looked.code == 1 and "there is no database at" in looked.complaint
    assert not missing.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_start_that_cannot_be_told_is_one_line(operator: Operator, workers: str) -> None:
    with with_closed(operator, ">/dev/full", "serve", "--port", "0", "--workers", workers) as process:
        _, said = process.communicate(timeout=STOP_S)
    assert process.returncode == 1
    assert said.splitlines()[-1] == "deskwire: No space left on device"
    assert "Traceback" not in said
