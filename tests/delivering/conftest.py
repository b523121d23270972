"""A workspace with webhooks and events in a real database, seen through a transaction at a time."""

import pytest

from tests.delivering.office import Office
from tests.engines import AnyStore, Run, SetClock


@pytest.fixture
def office(store: AnyStore, run: Run, clock: SetClock) -> Office:
    return Office(store, run, clock)
