"""The development environment: .venv, filled from the lock file, and the lock files themselves."""

import ast
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

VENV = Path(".venv")
VENV_PYTHON = str(VENV / "bin" / "python")
DEV_LOCK = "locks/dev.txt"
RUN_LOCK = "locks/run.txt"
PROJECT_ALONE = ("--no-deps", "--no-build-isolation", "--editable", ".")

# What pip is told in its own configuration has to be told to uv in variables.
UV_VARIABLES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
}
OWN_UV_VARIABLES = {"UV_CONFIG_FILE", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL"}
OWN_UV_FILES = (Path("/etc/uv/uv.toml"), Path.home() / ".config" / "uv" / "uv.toml")

COMPILING = (
    "--universal",
    "--python-version=3.11",
    "--generate-hashes",
    "--no-header",
    "--no-annotate",
)


class Installer(NamedTuple):
    """A tool that makes .venv and fills it: by these commands, in this environment."""

    name: str
    fill: list[list[str]]
    add_project: list[str]
    environment: dict[str, str]


def main(arguments: Sequence[str]) -> int:
    match arguments:
        case ["install", ("all" | "project") as packages]:
            return 0 if install(whole=packages == "all") else 1
        case ["lock", *options]:
            return 0 if lock(options) else 1
    say("usage: environment.py install (all | project), or environment.py lock [OPTIONS]")
    return 2


def install(*, whole: bool) -> bool:
    """Fill .venv: from nothing, or only with the project itself when the locked packages are in place."""
    uv = shutil.which("uv")
    if uv:
        if install_with(uv_installer(uv), whole=whole):
            return True
        say("uv could not install (see above); going on with venv and pip")
    whole = whole or bool(uv) or not (VENV / "bin" / "pip").exists()
    if install_with(pip_installer(), whole=whole):
        return True
    say("venv and pip could not install (see above)")
    return False


def lock(options: Sequence[str]) -> bool:
    """Compile both lock files; the development one comes first and binds the other to the same versions."""
    uv = shutil.which("uv")
    if not uv:
        say("compiling the lock files needs uv on PATH")
        return False
    compile_project = [uv, "pip", "compile", "--quiet", *COMPILING, *options, "pyproject.toml"]
    commands = [
        [*compile_project, "--group", "dev", "--output-file", DEV_LOCK],
        [*compile_project, "--constraints", DEV_LOCK, "--output-file", RUN_LOCK],
    ]
    return run_all(commands, uv_environment())


def install_with(installer: Installer, *, whole: bool) -> bool:
    if not whole:
        return run_all([installer.add_project], installer.environment)
    say(f"installing into {VENV} with {installer.name}; without a filled cache this takes a minute or so")
    shutil.rmtree(VENV, ignore_errors=True)
    return run_all([*installer.fill, installer.add_project], installer.environment)


def uv_installer(uv: str) -> Installer:
    to_venv = ["--quiet", "--python", VENV_PYTHON]
    return Installer(
        name="uv",
        fill=[
            [uv, "venv", "--quiet", "--python", sys.executable, str(VENV)],
            [uv, "pip", "sync", *to_venv, "--require-hashes", DEV_LOCK],
        ],
        add_project=[uv, "pip", "install", *to_venv, "--offline", *PROJECT_ALONE],
        environment=uv_environment(),
    )


def pip_installer() -> Installer:
    pip = [VENV_PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
    return Installer(
        name="venv and pip",
        fill=[
            [sys.executable, "-m", "venv", str(VENV)],
            [*pip, "install", "--no-deps", "--require-hashes", "--requirement", DEV_LOCK],
        ],
        add_project=[*pip, "install", "--no-index", *PROJECT_ALONE],
        environment=dict(os.environ),
    )


def uv_environment() -> dict[str, str]:
    """Return this process's variables, and pip's settings as uv's where uv has none of its own."""
    own = dict(os.environ)
    if OWN_UV_VARIABLES & own.keys() or any(path.exists() for path in OWN_UV_FILES):
        return own
    listing = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    )
    return uv_settings(listing.stdout) | own


def uv_settings(pip_configuration: str) -> dict[str, str]:
    """Translate the lines of `pip config list`, of which a later section counts more than an earlier one."""
    settings: dict[str, str] = {}
    for section in ("global.", "install.", ":env:."):
        for line in pip_configuration.splitlines():
            name, equals, quoted = line.removeprefix(section).partition("=")
            if line.startswith(section) and equals and name in UV_VARIABLES:
                settings[UV_VARIABLES[name]] = uv_value(name, ast.literal_eval(quoted))
    return {variable: value for variable, value in settings.items() if value}


def uv_value(name: str, value: str) -> str:
    if name == "find-links":
        # pip passes over a folder that is not there; uv stops at it.
        return ",".join(place for place in value.split() if "://" in place or Path(place).exists())
    return " ".join(value.split())


def run_all(commands: Sequence[list[str]], environment: dict[str, str]) -> bool:
    return all(subprocess.run(command, env=environment, check=False).returncode == 0 for command in commands)


def say(line: str) -> None:
    print(f"dev: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is no fault to show a traceback for
    sys.exit(main(sys.argv[1:]))
