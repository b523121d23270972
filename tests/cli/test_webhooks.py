"""`deskwire webhook list | show | logs | toggle`."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from sqlalchemy import insert

from deskwire.desk.webhook_rows import put_webhook
from deskwire.model.moments import Moment
from deskwire.model.webhooks import WebhookRecord
from deskwire.store.clock import system_clock
from deskwire.store.sqlite import SqliteStore
from deskwire.store.statement import Statement
from deskwire.store.tables import DELIVERIES, DELIVERY_LOGS
from deskwire.store.transaction import Tx
from tests.cli.conftest import Deskwire

WEBHOOK = "018f3e1c-7c2a-7b11-9a53-0000000000b1"
NOBODY = "018f3e1c-7c2a-7b11-9a53-00000000ffff"
NOW = system_clock()
MINUTE_US = 60 * 1_000_000
PUT_LOG = Statement(insert(DELIVERY_LOGS))
PUT_DELIVERY = Statement(insert(DELIVERIES))


def write(folder: Path, operation: Callable[[Tx], Awaitable[Any]]) -> None:
    async def run() -> None:
        store = SqliteStore(folder / "deskwire.db", system_clock)
        await store.write(operation)
        await store.close()

    asyncio.run(run())


@pytest.fixture
def webhook(folder: Path, workspace: str) -> str:
    """In error since a minute, with an attempt, a test and two events that are held."""

    async def fill(tx: Tx) -> None:
        since = Moment(NOW - MINUTE_US)
        record = WebhookRecord(
            id=WEBHOOK,
            name="Order\x1b[31m desk",
            url="https://hooks.example.com/in",
            event_filters=("message.created",),
            status="error",
            secret=b"sealed",
            failure_count=10,
            failing_since=since,
            error_message="the receiver answered 500",
            last_log_id=2,
            created_at=since,
            updated_at=since,
        )
        await put_webhook(tx, workspace, record)
        for id, is_test, success in ((1, False, False), (2, True, True)):
            await tx.run(
                PUT_LOG,
                workspace_id=workspace,
                webhook_id=WEBHOOK,
                id=id,
                event_id=None,
                event_type="message.created",
                success=success,
                http_status=204 if success else 500,
                error_message=None if success else "the receiver answered 500",
                duration_ms=1_234,
                is_test=is_test,
                created_at=since + id,
            )
        for number in range(2):
            await tx.run(
                PUT_DELIVERY,
                workspace_id=workspace,
                webhook_id=WEBHOOK,
                event_id=f"{NOBODY[:-1]}{number}",
                order_key=NOBODY,
                accepted_at=NOW - number * MINUTE_US,
                due_at=NOW + 1_000 * MINUTE_US,
                held=True,
                counts=False,
                untried=False,
                cycles=3,
                holder=None,
                fence=0,
            )

    write(folder, fill)
    return WEBHOOK


def test_the_list_has_each_webhook_without_its_secret(
    deskwire: Deskwire, workspace: str, webhook: str
) -> None:
    (shown,) = deskwire("webhook", "list", "--json").json["webhooks"]
    assert (shown["id"], shown["workspace_id"], shown["status"]) == (webhook, workspace, "error")
    assert "secret" not in shown
    assert deskwire("webhook", "list", "--workspace", workspace, "--json").json["webhooks"] == [shown]
    listed = deskwire("webhook", "list")
    assert webhook in listed.out and "https://hooks.example.com/in" in listed.out
    assert "\x1b" not in listed.out


def test_an_empty_list_says_so(deskwire: Deskwire, workspace: str) -> None:
    assert deskwire("webhook", "list").out == "There are no webhooks.\n"
    assert deskwire("webhook", "list", "--json").json == {"webhooks": []}
    assert deskwire("webhook", "list", "--workspace", NOBODY).code == 1


def test_show_tells_how_it_fares_and_what_is_held(deskwire: Deskwire, webhook: str) -> None:
    shown = deskwire("webhook", "show", webhook, "--json").json
    assert (shown["waiting"], shown["held"]) == (0, 2)
    assert shown["failure_count"] == 10
    assert shown["failing_since"] == shown["oldest_accepted_at"]
    text = deskwire("webhook", "show", webhook)
    assert text.code == 0
    for words in ("error", "the receiver answered 500", "2 events", "0 events"):
        assert words in text.out


def test_the_log_is_newest_first_and_marks_tests(deskwire: Deskwire, webhook: str) -> None:
    newest, oldest = deskwire("webhook", "logs", webhook).out.splitlines()
    assert newest.endswith("#2 message.created (test): delivered, 204 in 1,234 ms")
    assert oldest.endswith("#1 message.created: failed, 500 the receiver answered 500 in 1,234 ms")
    page = deskwire("webhook", "logs", webhook, "--limit", 1, "--json").json
    assert page["total"] == 2
    assert [(entry["id"], entry["is_test"]) for entry in page["entries"]] == [(2, True)]
    assert "There are 2 in all" in deskwire("webhook", "logs", webhook, "--limit", 1).out


def test_toggling_activates_and_deactivates(deskwire: Deskwire, webhook: str) -> None:
    toggled = deskwire("webhook", "toggle", webhook, "--json").json
    assert toggled == {"id": webhook, "status": "active", "failure_count": 0}
    shown = deskwire("webhook", "show", webhook, "--json").json
    assert (shown["status"], shown["waiting"], shown["held"]) == ("active", 2, 0)
    assert "inactive; 2 events are held" in deskwire("webhook", "toggle", webhook).out
    assert "active; 2 events are waiting" in deskwire("webhook", "toggle", webhook).out


@pytest.mark.parametrize("command", ["show", "logs", "toggle"])
def test_a_webhook_that_is_not_there_is_a_failure(deskwire: Deskwire, webhook: str, command: str) -> None:
    gone = deskwire("webhook", command, NOBODY)
    assert (gone.code, "no such webhook" in gone.complaint) == (1, True)
    assert deskwire("webhook", command, "x").code == 2


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE webhooks SET kind_bits = 2", "kind_bits is 2 and should be 1"),
        ("UPDATE webhooks SET failure_count = 9", "document has failure_count 10 and should have 9"),
        ("UPDATE webhooks SET last_log_id = 1", "last_log_id is 1 and should be 2"),
        ("UPDATE webhooks SET event_filters = '[\"x\"]'", "event_filters cannot be read"),
        ("UPDATE webhooks SET name = name", f"event_id is {NOBODY[:-1]}0 and should be the id of a row"),
        (
            "INSERT INTO events SELECT workspace_id, event_id, 'contact.created', event_id, 7, x'7b7d', NULL "
            "FROM deliveries",
            "and should be 7",
        ),
    ],
)
def test_check_looks_webhooks_over(
    deskwire: Deskwire, webhook: str, folder: Path, statement: str, words: str
) -> None:
    connection = apsw.Connection(str(folder / "deskwire.db"))
    connection.execute(statement)
    connection.close()
    checked = deskwire("check")
    assert checked.code == 1
    assert words in checked.out


def test_a_delivery_whose_webhook_was_deleted_is_no_difference(
    deskwire: Deskwire, webhook: str, folder: Path
) -> None:
    connection = apsw.Connection(str(folder / "deskwire.db"))
    connection.execute("DELETE FROM webhooks; UPDATE deliveries SET accepted_at = 7")
    connection.close()
    assert deskwire("check").code == 0


def test_an_export_has_nothing_of_webhooks(deskwire: Deskwire, webhook: str, workspace: str) -> None:
    exported = deskwire("export", "--workspace", workspace)
    assert exported.code == 0
    assert "hooks.example.com" not in exported.out and webhook not in exported.out
