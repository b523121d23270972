"""Delivery logs: pages by limit and offset, what has expired, and how much is looked at for a page."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskwire.model.limits import DELIVERY_LOG_LIFETIME_US
from deskwire.store.statement import Statement, Value
from deskwire.store.transaction import Tx
from tests.api.client import Answer
from tests.api.desk import Desk
from tests.api.records import at
from tests.api.webhooks import add_logs, add_webhook, log_entry
from tests.engines import NEW_YEAR

SECOND_US = 1_000_000
EXPIRED = NEW_YEAR - DELIVERY_LOG_LIFETIME_US


def logged(desk: Desk, count: int, *, expired: int = 0, trimmed: int = 0) -> str:
    """A webhook with so many entries of today and, before them, expired ones that are still there or gone."""
    last = trimmed + expired + count
    id = add_webhook(desk, last_log_id=last)
    add_logs(
        desk,
        (
            log_entry(desk, id, n, EXPIRED - (last - n) if n <= trimmed + expired else NEW_YEAR + n)
            for n in range(trimmed + 1, last + 1)
        ),
    )
    return id


def page(desk: Desk, id: str, query: str = "") -> Answer:
    return desk.get(f"/outbound-webhooks/{id}/delivery-logs", query)


def numbers(answer: Answer) -> list[int]:
    return [item["id"] for item in answer.data["items"]]


def test_a_webhook_without_attempts_has_an_empty_log(desk: Desk) -> None:
    answer = page(desk, add_webhook(desk))
    assert answer.json == {"success": True, "data": {"items": [], "total": 0, "has_more": False}}
    assert page(desk, add_webhook(desk), "offset=5").data == {"items": [], "total": 0, "has_more": False}


def test_what_an_entry_shows(desk: Desk) -> None:
    id = add_webhook(desk, last_log_id=3)
    failed: dict[str, Value] = {"success": False, "error_message": "connection refused", "http_status": None}
    add_logs(
        desk,
        [
            log_entry(desk, id, 1, NEW_YEAR, event_id=id),
            log_entry(desk, id, 2, NEW_YEAR, **failed),
            log_entry(desk, id, 3, NEW_YEAR, success=False, http_status=500, error_message="it failed"),
        ],
    )
    same = {"webhook_id": id, "event_type": "message.created", "duration_ms": 12, "created_at": at(0)}
    assert page(desk, id).data["items"] == [
        {"id": 3, "success": False, "http_status": 500, "error_message": "it failed", **same},
        {"id": 2, "success": False, "error_message": "connection refused", **same},
        {"id": 1, "success": True, "http_status": 204, **same},
    ]


def test_a_page_has_50_entries_unless_told(desk: Desk) -> None:
    id = logged(desk, 130)
    first = page(desk, id)
    assert numbers(first) == list(range(130, 80, -1))
    assert (first.data["total"], first.data["has_more"]) == (130, True)
    assert len(numbers(page(desk, id, "limit=100"))) == 100
    last = page(desk, id, "limit=100&offset=100")
    assert numbers(last) == list(range(30, 0, -1))
    assert last.data["has_more"] is False


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "offset=-1", "offset=x", "offset="])
def test_what_is_out_of_range_is_refused(desk: Desk, query: str) -> None:
    answer = page(desk, logged(desk, 1), query)
    assert answer.failure == (400, "INVALID_QUERY")
    assert set(answer.fields) == {query.partition("=")[0]}


def test_an_offset_beyond_the_end_finds_nothing(desk: Desk) -> None:
    id = logged(desk, 3)
    assert numbers(page(desk, id, "offset=2")) == [1]
    for offset in (3, 4, 1_000_000_000, 2**53 - 1):
        assert page(desk, id, f"offset={offset}").data == {"items": [], "total": 3, "has_more": False}


def test_what_has_expired_is_not_there_even_before_it_is_removed(desk: Desk) -> None:
    id = logged(desk, 40, expired=1_100, trimmed=300)
    answer = page(desk, id)
    assert numbers(answer) == list(range(1_440, 1_400, -1))
    assert (answer.data["total"], answer.data["has_more"]) == (40, False)
    assert numbers(page(desk, id, "offset=39")) == [1_401]
    assert numbers(page(desk, id, "offset=40")) == []


def test_an_entry_expires_after_exactly_30_days(desk: Desk) -> None:
    id = add_webhook(desk, last_log_id=2)
    add_logs(desk, [log_entry(desk, id, 1, EXPIRED), log_entry(desk, id, 2, EXPIRED + 1)])
    assert numbers(page(desk, id)) == [2]
    desk.house.clock.advance(1)
    assert page(desk, id).data == {"items": [], "total": 0, "has_more": False}


def test_what_is_written_while_somebody_pages_moves_the_pages_and_hides_nothing(desk: Desk) -> None:
    id = logged(desk, 10)
    assert numbers(page(desk, id, "limit=4")) == [10, 9, 8, 7]
    add_logs(desk, [log_entry(desk, id, 11, NEW_YEAR)])
    add_webhook(desk, id=id, last_log_id=11)
    assert numbers(page(desk, id, "limit=4&offset=4")) == [7, 6, 5, 4]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    trimmed=st.integers(0, 30),
    expired=st.integers(0, 70),
    count=st.integers(0, 120),
    limit=st.integers(1, 100),
)
def test_pages_put_together_are_the_whole_log(
    desk: Desk, trimmed: int, expired: int, count: int, limit: int
) -> None:
    id = logged(desk, count, expired=expired, trimmed=trimmed)
    found: list[int] = []
    while True:
        data = page(desk, id, f"limit={limit}&offset={len(found)}").data
        assert data["total"] == count
        found += [item["id"] for item in data["items"]]
        assert data["has_more"] is (len(found) < count)
        if not data["has_more"]:
            break
    last = trimmed + expired + count
    assert found == list(range(last, last - count, -1))


def test_a_page_deep_in_a_long_log_takes_few_statements(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is of one row or one page, however much has expired: the end of that is looked for by halving."""
    id = logged(desk, 2_000, expired=2_000)
    asked: list[Statement] = []
    kinds: set[type] = set()

    async def look(tx: Tx) -> None:
        kinds.add(type(tx))

    desk.house.run(desk.house.store.read(look))
    (kind,) = kinds
    for name in ("one", "all"):
        method = getattr(kind, name)

        async def count(self: object, statement: Statement, *, _method=method, **values: object) -> object:  # type: ignore[no-untyped-def]
            asked.append(statement)
            return await _method(self, statement, **values)

        monkeypatch.setattr(kind, name, count)
    assert numbers(page(desk, id, "limit=2&offset=1990")) == [2_010, 2_009]
    assert len(asked) < 20
