"""Webhooks and entries of their logs, put into a desk by hand."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import insert

from deskwire.desk.webhook_rows import load_webhook, put_webhook
from deskwire.model.moments import Moment
from deskwire.model.webhooks import WebhookRecord
from deskwire.store.statement import Statement, Value
from deskwire.store.tables import DELIVERIES, DELIVERY_LOGS
from deskwire.store.transaction import Tx
from tests.api.desk import Desk
from tests.api.records import new_id
from tests.engines import NEW_YEAR

URL = "https://hooks.example.com/in"
SECRET = "5e" * 32
TIMES = {"created_at", "updated_at", "last_delivered_at", "failing_since", "noticed_at"}
PUT_LOG = Statement(insert(DELIVERY_LOGS))
PUT_DELIVERY = Statement(insert(DELIVERIES))


def add_webhook(desk: Desk, **fields: Any) -> str:
    id = fields.pop("id", None) or new_id()
    times = {name: Moment(value) for name, value in fields.items() if name in TIMES and value is not None}
    given = {"name": "Receiver", "url": URL, "event_filters": (), **fields, **times}
    webhook = WebhookRecord(
        **{
            "id": id,
            "secret": desk.house.seal.seal(SECRET.encode(), id),
            "created_at": NEW_YEAR,
            "updated_at": NEW_YEAR,
            **given,
        }
    )
    desk.house.run(desk.house.store.write(lambda tx: put_webhook(tx, desk.workspace_id, webhook)))
    return id


def kept_webhook(desk: Desk, id: str) -> WebhookRecord:
    found = desk.house.run(desk.house.store.read(lambda tx: load_webhook(tx, desk.workspace_id, id)))
    assert found is not None
    return found


def log_entry(desk: Desk, webhook_id: str, id: int, created_at: int, **fields: Value) -> dict[str, Value]:
    return {
        "workspace_id": desk.workspace_id,
        "webhook_id": webhook_id,
        "id": id,
        "event_id": None,
        "event_type": "message.created",
        "success": True,
        "http_status": 204,
        "error_message": None,
        "duration_ms": 12,
        "is_test": False,
        "created_at": created_at,
        **fields,
    }


def add_logs(desk: Desk, entries: Iterable[dict[str, Value]]) -> None:
    async def write(tx: Tx) -> None:
        await tx.many(PUT_LOG, entries)

    desk.house.run(desk.house.store.write(write))


def add_delivery(desk: Desk, webhook_id: str, **fields: Value) -> str:
    event_id = str(fields.pop("event_id", None) or new_id())
    row: dict[str, Value] = {
        "workspace_id": desk.workspace_id,
        "webhook_id": webhook_id,
        "event_id": event_id,
        "order_key": new_id(),
        "accepted_at": NEW_YEAR,
        "due_at": NEW_YEAR,
        "held": False,
        "counts": True,
        "untried": True,
        "cycles": 0,
        "holder": None,
        "fence": 0,
        **fields,
    }

    async def write(tx: Tx) -> None:
        await tx.run(PUT_DELIVERY, **row)

    desk.house.run(desk.house.store.write(write))
    return event_id
