"""The demo's webhooks: nothing is sent to them, and what is shown of them is of one piece."""

from functools import partial

from deskwire.demo.webhooks import RECEIVERS, make_webhooks
from deskwire.desk.checking import check
from deskwire.desk.delivery_logs import list_logs
from deskwire.desk.sealing import Seal
from deskwire.desk.webhooks import list_all
from deskwire.desk.workspaces import create_workspace
from deskwire.store.sqlite import SqliteStore
from deskwire.store.transaction import Tx
from tests.engines import Run

SEAL = Seal(b"s" * 32)


def test_the_webhooks_are_switched_off_and_have_logs(run: Run, sqlite_store: SqliteStore) -> None:
    async def make(tx: Tx) -> str:
        made = await create_workspace(tx, "Bicycles", "owner@example.com", None)
        await make_webhooks(tx, made.workspace_id, SEAL)
        return made.workspace_id

    workspace_id = run(sqlite_store.write(make))
    webhooks = [webhook for _, webhook in run(sqlite_store.read(lambda tx: list_all(tx)))]
    assert {webhook.name for webhook in webhooks} == {receiver.name for receiver in RECEIVERS}
    for webhook in webhooks:
        assert webhook.status == "inactive"
        assert len(SEAL.open(webhook.secret, webhook.id)) == 64
        page = run(
            sqlite_store.read(
                partial(list_logs, workspace_id=workspace_id, webhook_id=webhook.id, limit=50, offset=0)
            )
        )
        assert page.total == len(page.logged) == webhook.last_log_id
        times = [one.entry.created_at for one in page.logged]
        assert times == sorted(times, reverse=True)

    async def differences() -> list[str]:
        return [line async for line in check(sqlite_store, lambda *_: None)]

    assert run(differences()) == []
