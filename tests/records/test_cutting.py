"""The terms of a large import come from another process, and are the same whatever becomes of it."""

import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from deskwire.desk.importing import cutting
from deskwire.desk.importing.cutting import Cutter, Order, cut, open_cutter
from deskwire.model.lines import decode_line, pack
from deskwire.model.messages import MessageRecord
from deskwire.store.spool import SpooledLine
from tests.cli.program import environment
from tests.records.desk import Desk, as_line, channel, contact, message, uid

WORKSPACE = uid(7)
WORDS = ("order", "주문", "Straße", "KC-12")
BATCHES = [
    [SpooledLine(number, pack(decode_line(as_line(message(number, 1, content=words)))))]
    for number, words in enumerate(WORDS)
]
TERMS = [cut(Order(MessageRecord, WORKSPACE, [packed for _, packed in lines])) for lines in BATCHES]

# Ends as a killed import does; the other process holds the same standard error open as long as it lives.
KILLED = f"""
import os, signal
from pathlib import Path
from deskwire.desk.importing import cutting
from deskwire.model.messages import MessageRecord
from tests.records.test_cutting import BATCHES
cutting.LARGE_FILE_BYTES = 0
with cutting.open_cutter({WORKSPACE!r}, Path("/dev/null")) as cutter:
    for _ in cutter.each(MessageRecord, iter(BATCHES)):
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Those that were started, every file being a large one."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(POPEN(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(cutting, "LARGE_FILE_BYTES", 0)
    monkeypatch.setattr(subprocess, "Popen", start)
    return started


POPEN = subprocess.Popen


def all_terms(cutter: Cutter) -> Iterator[list[str]]:
    for at, (lines, terms) in enumerate(cutter.each(MessageRecord, iter(BATCHES))):
        assert lines is BATCHES[at]
        yield terms


def test_another_process_cuts_as_this_one_does(
    processes: list[subprocess.Popen[bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutting, "cut", pytest.fail)
    with open_cutter(WORKSPACE, tmp_path) as cutter:
        assert list(all_terms(cutter)) == TERMS
        assert processes[0].poll() is None
    assert processes[0].returncode == -signal.SIGKILL


@pytest.mark.parametrize("after", range(len(BATCHES)))
def test_when_it_is_killed_this_one_goes_on(
    processes: list[subprocess.Popen[bytes]], tmp_path: Path, after: int
) -> None:
    with open_cutter(WORKSPACE, tmp_path) as cutter:
        cut_so_far: list[list[str]] = []
        for terms in all_terms(cutter):
            if len(cut_so_far) == after:
                processes[0].kill()
                processes[0].wait()
            cut_so_far.append(terms)
        assert cut_so_far == TERMS


def test_when_it_is_killed_in_the_middle_of_an_answer_this_one_goes_on() -> None:
    ours, theirs = socket.socketpair()
    with Connection(ours.detach()) as connection, theirs:
        theirs.sendall(struct.pack("!i", 1_000) + b"half of it")
        theirs.shutdown(socket.SHUT_WR)
        assert list(all_terms(Cutter(WORKSPACE, connection))) == TERMS


def test_it_ends_with_an_import_that_is_killed() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", KILLED], env=environment(), capture_output=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (-signal.SIGKILL, b"")


def test_nothing_is_cut_of_nothing() -> None:
    assert list(Cutter(WORKSPACE).each(MessageRecord, iter([]))) == []


def test_a_large_import_is_found_as_a_small_one_is(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "LARGE_FILE_BYTES", 0)
    monkeypatch.setattr(cutting, "cut", pytest.fail)
    desk.load(
        contact(1, name="Kim"),
        contact(2, name="Ida", phone="+49 30 1234"),
        channel(3, contact_id=uid(1)),
        *(message(number, 3, content=f"order {number}") for number in range(10, 2_500)),
        message(5, 3, content="gone", deleted=True),
    )
    assert desk.differences() == []
