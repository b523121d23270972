"""Trimming: what has expired goes, in small steps, and nothing else does."""

from collections.abc import Callable

import pytest
from sqlalchemy import Table, bindparam, func, insert, select

from deskwire.desk import trimming
from deskwire.desk.trimming import trim_workspace
from deskwire.model.ids import first_id_at
from deskwire.model.limits import (
    DELIVERY_LOG_LIFETIME_US,
    EVENT_LIFETIME_US,
    IDEMPOTENT_ANSWER_LIFETIME_US,
    NOTICE_LIFETIME_US,
)
from deskwire.model.moments import Moment
from deskwire.store.statement import Statement, Value
from deskwire.store.tables import DELIVERY_LOGS, EVENTS, IDEMPOTENT_ANSWERS, NOTICES
from deskwire.store.transaction import Tx
from tests.api.desk import Desk, House
from tests.api.records import new_id
from tests.api.webhooks import add_logs, add_webhook, log_entry
from tests.engines import NEW_YEAR

TABLES: list[tuple[Table, str, int]] = [
    (EVENTS, "accepted_at", EVENT_LIFETIME_US),
    (NOTICES, "created_at", NOTICE_LIFETIME_US),
    (IDEMPOTENT_ANSWERS, "created_at", IDEMPOTENT_ANSWER_LIFETIME_US),
    (DELIVERY_LOGS, "created_at", DELIVERY_LOG_LIFETIME_US),
]
INSERT = {table: Statement(insert(table)) for table, _, _ in TABLES}
COUNT = {
    table: Statement(select(func.count()).where(table.c.workspace_id == bindparam("workspace_id")))
    for table, _, _ in TABLES
}
each_table = pytest.mark.parametrize(("table", "time", "lifetime_us"), TABLES, ids=lambda one: str(one))


@pytest.fixture
def house(own_house: House) -> House:
    """One that no other test looks over, since no service would have written what is trimmed here."""
    return own_house


def row(desk: Desk, table: Table, time: str, number: int, at: int) -> dict[str, Value]:
    """With an id as it is made at that moment."""
    texts = dict.fromkeys(("kind", "route", "subject", "text", "event_type"), "x")
    blobs = dict.fromkeys(("body", "answer", "request_hash"), b"{}")
    ids = {"subject_id": new_id(), "webhook_id": desk.workspace_id, "token_id": desk.workspace_id}
    numbers = {"duration_ms": 1, "mail_attempts": 0, "success": True, "is_test": False}
    id: Value = number
    if table is not DELIVERY_LOGS:
        id = first_id_at(Moment(at))[:24] + f"{number:012x}"
    known: dict[str, Value] = {**texts, **blobs, **ids, **numbers, "id": id, "key": str(number), time: at}
    known["workspace_id"] = desk.workspace_id
    return {column.name: known.get(column.name) for column in table.columns}


def put(desk: Desk, table: Table, rows: list[dict[str, Value]]) -> None:
    async def write(tx: Tx) -> None:
        await tx.many(INSERT[table], rows)

    desk.house.run(desk.house.store.write(write))


def count(desk: Desk, table: Table) -> object:
    found = desk.house.run(
        desk.house.store.read(lambda tx: tx.one(COUNT[table], workspace_id=desk.workspace_id))
    )
    assert found is not None
    return found[0]


def trim(desk: Desk, pause: Callable[[], None] = lambda: None) -> int:
    async def rest() -> None:
        pause()

    return desk.house.run(trim_workspace(desk.house.store, desk.workspace_id, rest))


@each_table
def test_what_has_expired_goes_and_what_has_not_stays(
    desk: Desk, other_desk: Desk, table: Table, time: str, lifetime_us: int
) -> None:
    expired = NEW_YEAR - lifetime_us
    for each in (desk, other_desk):
        put(each, table, [row(each, table, time, n, expired - 3_000 + 1_000 * n) for n in (1, 2, 3, 4, 5)])
    assert trim(desk) == 3
    assert (count(desk, table), count(other_desk, table)) == (2, 5)
    assert trim(desk) == 0


@each_table
def test_much_goes_in_steps_with_pauses(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, table: Table, time: str, lifetime_us: int
) -> None:
    monkeypatch.setattr(trimming, "TRIMMED_AT_ONCE", 20)
    expired = NEW_YEAR - lifetime_us
    put(desk, table, [row(desk, table, time, n, expired - 100_000 + n) for n in range(1, 71)])
    left: list[object] = []
    assert trim(desk, lambda: left.append(0)) == 70
    # Three tables without webhooks, one step each; what is full is followed by another one.
    assert len(left) == (3 if table is not DELIVERY_LOGS else 3 + 1) + 3
    assert count(desk, table) == 0


def test_the_logs_of_webhooks_that_were_deleted_go_too(desk: Desk) -> None:
    expired = NEW_YEAR - DELIVERY_LOG_LIFETIME_US
    ids = [add_webhook(desk, last_log_id=2), new_id(), new_id()]
    for id in ids:
        add_logs(desk, [log_entry(desk, id, 1, expired), log_entry(desk, id, 2, expired + 1)])
    assert trim(desk) == 3
    assert count(desk, DELIVERY_LOGS) == 3
    desk.house.clock.advance(1)
    assert trim(desk) == 3
    assert count(desk, DELIVERY_LOGS) == 0


def test_a_log_reads_the_same_before_and_after_it_is_trimmed(desk: Desk) -> None:
    expired = NEW_YEAR - DELIVERY_LOG_LIFETIME_US
    id = add_webhook(desk, last_log_id=90)
    add_logs(desk, [log_entry(desk, id, n, expired - 60 + n) for n in range(1, 91)])
    path = f"/outbound-webhooks/{id}/delivery-logs"
    before = desk.get(path, "limit=20&offset=5").data
    assert before["total"] == 30
    assert trim(desk) == 60
    assert desk.get(path, "limit=20&offset=5").data == before


def test_an_event_whose_id_was_made_by_a_clock_that_was_behind_stays_until_it_expires(desk: Desk) -> None:
    at = NEW_YEAR - EVENT_LIFETIME_US
    early = row(desk, EVENTS, "accepted_at", 1, at - 60_000_000) | {"accepted_at": at + 1}
    put(desk, EVENTS, [early])
    assert trim(desk) == 0
    desk.house.clock.advance(1)
    assert trim(desk) == 1


def test_the_first_id_of_a_moment_is_smaller_than_those_made_then() -> None:
    assert first_id_at(Moment(0)) == "00000000-0000-7000-8000-000000000000"
    assert first_id_at(Moment(-5)) == first_id_at(Moment(0))
    earlier, later = first_id_at(Moment(NEW_YEAR - 1_000)), first_id_at(NEW_YEAR)
    assert earlier < later == first_id_at(Moment(NEW_YEAR + 999))
