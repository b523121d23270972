"""Accepted events are counted when they are committed, and only then."""

import asyncio

import pytest

from deskwire.store.transaction import Tx
from tests.engines import AnyStore, Run


@pytest.fixture
def counted(store: AnyStore) -> list[int]:
    found: list[int] = []
    store.tally.add = found.append
    return found


async def accept_two(tx: Tx) -> None:
    tx.count_event()
    tx.count_event()


async def fail(tx: Tx) -> None:
    tx.count_event()
    raise KeyError("it failed")


def test_the_events_of_a_committed_write_are_counted(run: Run, store: AnyStore, counted: list[int]) -> None:
    run(store.write(accept_two))
    assert sum(counted) == 2


def test_those_of_a_write_that_failed_are_not(run: Run, store: AnyStore, counted: list[int]) -> None:
    async def write_together() -> None:
        writes = [store.write(each) for each in (accept_two, fail, accept_two)]
        await asyncio.gather(*writes, return_exceptions=True)

    run(write_together())
    assert sum(counted) == 4
