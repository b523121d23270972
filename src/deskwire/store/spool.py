"""Lines of a file put aside by kind in a temporary database, to be taken up in the order of time."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import apsw

from deskwire.model.limits import RECORD_BATCH, RECORD_BATCH_BYTES
from deskwire.store.statement import json_list

CACHE_KIB = 16 * 1024


class SpooledLine(NamedTuple):
    number: int
    packed: bytes


class StoredBytes(NamedTuple):
    """Where an attachment's new bytes are, how many they are, and where the old ones were."""

    id: str
    file_key: str
    size_bytes: int
    replaced_key: str | None


class IdSet:
    """A set of ids that may be large."""

    def __init__(self, connection: apsw.Connection, table: str) -> None:
        self._connection = connection
        self._table = table
        connection.execute(f"CREATE TABLE {table} (id TEXT PRIMARY KEY) WITHOUT ROWID")

    def add(self, ids: Iterable[str]) -> None:
        self._connection.executemany(f"INSERT OR IGNORE INTO {self._table} VALUES (?)", [(id,) for id in ids])

    def among(self, ids: Sequence[str]) -> set[str]:
        """Those of the ids that are in it."""
        found = self._connection.execute(
            f"SELECT id FROM {self._table} WHERE id IN (SELECT value FROM json_each(?))", (json_list(ids),)
        )
        return {str(id) for (id,) in found}

    def batches(self) -> Iterator[list[str]]:
        after = ""
        while True:
            rows = self._connection.execute(
                f"SELECT id FROM {self._table} WHERE id > ? ORDER BY id LIMIT ?", (after, RECORD_BATCH)
            ).fetchall()
            if not rows:
                return
            yield [str(id) for (id,) in rows]
            after = str(rows[-1][0])


class Spool:
    """Its memory stays as it is, however long the file: what it holds is on disk until it is closed.

    Beside the lines it remembers `suspects`, ids whose own line is bad; `touched`, channels to be counted
    afresh; and `left`, channels that a message has left.
    """

    def __init__(self, kinds: Iterable[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="deskwire-import-")
        self._connection = apsw.Connection(str(Path(self._folder.name) / "spool.db"))
        self._waiting: dict[str, list[tuple[str, int, int, bytes]]] = {kind: [] for kind in kinds}
        self._waiting_bytes = 0
        self.size = 0
        for setting in ("journal_mode = off", "synchronous = off", "locking_mode = exclusive"):
            self._connection.execute(f"PRAGMA {setting}")
        self._connection.execute(f"PRAGMA cache_size = {-CACHE_KIB}")
        self._connection.execute("BEGIN")
        for kind in self._waiting:
            # A later line of the same id replaces the earlier one, as it would one imported before.
            self._connection.execute(
                f"CREATE TABLE {kind}_lines (id TEXT NOT NULL, created_at INTEGER NOT NULL, "
                "number INTEGER NOT NULL, packed BLOB NOT NULL, UNIQUE (id) ON CONFLICT REPLACE)"
            )
        self._connection.execute(
            "CREATE TABLE stored (id TEXT PRIMARY KEY, file_key TEXT, size_bytes INTEGER, replaced_key TEXT)"
        )
        self.suspects = IdSet(self._connection, "suspects")
        self.touched = IdSet(self._connection, "touched")
        self.left = IdSet(self._connection, "left_channels")

    def __enter__(self) -> "Spool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close(True)
        self._folder.cleanup()

    def add(self, kind: str, id: str, created_at: int, number: int, packed: bytes) -> None:
        waiting = self._waiting[kind]
        waiting.append((id, created_at, number, packed))
        self._waiting_bytes += len(packed)
        self.size += len(packed)
        if len(waiting) >= RECORD_BATCH or self._waiting_bytes >= RECORD_BATCH_BYTES:
            self.settle()

    def settle(self) -> None:
        """Sees what was added into the tables; to be called after the last line."""
        for kind, waiting in self._waiting.items():
            self._connection.executemany(f"INSERT INTO {kind}_lines VALUES (?, ?, ?, ?)", waiting)
            waiting.clear()
        self._waiting_bytes = 0

    def count(self, kind: str) -> int:
        found = self._connection.execute(f"SELECT count(*) FROM {kind}_lines").get
        assert isinstance(found, int)
        return found

    def batches(self, kind: str) -> Iterator[list[SpooledLine]]:
        """The lines of a kind, oldest record first."""
        batch: list[SpooledLine] = []
        size = 0
        for number, packed in self._connection.execute(
            f"SELECT number, packed FROM {kind}_lines ORDER BY created_at, id"
        ):
            assert isinstance(number, int) and isinstance(packed, bytes)
            batch.append(SpooledLine(number, packed))
            size += len(packed)
            if len(batch) >= RECORD_BATCH or size >= RECORD_BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def numbers(self, kind: str, ids: Sequence[str]) -> dict[str, int]:
        """The numbers of the lines that give these ids, as far as there are any."""
        found = self._connection.execute(
            f"SELECT id, number FROM {kind}_lines WHERE id IN (SELECT value FROM json_each(?))",
            (json_list(ids),),
        )
        return {str(id): int(str(number)) for id, number in found}

    def note_stored(self, stored: StoredBytes) -> None:
        self._connection.execute("INSERT INTO stored VALUES (?, ?, ?, ?)", stored)

    def stored(self, ids: Sequence[str]) -> dict[str, StoredBytes]:
        found = self._connection.execute(
            "SELECT * FROM stored WHERE id IN (SELECT value FROM json_each(?))", (json_list(ids),)
        )
        return {one.id: one for one in map(stored_bytes, found)}

    def all_stored(self) -> Iterator[StoredBytes]:
        return map(stored_bytes, self._connection.execute("SELECT * FROM stored"))


def stored_bytes(row: tuple[object, ...]) -> StoredBytes:
    id, file_key, size_bytes, replaced_key = row
    assert isinstance(size_bytes, int)
    return StoredBytes(
        str(id), str(file_key), size_bytes, None if replaced_key is None else str(replaced_key)
    )
