"""Cursors at the door: whose they are, how long they live, and that nobody can make one up."""

import pytest

from deskwire.api.endpoint import Endpoint
from deskwire.api.parameters import PageQuery
from deskwire.api.table import READS
from deskwire.model import cursors
from deskwire.model.limits import CURSOR_LIFETIME_US, MAX_CURSOR_CHARACTERS
from tests.api.client import Answer
from tests.api.desk import CURSOR_KEY, Desk
from tests.api.lists import Listed, some
from tests.api.records import at, new_id
from tests.engines import NEW_YEAR

PAGED = [endpoint for endpoint in READS if issubclass(endpoint.query, PageQuery)]
EXPIRING = [endpoint for endpoint in PAGED if endpoint.path != "/channels/{id}/messages"]
each_list = pytest.mark.parametrize("endpoint", PAGED, ids=lambda endpoint: endpoint.path)
MADE_UP = ["A" * length for length in (63, 64, 65, 512, 513, 60_000)]


def first_cursor(listed: Listed) -> str:
    answer = listed.page(limit=1)
    assert answer.next_cursor is not None
    return answer.next_cursor


def assert_refused(answer: Answer) -> None:
    assert answer.failure == (400, "INVALID_QUERY")
    assert answer.fields.keys() == {"cursor"}


@each_list
def test_the_cursor_is_there_exactly_while_there_is_more(desk: Desk, endpoint: Endpoint) -> None:
    listed = some(desk, endpoint, 3)
    assert listed.page(limit=3).json["meta"] == {"has_more": False}
    assert listed.page(limit=4).json["meta"] == {"has_more": False}
    cursor = listed.page(limit=2).next_cursor
    assert cursor is not None
    assert listed.page(limit=1, cursor=cursor).json["meta"] == {"has_more": False}
    assert len(listed.page(limit=1, cursor=cursor).data) == 1


@each_list
def test_a_malformed_cursor_is_refused(desk: Desk, endpoint: Endpoint) -> None:
    listed = some(desk, endpoint, 0)
    for cursor in ("", "x", "null", "=", *MADE_UP, "é" * 64, "🚲", "../..", " ", "-1"):
        assert_refused(listed.page(cursor=cursor))


@each_list
def test_a_cursor_altered_in_any_character_is_refused(desk: Desk, endpoint: Endpoint) -> None:
    listed = some(desk, endpoint, 2)
    good = first_cursor(listed)
    altered = [
        good[:place] + ("A" if good[place] != "A" else "B") + good[place + 1 :] for place in range(len(good))
    ]
    for cursor in [*altered, good + "A", good[:-1], good + "=", good + "%0A", f" {good}", good.swapcase()]:
        assert_refused(listed.page(cursor=cursor))
    assert listed.page(cursor=good).status == 200


@each_list
def test_a_cursor_of_another_list_is_refused(desk: Desk, endpoint: Endpoint) -> None:
    cursor = first_cursor(some(desk, endpoint, 2))
    for other in PAGED:
        if other is not endpoint:
            assert_refused(some(desk, other, 0).page(cursor=cursor))


@each_list
def test_a_cursor_of_another_workspace_is_refused(desk: Desk, other_desk: Desk, endpoint: Endpoint) -> None:
    cursor = first_cursor(some(other_desk, endpoint, 2))
    assert_refused(some(desk, endpoint, 2).page(cursor=cursor))


@pytest.mark.parametrize("path", ["/channels/{id}/messages", "/teams/{id}/members"])
def test_a_cursor_of_another_channel_or_team_is_refused(desk: Desk, path: str) -> None:
    (endpoint,) = [each for each in PAGED if each.path == path]
    first, second = some(desk, endpoint, 2), some(desk, endpoint, 2)
    assert_refused(second.page(cursor=first_cursor(first)))


@each_list
def test_a_cursor_made_with_another_key_is_refused(desk: Desk, endpoint: Endpoint) -> None:
    listed = some(desk, endpoint, 2)
    position = cursors.Position(NEW_YEAR, new_id())
    scope = f"{desk.workspace_id}{endpoint.path}:{listed.parent_id}"
    made_up = cursors.encode(b"k" * 32, scope, position, NEW_YEAR)
    assert_refused(listed.page(cursor=made_up))
    assert listed.page(cursor=cursors.encode(CURSOR_KEY, scope, position, NEW_YEAR)).status == 200


@pytest.mark.parametrize("endpoint", EXPIRING, ids=lambda endpoint: endpoint.path)
def test_a_cursor_lives_24_hours(desk: Desk, endpoint: Endpoint) -> None:
    listed = some(desk, endpoint, 2)
    cursor = first_cursor(listed)
    desk.house.clock.advance(CURSOR_LIFETIME_US - 1)
    assert listed.page(cursor=cursor).status == 200
    desk.house.clock.advance(1)
    assert_refused(listed.page(cursor=cursor))
    assert "expired" in listed.page(cursor=cursor).fields["cursor"]


def test_a_message_cursor_does_not_expire(desk: Desk) -> None:
    (endpoint,) = [each for each in PAGED if each not in EXPIRING]
    listed = some(desk, endpoint, 2)
    cursor = first_cursor(listed)
    desk.house.clock.advance(400 * CURSOR_LIFETIME_US)
    assert listed.page(cursor=cursor, until=at(0)).ids == listed.expected()[1:]


@each_list
def test_a_cursor_is_opaque_and_short(desk: Desk, endpoint: Endpoint) -> None:
    cursor = first_cursor(some(desk, endpoint, 2))
    assert len(cursor) <= MAX_CURSOR_CHARACTERS // 4
    assert cursor.isascii() and not set(cursor) - set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    )


@each_list
def test_a_cursor_is_good_with_any_limit_and_any_number_of_times(desk: Desk, endpoint: Endpoint) -> None:
    listed = some(desk, endpoint, 4)
    cursor = first_cursor(listed)
    for _ in range(2):
        assert listed.page(limit=100, cursor=cursor).ids == listed.expected()[1:]
        assert listed.page(limit=2, cursor=cursor).ids == listed.expected()[1:3]


def test_a_cursor_holds_a_position_only_so_filters_must_be_repeated(desk: Desk) -> None:
    tagged = [desk.add("channel", tags=["a"]) for _ in range(2)]
    plain = desk.add("channel", created_at=at(-2 * 24 * 3600))
    answer = desk.get("/channels", {"tags": "a", "limit": 1})
    assert answer.ids == tagged[1:]
    assert desk.get("/channels", {"cursor": answer.next_cursor}).ids == [tagged[0], plain]
    assert desk.get("/channels", {"tags": "a", "cursor": answer.next_cursor}).ids == [tagged[0]]


def test_the_cursor_of_a_list_of_one_or_none_is_ignored_as_unknown(desk: Desk) -> None:
    assert desk.get("/ai-agents", "cursor=nonsense").data == []
    assert desk.get("/workflows", "cursor=nonsense&limit=0").data == []
