"""Desks to import into: one on each engine, and one on SQLite alone where the engine does not matter."""

from collections.abc import Callable
from pathlib import Path

import pytest

from deskwire.store.sqlite import SqliteStore
from tests.engines import AnyStore, Run
from tests.records.desk import Desk


@pytest.fixture
def desk(run: Run, store: AnyStore, tmp_path: Path) -> Desk:
    return Desk(run, store, tmp_path / "desk")


@pytest.fixture
def sqlite_desk(run: Run, sqlite_store: SqliteStore, tmp_path: Path) -> Desk:
    return Desk(run, sqlite_store, tmp_path / "desk")


@pytest.fixture
def open_desk(run: Run, open_store: Callable[[], AnyStore], tmp_path: Path) -> Callable[[], Desk]:
    numbers = iter(range(100))
    return lambda: Desk(run, open_store(), tmp_path / f"desk-{next(numbers)}")
