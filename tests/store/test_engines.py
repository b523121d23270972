"""Both engines, as the tests open them: what is written is read, and each test begins empty."""

from collections.abc import Callable

import pytest

from deskwire.desk.reading import find_workspace
from deskwire.desk.workspaces import create_workspace
from deskwire.model.errors import DeskError
from deskwire.store.transaction import Tx
from tests.engines import AnyStore, Run


async def create(tx: Tx) -> str:
    return (await create_workspace(tx, "Bicycles", "owner@example.com")).workspace_id


def test_what_an_operation_writes_the_next_one_reads(run: Run, store: AnyStore) -> None:
    async def create_and_read() -> bytes:
        workspace_id = await store.write(create)
        return await store.read(lambda tx: find_workspace(tx, workspace_id))

    assert b'"created_at":"2026-01-01T00:00:00.000000Z"' in run(create_and_read())


def test_each_store_is_a_database_of_its_own(run: Run, open_store: Callable[[], AnyStore]) -> None:
    first, second = open_store(), open_store()
    workspace_id = run(first.write(create))
    with pytest.raises(DeskError, match="no such workspace"):
        run(second.read(lambda tx: find_workspace(tx, workspace_id)))
