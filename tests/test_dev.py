"""The script that a newcomer runs, in a checkout of its own with a stand-in for uv that fetches nothing."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import environment

ROOT = Path(__file__).parents[1]
LOCKS = (ROOT / "locks" / "run.txt", ROOT / "locks" / "dev.txt")
PYTHON = Path(sys.executable).resolve()

UV = f"""#!/bin/sh
echo "uv $*" >>"$CALLS"
case "$1 $2" in
venv*)
    mkdir -p .venv/bin
    ln -s '{PYTHON}' .venv/bin/python
    echo version >.venv/pyvenv.cfg
    cp "$DESKWIRE" .venv/bin/deskwire
    ;;
"pip sync") eval "${{DURING_SYNC-}}" ;;
esac
"""
DESKWIRE = """#!/bin/sh
trap 'exit 7' TERM
echo "deskwire $*"
while :; do sleep 0.02; done
"""
PYTHON_WRAPPER = f"""#!/bin/sh
echo "python $*" >>"$CALLS"
exec '{PYTHON}' "$@"
"""


class Checkout:
    """A copy of what `./dev` needs, and a PATH on which uv and Python write down that they were called."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir()
        self.calls_file = folder / "calls"
        self.programs = folder / "programs"
        self.programs.mkdir()
        self.processes: list[subprocess.Popen[str]] = []
        self.add_program("uv", UV)
        self.add_program("python3.11", PYTHON_WRAPPER)
        self.add_program("deskwire", DESKWIRE)
        for name in ("dev", "pyproject.toml", "locks/dev.txt", "scripts/environment.py"):
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)

    def add_program(self, name: str, text: str) -> None:
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def dev(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, **variables)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [str(self.root / "dev"), *arguments],
            cwd=self.elsewhere,
            env=self.environment() | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            with process:
                pass

    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.programs}:/usr/bin:/bin",
            "HOME": str(self.elsewhere),
            "CALLS": str(self.calls_file),
            "DESKWIRE": str(self.programs / "deskwire"),
            "UV_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
        }

    def calls(self) -> str:
        """Return what was called since the last time this was asked, as text."""
        if not self.calls_file.exists():
            return ""
        calls = self.calls_file.read_text()
        self.calls_file.unlink()
        return calls


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    checkout = Checkout(tmp_path)
    yield checkout
    checkout.close()


@pytest.fixture
def installed(checkout: Checkout) -> Checkout:
    assert checkout.dev("setup").returncode == 0
    checkout.calls()
    return checkout


def test_help_names_every_command_and_installs_nothing(checkout: Checkout) -> None:
    result = checkout.dev("help")
    assert result.returncode == 0
    for command in ("serve", "test", "lint", "bench", "setup", "lock"):
        assert f"\n  {command} " in result.stdout
    assert checkout.calls() == ""


@pytest.mark.parametrize("arguments", [[], ["frobnicate"]])
def test_a_missing_or_unknown_command_is_wrong_usage(checkout: Checkout, arguments: list[str]) -> None:
    result = checkout.dev(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert "Usage: ./dev" in result.stderr
    assert checkout.calls() == ""


def test_setup_installs_the_locked_packages_and_then_the_project(checkout: Checkout) -> None:
    result = checkout.dev("setup")
    assert result.stdout == "ready: .venv/bin/deskwire\n"
    uv_calls = [line for line in checkout.calls().splitlines() if line.startswith("uv ")]
    assert [re.sub(r" --python \S+", "", line) for line in uv_calls] == [
        "uv venv --quiet .venv",
        "uv pip sync --quiet --require-hashes locks/dev.txt",
        "uv pip install --quiet --offline --no-deps --no-build-isolation --editable .",
    ]


def test_nothing_is_run_or_written_when_nothing_changed(installed: Checkout) -> None:
    before = {path: path.lstat().st_mtime_ns for path in installed.root.rglob("*")}
    assert installed.dev("setup").returncode == 0
    assert installed.calls() == ""
    assert {path: path.lstat().st_mtime_ns for path in installed.root.rglob("*")} == before


def test_a_changed_pyproject_installs_only_the_project_again(installed: Checkout) -> None:
    with (installed.root / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    installed.dev("setup")
    calls = installed.calls()
    assert "uv pip install" in calls
    assert "uv venv" not in calls
    installed.dev("setup")
    assert installed.calls() == ""


@pytest.mark.parametrize("change", ["lock changed", "checkout moved", "python gone", "other python"])
def test_what_the_environment_rests_on_changing_makes_it_anew(installed: Checkout, change: str) -> None:
    venv = installed.root / ".venv"
    match change:
        case "lock changed":
            (installed.root / "locks" / "dev.txt").write_text("")
        case "checkout moved":
            installed.root = installed.root.rename(installed.root.with_name("moved"))
        case "python gone":
            (venv / "bin" / "python").unlink()
            (venv / "bin" / "python").symlink_to(venv / "gone")
        case "other python":
            (venv / "pyvenv.cfg").write_text("another version\n")
    installed.dev("setup")
    assert "uv venv" in installed.calls()


def test_an_interrupted_install_is_not_taken_for_a_whole_one(checkout: Checkout) -> None:
    process = checkout.start("setup", DURING_SYNC="sleep 60")
    wait_for_call(checkout, "uv pip sync")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    checkout.calls()
    assert checkout.dev("setup").returncode == 0
    assert "uv venv" in checkout.calls()


def test_calls_at_the_same_time_install_once(checkout: Checkout) -> None:
    processes = [checkout.start("setup", DURING_SYNC="sleep 0.3") for _ in range(4)]
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert checkout.calls().count("uv venv") == 1


def test_pip_is_tried_when_uv_fails_and_a_failure_of_both_starts_nothing(checkout: Checkout) -> None:
    (checkout.root / "locks" / "dev.txt").write_text(f"deskwire-absent==1 --hash=sha256:{'0' * 64}\n")
    result = checkout.dev("serve", DURING_SYNC="exit 1")
    assert result.returncode == 1
    assert "dev: uv could not install" in result.stderr
    assert "No matching distribution found for deskwire-absent" in result.stderr
    assert "dev: nothing was started" in result.stderr
    assert not (checkout.root / ".venv" / "installed").exists()


def test_no_python_on_the_path_is_said_in_a_line(checkout: Checkout) -> None:
    for name in ("cat", "cksum", "dirname", "grep", "sh"):
        (checkout.elsewhere / name).symlink_to(shutil.which(name) or name)
    result = checkout.dev("setup", PATH=str(checkout.elsewhere))
    assert result.returncode == 1
    assert result.stderr.startswith("dev: no Python 3.11 or newer on PATH;")
    assert result.stderr.count("\n") == 1


def test_serve_adds_demo_and_is_reached_by_signals(installed: Checkout) -> None:
    process = installed.start("serve", "--port", "0")
    assert process.stdout is not None
    assert process.stdout.readline() == "deskwire serve --demo --port 0\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=10) == 7


def test_pip_settings_become_those_of_uv(tmp_path: Path) -> None:
    configuration = (
        "global.index-url='one.example/simple'\n"
        "install.index-url='two.example/simple'\n"
        "global.cert='/etc/authority.pem'\n"
        "global.timeout='60'\n"
        f":env:.find-links='{tmp_path} {tmp_path / 'absent'}'\n"
    )
    assert environment.uv_settings(configuration) == {
        "UV_DEFAULT_INDEX": "two.example/simple",
        "SSL_CERT_FILE": "/etc/authority.pem",
        "UV_FIND_LINKS": str(tmp_path),
    }


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_file_holds_versions_and_hashes_and_no_address(lock: Path) -> None:
    pin = re.compile(r"[a-z0-9-]+(\[[a-z0-9,-]+\])?==\S+( ; [^\\]+)? \\")
    digest = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
    for line in lock.read_text().splitlines():
        assert pin.fullmatch(line) or digest.fullmatch(line), line
        assert "://" not in line


def test_the_lock_files_cover_every_dependency_at_the_same_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    run, dev = (pinned_versions(lock) for lock in LOCKS)
    assert {normal_name(dependency) for dependency in project["project"]["dependencies"]} <= run.keys()
    assert {normal_name(dependency) for dependency in project["dependency-groups"]["dev"]} <= dev.keys()
    assert run.items() <= dev.items()


def pinned_versions(lock: Path) -> dict[str, str]:
    pins = [line.split()[0].split("==") for line in lock.read_text().splitlines() if not line.startswith(" ")]
    return {normal_name(name): version for name, version in pins}


def normal_name(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()


def wait_for_call(checkout: Checkout, call: str) -> None:
    deadline = time.monotonic() + 20
    while not (checkout.calls_file.exists() and call in checkout.calls_file.read_text()):
        assert time.monotonic() < deadline, f"{call} was not called"
        time.sleep(0.01)
