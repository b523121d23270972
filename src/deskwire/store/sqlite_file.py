"""The files of an embedded database: opened, told apart from others, their faults put in words."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import apsw

from deskwire.model.errors import Unavailable
from deskwire.store.schema import sqlite_version, what_to_do

CACHE_KIB = 16 * 1024
# Each write touches pages all over the indexes, and what is not found here is read again.
WRITER_CACHE_KIB = 20 * 1024
# A large import makes the write-ahead log as large; it is cut to this when it is begun anew.
KEPT_WAL_BYTES = 64 * 1024 * 1024


class NotOurs(apsw.Error):
    """A database, but not one with the tables of this program."""


DAMAGED = (apsw.CorruptError, apsw.NotADBError)
# Another connection may be given what this one was refused.
REOPENING = (
    *DAMAGED,
    apsw.IOError,
    apsw.CantOpenError,
    apsw.ReadOnlyError,
    apsw.ProtocolError,
    apsw.ConnectionClosedError,
    NotOurs,
)
AWAY = (*REOPENING, apsw.BusyError, apsw.LockedError, apsw.FullError, apsw.NoMemError)

Identity = tuple[int, int]


class Presence(NamedTuple):
    """Which files stand at a path: the database itself and its write-ahead log."""

    database: Identity | None
    wal: Identity | None


class Signature(NamedTuple):
    """What changes when somebody writes into a file, or puts another in its place."""

    inode: int
    size: int
    modified_ns: int


def presence(path: Path) -> Presence:
    return Presence(identity(path), identity(beside(path, "-wal")))


def signature(path: Path) -> Signature | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return Signature(found.st_ino, found.st_size, found.st_mtime_ns)


def open_writer(path: Path, wait_s: float) -> apsw.Connection:
    connection = connect(path, wait_s)
    with closed_on_failure(connection):
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.pragma("foreign_keys", True)
        connection.pragma("journal_size_limit", KEPT_WAL_BYTES)
        connection.pragma("cache_size", -WRITER_CACHE_KIB)
        check_schema(path, connection)
    return connection


def open_reader(path: Path, wait_s: float) -> apsw.Connection:
    connection = connect(path, wait_s)
    with closed_on_failure(connection):
        connection.pragma("query_only", True)
    return connection


def check_schema(path: Path, connection: apsw.Connection) -> None:
    problem = what_to_do(sqlite_version(connection))
    if problem is not None:
        raise Unavailable(f"{path}: {problem}")


def connect(path: Path, wait_s: float) -> apsw.Connection:
    """`wait_s` is for who holds all locks: the last of others to leave, or one that restores a log."""
    connection = apsw.Connection(
        str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOMUTEX, statementcachesize=512
    )
    with closed_on_failure(connection):
        # Before anything is read: the log beside the file would be made as read-only as the file.
        if connection.readonly("main"):
            raise apsw.ReadOnlyError
        connection.set_busy_timeout(int(wait_s * 1000))
        # Otherwise a statement is planned anew for other values, which costs more than most statements do.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        connection.pragma("cache_size", -CACHE_KIB)
    return connection


@contextlib.contextmanager
def closed_on_failure(connection: apsw.Connection) -> Iterator[None]:
    """What the traceback of a failure keeps alive would keep its locks, too."""
    try:
        yield
    except BaseException:
        connection.close(True)
        raise


def settle(connection: apsw.Connection) -> bool:
    """Whether all that the write-ahead log held is in the database file now, and the log empty."""
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.Error:
        return False
    return True


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Processes that share a database and put its files in order do so one after the other."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def remove_left_behind(path: Path, wal: Identity | None) -> None:
    """Removes the log of a database that is gone, lest SQLite apply it to the one that took its place."""
    if wal is not None and identity(beside(path, "-wal")) == wal:
        for ending in ("-wal", "-shm"):
            beside(path, ending).unlink(missing_ok=True)


def identity(path: Path) -> Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def unavailable(path: Path, error: apsw.Error | OSError) -> Unavailable:
    return Unavailable(f"the database {path} cannot be used: {reason(path, error)}")


def reason(path: Path, error: apsw.Error | OSError) -> str:
    match error:
        case OSError():
            return f"{error.strerror or error}: {error.filename}" if error.filename else str(error)
        case apsw.BusyError() | apsw.LockedError():
            return "another process has locked it"
        case apsw.FullError():
            return "the disk is full"
        case apsw.NotADBError():
            return "the file is damaged, or is no SQLite database"
        case apsw.CorruptError():
            return f"the file is damaged ({error}); put a good copy in its place"
        case apsw.CantOpenError() if not path.exists() and path.parent.is_dir() and may_write(path):
            return "it is not there"
        case apsw.CantOpenError() if path.is_dir():
            return "it is a folder, not a file"
        case apsw.CantOpenError() if not may_write(path):
            return "permission denied; this program must be able to write to the file and its folder"
        case apsw.ReadOnlyError():
            return "it is read-only; this program must be able to write to the file and its folder"
        case _:
            return str(error)


def may_write(path: Path) -> bool:
    """As the effective user, as whom SQLite opens it."""
    return os.access(path.parent, os.W_OK | os.X_OK, effective_ids=True) and (
        not path.exists() or os.access(path, os.R_OK | os.W_OK, effective_ids=True)
    )
