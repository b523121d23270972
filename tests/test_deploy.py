"""What is in deploy/ speaks of this program: its commands, its settings, its lock file."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from deskwire.cli.commands import build_commands
from deskwire.wiring.program import Door
from deskwire.wiring.settings import Settings, variable_of

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))
CONTAINER = (DEPLOY / "Containerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
PROGRAM = "/opt/deskwire/bin/deskwire"
# What systemd makes of the safety of a unit, where 100 is none at all.
EXPOSURE = 20

COMMANDS = build_commands(Door().options).commands


def test_every_setting_that_is_named_exists() -> None:
    known = {variable_of(each) for each in fields(Settings)}
    named = {name for file in DEPLOY.iterdir() for name in re.findall(r"DESKWIRE_[A-Z_]+", file.read_text())}
    assert named <= known
    assert {"DESKWIRE_DATABASE_URL", "DESKWIRE_SECRET_KEY", "DESKWIRE_DATA_DIR"} <= named


def command_lines() -> Iterator[Sequence[str]]:
    for unit in UNITS:
        yield (setting(unit, "ExecStart").removeprefix(PROGRAM)).split()
    yield json.loads(instruction("CMD"))
    for service in COMPOSE["services"].values():
        yield from [service["command"]] if service["image"] == "deskwire" else []


def setting(unit: Path, name: str) -> str:
    (found,) = re.findall(rf"^{name}=(.*)$", unit.read_text(), re.MULTILINE)
    return str(found)


def instruction(name: str) -> str:
    (found,) = re.findall(rf"^{name} (.*)$", CONTAINER, re.MULTILINE)
    return str(found)


@pytest.mark.parametrize("line", list(command_lines()), ids=" ".join)
def test_every_command_that_is_run_exists(line: Sequence[str]) -> None:
    name, *arguments = line
    if name == "worker" and name not in COMMANDS:
        pytest.skip("deliveries have no process of their own yet")
    known = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert {each for each in arguments if each.startswith("--")} <= known


@pytest.mark.parametrize("page", ["operations.md", "scaling.md"])
def test_every_command_of_the_documentation_exists(page: str) -> None:
    text = (ROOT / "docs" / page).read_text()
    named = set(re.findall(r"(?:^\$ |`)deskwire ([a-z]+)", text, re.MULTILINE))
    assert named
    assert named <= COMMANDS.keys() | {"worker"}


def test_the_units_are_hardened_alike() -> None:
    assert len(UNITS) == 2
    served, worker = (unit.read_text().partition("\n\n[Install]")[0].split("\n\n")[-1] for unit in UNITS)
    assert served == worker
    assert "DynamicUser=yes" in served and "ProtectSystem=strict" in served


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze is installed")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_understands_the_units_and_finds_them_safe(unit: Path, tmp_path: Path) -> None:
    copy = tmp_path / unit.name.replace("@", "@1")
    copy.write_text(unit.read_text().replace(PROGRAM, "/bin/true"))
    for verb in (
        ["verify", "--man=no"],
        ["security", "--offline=yes", f"--threshold={EXPOSURE}", "--no-pager"],
    ):
        done = subprocess.run(["systemd-analyze", *verb, str(copy)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert copy.name not in done.stderr


def test_the_container_is_built_from_the_lock_file_and_runs_as_an_ordinary_user() -> None:
    sources = [words.split()[0] for words in re.findall(r"^COPY (.*)$", CONTAINER, re.MULTILINE)]
    assert sources == ["locks/run.txt", "src/deskwire"]
    allowed = (DEPLOY / "Containerfile.dockerignore").read_text().split()
    assert all((ROOT / each).exists() and f"!{each}" in allowed for each in sources)
    assert "--require-hashes --requirement /run.txt" in CONTAINER
    assert int(instruction("USER")) > 0
    assert "/readyz" in CONTAINER


def test_everything_waits_for_the_migration_and_is_asked_whether_it_is_well() -> None:
    services = COMPOSE["services"]
    assert services["migrate"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert services["database"]["healthcheck"]["test"]
    for name in ("api", "worker"):
        assert services[name]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}
        assert services[name]["environment"] == services["migrate"]["environment"]


def test_no_secret_is_in_a_file_of_the_repository() -> None:
    example = dict(
        line.split("=", 1)
        for line in (DEPLOY / "env.example").read_text().splitlines()
        if not line.startswith("#")
    )
    assert example["POSTGRES_PASSWORD"] == example["DESKWIRE_SECRET_KEY"] == ""
    named = set(re.findall(r"\$\{([A-Z_]+)", (DEPLOY / "compose.yaml").read_text()))
    assert named == example.keys()
