"""A walk from page to page shows what was there when it began, each once, whatever happens meanwhile."""

from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskwire.api.endpoint import Endpoint
from deskwire.api.parameters import PageQuery
from deskwire.api.table import READS
from tests.api.desk import Desk, House
from tests.api.lists import Listed
from tests.api.records import JsonRecord, at, record

T = TypeVar("T", bound=Callable[..., None])

PAGED = [endpoint for endpoint in READS if issubclass(endpoint.query, PageQuery)]
# So few that many rows share one.
TIMES = [at(seconds) for seconds in (-1000, -1000.000001, -999, -500, -2.5, 0)]
times = st.sampled_from(TIMES)
TAGS = ["a", "b", "c", "A"]


def few_examples(number: int) -> Callable[[T], T]:
    return settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


def walk(listed: Listed, limit: int, meanwhile: Callable[[], None] = lambda: None) -> list[str]:
    """The ids of all pages; something may happen between one and the next."""
    answer = listed.page(limit=limit)
    found = answer.ids
    while (cursor := answer.next_cursor) is not None:
        assert len(answer.data) == limit
        meanwhile()
        answer = listed.page(limit=limit, cursor=cursor)
        assert answer.data, "a cursor was given though nothing came after it"
        found += answer.ids
    return found


@pytest.mark.parametrize("endpoint", PAGED, ids=lambda endpoint: endpoint.path)
@few_examples(8)
@given(st.lists(times, max_size=12), st.integers(1, 5))
def test_pages_of_any_size_make_up_the_list_newest_first_with_the_id_as_tie_breaker(
    house: House, endpoint: Endpoint, made: list[str], limit: int
) -> None:
    listed = Listed(house.open_desk(), endpoint)
    listed.put(made)
    assert walk(listed, limit) == listed.expected()
    assert listed.page(limit=100).ids == listed.expected()


@pytest.mark.parametrize("endpoint", PAGED, ids=lambda endpoint: endpoint.path)
@few_examples(8)
@given(st.lists(times, min_size=1, max_size=12), st.integers(1, 4), st.data())
def test_a_walk_skips_and_repeats_nothing_that_was_there_when_it_began(
    house: House, endpoint: Endpoint, made: list[str], limit: int, data: st.DataObject
) -> None:
    listed = Listed(house.open_desk(), endpoint)
    listed.put(made)
    before = listed.expected()

    def insert_and_change() -> None:
        listed.put(data.draw(st.lists(times, max_size=2)))
        listed.change(data.draw(st.lists(st.sampled_from(before), max_size=2, unique=True)))

    found = walk(listed, limit, insert_and_change)
    assert [id for id in found if id in before] == before
    assert len(set(found)) == len(found)
    assert found == [id for id in listed.expected() if id in found]


@few_examples(40)
@given(
    st.lists(st.tuples(times, st.lists(st.sampled_from(TAGS), unique=True)), max_size=14),
    st.lists(st.sampled_from([*TAGS, "unknown"]), min_size=1, max_size=4),
    st.sampled_from(["any", "all"]),
    st.integers(1, 4),
)
def test_channels_with_any_or_all_tags_are_those_of_a_plain_model_in_pages_of_any_size(
    house: House, made: list[tuple[str, list[str]]], asked: list[str], match: str, limit: int
) -> None:
    desk = house.open_desk()
    records = [record("channel", created_at=time, tags=tags) for time, tags in made]
    desk.put(*records)

    def qualifies(channel: JsonRecord) -> bool:
        carried = channel["tags"]
        assert isinstance(carried, list)
        return (any if match == "any" else all)(tag in carried for tag in asked)

    expected = sorted(filter(qualifies, records), key=newest, reverse=True)
    query = {"tags": ",".join(asked), "tag_match": match, "limit": limit}
    assert [each["id"] for each in desk.walk("/channels", query)] == [each["id"] for each in expected]


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_channels_of_several_tags_come_in_one_order_and_each_once(desk: Desk, limit: int) -> None:
    carried = [["a"], ["b"], ["a", "b"], ["c"], []] * 4
    made = [record("channel", tags=tags) for tags in carried]
    desk.put(*made)
    expected = [each["id"] for each, tags in zip(made, carried, strict=True) if {"a", "b"} & {*tags}]
    found = desk.walk("/channels", {"tags": "b,a", "limit": limit})
    assert [each["id"] for each in found] == expected[::-1]
    found = desk.walk("/channels", {"tags": "b,a", "limit": limit, "tag_match": "all"})
    assert [each["id"] for each in found] == [each["id"] for each in made[2::5]][::-1]


def newest(channel: JsonRecord) -> tuple[str, str]:
    return str(channel["created_at"]), str(channel["id"])


@few_examples(25)
@given(st.lists(times, max_size=10), times, times, st.integers(1, 4))
def test_a_window_of_messages_is_walked_to_its_end(
    house: House, made: list[str], since: str, until: str, limit: int
) -> None:
    if since >= until:
        return
    desk = house.open_desk()
    channel = record("channel")
    messages = [record("message", channel_id=channel["id"], created_at=time) for time in made]
    desk.put(channel, *messages)
    inside = [each for each in messages if since < str(each["created_at"]) <= until]
    query = {"since": since, "until": until, "limit": limit}
    found = desk.walk(f"/channels/{channel['id']}/messages", query)
    assert [each["id"] for each in found] == [each["id"] for each in sorted(inside, key=newest, reverse=True)]


def test_tags_may_change_during_a_walk_without_another_channel_being_skipped_or_repeated(desk: Desk) -> None:
    channels = [record("channel", tags=["a", "b"]) for _ in range(6)]
    desk.put(*channels)
    newest_first = [str(each["id"]) for each in reversed(channels)]
    answer = desk.get("/channels", "tags=a,b&limit=2")
    # One that was shown, the one where the walk stands, and one to come lose a tag or all of them.
    for place, tags in ((0, []), (1, ["b"]), (2, [])):
        desk.put({**channels[5 - place], "tags": tags})
    rest = desk.walk("/channels", {"tags": "a,b", "limit": 2, "cursor": answer.next_cursor})
    assert answer.ids + [each["id"] for each in rest] == newest_first[:2] + newest_first[3:]


def test_a_walk_goes_on_when_the_row_at_which_it_stands_is_deleted(desk: Desk) -> None:
    tasks = [record("task") for _ in range(4)]
    desk.put(*tasks)
    answer = desk.get("/tasks", "limit=2")
    desk.put({**tasks[2], "deleted": True})
    rest = desk.get("/tasks", {"limit": 2, "cursor": answer.next_cursor})
    assert answer.ids + rest.ids == [each["id"] for each in reversed(tasks)]


def test_every_page_of_an_exact_multiple_is_full_and_the_last_one_says_so(desk: Desk) -> None:
    for _ in range(6):
        desk.add("task")
    answer = desk.get("/tasks", "limit=3")
    last = desk.get("/tasks", {"limit": 3, "cursor": answer.next_cursor})
    assert len(answer.data) == len(last.data) == 3
    assert last.json["meta"] == {"has_more": False}


def test_contacts_found_by_q_are_walked_as_others_are(desk: Desk) -> None:
    made = [
        record("contact", name=f"Ada {place}" if place % 3 else "Grace", created_at=TIMES[place % 4])
        for place in range(30)
    ]
    desk.put(*made)
    expected = sorted(
        (each for each in made if str(each["name"]).startswith("Ada")), key=newest, reverse=True
    )
    for limit in (1, 7, 20):
        found = desk.walk("/contacts", {"q": "ADA", "limit": limit})
        assert [each["id"] for each in found] == [each["id"] for each in expected]
