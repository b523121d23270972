"""The terms by which records are found: of a large import, cut by another process while this one writes."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from deskwire.model.contacts import ContactRecord
from deskwire.model.lines import unpack
from deskwire.model.messages import MessageRecord
from deskwire.model.search import contact_terms, message_terms
from deskwire.store.spool import SpooledLine

# A smaller file is imported before the process could be of use.
LARGE_FILE_BYTES = 8 * 1024 * 1024
# What a connection raises whose other end is gone; in the middle of a message it is an OSError.
ENDED = (EOFError, OSError)
PROGRAM = "from deskwire.desk.importing.cutting import serve; serve()"

TERMS: dict[type, Callable[[str, Any], str]] = {
    ContactRecord: contact_terms,
    MessageRecord: message_terms,
}


class Order(NamedTuple):
    """Packed records whose terms are wanted, in their order."""

    struct: type
    workspace_id: str
    packed: list[bytes]


class Cutter:
    """With nobody at the other end of a connection it cuts by itself."""

    def __init__(self, workspace_id: str, connection: Connection | None = None) -> None:
        self._workspace_id = workspace_id
        self._connection = connection

    def each(
        self, struct: type, batches: Iterator[list[SpooledLine]]
    ) -> Iterator[tuple[list[SpooledLine], list[str]]]:
        """Each batch with its terms; those of the next are cut while somebody works with one."""
        batch = next(batches, None)
        order = self._give(struct, batch)
        while batch is not None:
            terms = self._take(order)
            following = next(batches, None)
            order = self._give(struct, following)
            yield batch, terms
            batch = following

    def _give(self, struct: type, batch: Sequence[SpooledLine] | None) -> Order:
        order = Order(struct, self._workspace_id, [packed for _, packed in batch or ()])
        if self._connection is not None and order.packed:
            try:
                self._connection.send(order)
            except ENDED:
                self._connection = None
        return order

    def _take(self, order: Order) -> list[str]:
        if self._connection is not None:
            try:
                terms: list[str] = self._connection.recv()
                return terms
            except ENDED:
                # Somebody killed it, which is no reason to give up.
                self._connection = None
        return cut(order)


@contextmanager
def open_cutter(workspace_id: str, path: Path) -> Iterator[Cutter]:
    if path.stat().st_size < LARGE_FILE_BYTES:
        yield Cutter(workspace_id)
        return
    ours, theirs = socket.socketpair()
    with Connection(ours.detach()) as connection:
        with theirs:
            # In a group of its own: what a terminal's Ctrl-C ends is this process, and with it that one.
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM],
                stdin=theirs.fileno(),
                process_group=0,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
        try:
            yield Cutter(workspace_id, connection)
        finally:
            process.kill()
            process.wait()


def cut(order: Order) -> list[str]:
    terms = TERMS[order.struct]
    return [terms(order.workspace_id, unpack(order.struct, packed)) for packed in order.packed]


def serve() -> None:
    """The whole life of the process, which ends when the import does."""
    with Connection(sys.stdin.fileno()) as connection, suppress(*ENDED):
        while True:
            connection.send(cut(connection.recv()))
