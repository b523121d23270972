"""Other processes that the tests of the engines start, stop and kill."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]

LOCKING = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
for statement in sys.argv[2:]:
    connection.execute(statement).fetchall()
print("locked", flush=True)
sys.stdin.read()
"""


def start(*arguments: str) -> "subprocess.Popen[str]":
    paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )


@contextmanager
def running(*arguments: str) -> Iterator["subprocess.Popen[str]"]:
    process = start(*arguments)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def locked(path: Path, *statements: str) -> Iterator[None]:
    """Another process holds the locks that the statements take."""
    with running("-c", LOCKING, str(path), *statements) as process:
        assert process.stdout and process.stdout.readline() == "locked\n"
        yield
