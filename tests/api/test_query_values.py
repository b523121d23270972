"""Parameters: what is refused, what is ignored, which of several counts, and how text is decoded."""

import pytest

from deskwire.api.endpoint import Endpoint
from deskwire.api.parameters import LimitQuery, QueryParser, SearchQuery
from deskwire.api.table import READS
from tests.api.client import QueryText, target_of
from tests.api.desk import Desk
from tests.api.filled import QUERIES, Filled
from tests.api.records import at, record

WITH_LIMIT = [e for e in READS if issubclass(e.query, LimitQuery | SearchQuery)]
PARAMETERS = [(e, name) for e in READS for name in QueryParser(e.query).parameters]
DAY_S = 24 * 3600
each_with_limit = pytest.mark.parametrize("endpoint", WITH_LIMIT, ids=lambda endpoint: endpoint.path)
BAD_LIMITS = (
    *("0", "101", "-1", "-0", "%2B5", "+5", "%205", "5%20", "5.0", "1e1", "1_0", "0x5", "five", "null"),
    *("", "%00", "5%00", "%D9%A5", "%EF%BC%95", "%C2%B2", "%FF", "%0A5", "5%0A", "1,2", "true", "NaN"),
    *("99999999999999999999", "9" * 400, "[5]"),
)
BAD_TEXTS = {
    **dict.fromkeys(("%FF", "a%C3", "%ED%A0%80", "%ED%A0%BD%ED%B8%80", "%C0%80"), "must be UTF-8"),
    **dict.fromkeys(("%F4%90%80%80", "%E2%82"), "must be UTF-8"),
    **dict.fromkeys(("%00", "a%00b"), "must not contain NUL"),
}
BAD_TIMES = (
    *("", "now", "0", "1767225600", "2025-12-31", "2025-12-31T23:59Z", "2025-12-31T23:59:58"),
    *("2025-12-31 23:59:58Z", "2025-13-01T00:00:00Z", "2025-02-29T00:00:00Z", "2025-12-31T24:00:00Z"),
    *("2025-12-31T23:59:58.Z", "2025-12-31T23:59:58,5Z", "20251231T235958Z", "2025-12-31T23:59:58+0900"),
    *(
        "2025-12-31T23:59:58+24:00",
        "+2025-12-31T23:59:58Z",
        " 2025-12-31T23:59:58Z",
        "2025-12-31T23:59:58Z ",
    ),
    *("٢٠٢٥-12-31T23:59:58Z", "2025-12-31T23:59:58ZZ", "0000-01-01T00:00:00Z", "2025-12-31T23:59:61Z"),
    *("0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2025-12-31T23:59:58Z" * 400),
)
UNKNOWN_PARAMETERS = (
    *("status=closed", "Limit=0", "limit%20=0", "limits=0", "x=%FF", "%FF=1", "x=%00", "%00=1", "=", "&&&"),
    *("x", "x=%ED%A0%80", "%", "%zz=%zz", "limit[]=0", ";limit=0", "offsets=-1", "a=a=a"),
)


def with_more(endpoint: Endpoint, more: str) -> str:
    """The least query that the endpoint answers, with more behind it."""
    least = target_of("", QUERIES.get(endpoint.path, "")).removeprefix("?")
    return f"{least}&{more}" if least else more


@each_with_limit
def test_a_limit_that_is_no_whole_number_from_1_to_100_is_refused(filled: Filled, endpoint: Endpoint) -> None:
    for limit in BAD_LIMITS:
        answer = filled.desk.get(filled.path(endpoint), with_more(endpoint, f"limit={limit}"))
        assert answer.failure == (400, "INVALID_QUERY"), limit
        assert answer.fields.keys() == {"limit"}, limit


@each_with_limit
def test_a_limit_from_1_to_100_is_taken(filled: Filled, endpoint: Endpoint) -> None:
    for limit in ("1", "100", "007", "%31", "000000100"):
        more = with_more(endpoint, f"limit={limit}")
        assert filled.desk.get(filled.path(endpoint), more).status == 200, limit


@each_with_limit
def test_the_last_of_a_repeated_parameter_counts(filled: Filled, endpoint: Endpoint) -> None:
    path = filled.path(endpoint)
    assert filled.desk.get(path, with_more(endpoint, "limit=0&limit=x&limit=5")).status == 200
    assert filled.desk.get(path, with_more(endpoint, "limit=5&limit=0")).failure == (400, "INVALID_QUERY")


def test_lists_answer_50_unless_told_otherwise_and_100_at_most(desk: Desk) -> None:
    channel_id = desk.add("channel")
    desk.put(*(record("message", channel_id=channel_id) for _ in range(102)))
    desk.put(*(record("task") for _ in range(102)))
    since: dict[str, object] = {"since": at(-2 * DAY_S)}
    for path, query in (("/tasks", {}), (f"/channels/{channel_id}/messages", since), ("/search", {"q": "h"})):
        assert len(desk.get(path, query).data) == 50
        assert len(desk.get(path, {**query, "limit": 100}).data) == 100
        assert len(desk.get(path, {**query, "limit": 1}).data) == 1


@pytest.mark.parametrize("endpoint", READS, ids=lambda endpoint: endpoint.path)
def test_unknown_parameters_are_ignored(filled: Filled, endpoint: Endpoint) -> None:
    without = filled.get(endpoint).body
    for more in UNKNOWN_PARAMETERS:
        answer = filled.desk.get(filled.path(endpoint), with_more(endpoint, more))
        assert answer.body == without, more


@pytest.mark.parametrize(("endpoint", "name"), PARAMETERS, ids=lambda value: getattr(value, "path", value))
def test_what_is_no_utf8_or_holds_nul_is_refused(filled: Filled, endpoint: Endpoint, name: str) -> None:
    for value, problem in BAD_TEXTS.items():
        answer = filled.desk.get(filled.path(endpoint), with_more(endpoint, f"{name}={value}"))
        assert answer.failure == (400, "INVALID_QUERY"), value
        assert answer.fields == {name: problem}


def test_every_bad_parameter_is_named_with_its_problem(filled: Filled) -> None:
    path = f"/channels/{filled.ids['channels']}/messages"
    answer = filled.desk.get(path, "limit=0&until=x&cursor=")
    assert answer.failure == (400, "INVALID_QUERY")
    assert answer.fields.keys() == {"limit", "until", "cursor", "since"}
    assert answer.fields["since"] == "is required"


def test_what_is_wrong_with_a_query_is_named_in_the_order_of_its_declaration(filled: Filled) -> None:
    path = f"/channels/{filled.ids['channels']}/messages"
    for query in ("limit=0&cursor=&until=x", "until=x&limit=0&cursor="):
        answer = filled.desk.get(path, query)
        assert list(answer.fields) == ["limit", "cursor", "since", "until"]
        assert answer.json["error"]["message"] == f"limit {answer.fields['limit']}."


def test_a_parameters_name_may_be_percent_encoded(filled: Filled) -> None:
    assert filled.desk.get("/tasks", "%6Cimit=0").failure == (400, "INVALID_QUERY")


def test_a_plus_is_a_blank_and_a_percent_encoded_plus_is_a_plus(desk: Desk) -> None:
    blank, plus = desk.add("contact", external_id="a b"), desk.add("contact", external_id="a+b")
    assert desk.get("/contacts", "external_id=a+b").ids == [blank]
    assert desk.get("/contacts", "external_id=a%20b").ids == [blank]
    assert desk.get("/contacts", "external_id=a%2Bb").ids == [plus]


@pytest.mark.parametrize(
    "query", ["q=a&external_id=b", "external_id=b&q=a", "q=&external_id=b", "q=&external_id="]
)
def test_q_and_external_id_cannot_be_combined(desk: Desk, query: str) -> None:
    answer = desk.get("/contacts", query)
    assert answer.failure == (400, "INVALID_QUERY")
    assert answer.fields.keys() == {"q", "external_id"}


def test_an_external_id_is_looked_up_exactly_and_gives_one_contact_or_none(desk: Desk) -> None:
    contact_id = desk.add("contact", external_id="Crm-1%_")
    answer = desk.get("/contacts", {"external_id": "Crm-1%_"})
    assert answer.ids == [contact_id]
    assert answer.json["meta"] == {"has_more": False}
    for other in ("crm-1%_", "Crm-1", "Crm-1%_ ", " Crm-1%_", "Crm-11_", "", "x" * 50_000):
        assert desk.get("/contacts", {"external_id": other}).data == []


def test_a_contact_is_found_by_every_external_id_it_ever_used(desk: Desk) -> None:
    contact_id = desk.add("contact", external_id="new", former_external_ids=["old", "merged-away"])
    for value in ("new", "old", "merged-away"):
        (shown,) = desk.get("/contacts", {"external_id": value}).data
        assert (shown["id"], shown["external_id"]) == (contact_id, "new")


@pytest.mark.parametrize(
    "query", ["tags=%20", "tags=,", "tags=,,%20,", "tags=%E3%80%80", "tags=%09", "tags=+"]
)
def test_tags_without_a_name_between_the_commas_are_refused(desk: Desk, query: str) -> None:
    answer = desk.get("/channels", query)
    assert answer.failure == (400, "INVALID_QUERY")
    assert answer.fields.keys() == {"tags"}


def test_empty_tags_filter_nothing(desk: Desk) -> None:
    made = [desk.add("channel", tags=tags) for tags in ([], ["a"])]
    assert desk.get("/channels", "tags=").ids == made[::-1]
    assert desk.get("/channels", "tags").ids == made[::-1]
    assert desk.get("/channels", "tags=&tag_match=all").ids == made[::-1]


def test_blanks_around_tag_names_are_ignored_and_case_is_not(desk: Desk) -> None:
    inner, other = desk.add("channel", tags=["a b"]), desk.add("channel", tags=["A b"])
    assert desk.get("/channels", {"tags": "  a b ,, "}).ids == [inner]
    assert desk.get("/channels", {"tags": "A b"}).ids == [other]
    assert desk.get("/channels", {"tags": "a  b"}).data == []


def test_unknown_tags_find_nothing_and_all_of_several_must_be_known(desk: Desk) -> None:
    desk.add("channel_tag", name="unused")
    channel_id = desk.add("channel", tags=["known"])
    assert desk.get("/channels", "tags=unknown").data == []
    assert desk.get("/channels", "tags=unused").data == []
    assert desk.get("/channels", "tags=known,unknown").ids == [channel_id]
    assert desk.get("/channels", "tags=known,unknown&tag_match=all").data == []
    assert desk.get("/channels", "tags=known,known&tag_match=all").ids == [channel_id]


@pytest.mark.parametrize("name", ["%", "_", "kn_wn", "'", '"', "\\", "{", "a]", "🚲", "null", "a\nb"])
def test_a_tag_of_odd_characters_is_found_by_its_name_alone(desk: Desk, name: str) -> None:
    desk.add("channel", tags=["known"])
    channel_id = desk.add("channel", tags=[name])
    assert desk.get("/channels", {"tags": name}).ids == [channel_id]
    assert desk.get("/channels", {"tags": name, "tag_match": "all"}).ids == [channel_id]


@pytest.mark.parametrize("tags", ["", "tags=a&", "tags=&"])
@pytest.mark.parametrize("match", ["", "ANY", "All", "any%20", "none", "any,all"])
def test_a_tag_match_that_is_not_any_or_all_is_refused_with_and_without_tags(
    desk: Desk, tags: str, match: str
) -> None:
    answer = desk.get("/channels", f"{tags}tag_match={match}")
    assert answer.failure == (400, "INVALID_QUERY")
    assert answer.fields.keys() == {"tag_match"}


def test_a_tag_match_without_tags_filters_nothing(desk: Desk) -> None:
    channel_id = desk.add("channel")
    assert desk.get("/channels", "tag_match=all").ids == [channel_id]


@pytest.mark.parametrize("q", ["a", "é" * 200, "🚲" * 200, " ", "a" * 200])
def test_a_search_of_1_to_200_code_points_is_answered(desk: Desk, q: str) -> None:
    assert desk.get("/search", {"q": q}).data == []


@pytest.mark.parametrize("q", ["", "a" * 201, "🚲" * 201, "e\u0301" * 101])
def test_a_search_of_none_or_more_than_200_code_points_is_refused(desk: Desk, q: str) -> None:
    answer = desk.get("/search", {"q": q})
    assert answer.failure == (400, "INVALID_QUERY")
    assert answer.fields.keys() == {"q"}


def test_a_search_needs_q_and_has_no_cursor(desk: Desk) -> None:
    assert desk.get("/search").fields == {"q": "is required"}
    answer = desk.get("/search", "q=a&cursor=nonsense")
    assert answer.status == 200
    assert "meta" not in answer.json


def test_an_id_that_is_no_uuid_is_invalid_input_for_members_and_campaigns_and_not_found_elsewhere(
    desk: Desk,
) -> None:
    odd = ["x", "0", "-", "0" * 32, "g" * 8 + "-0000-4000-8000-" + "0" * 12, "%00", "%FF", "%20", "..", "."]
    whole = "00000000-0000-4000-8000-000000000000"
    odd += [f"{whole}%0A", f"%20{whole}", f"{{{whole}}}", f"urn:uuid:{whole}", f"{whole}0", whole[:-1]]
    odd += [
        "%EF%BC%90" + whole[1:],
        "'%20OR%201=1",
        "x" * 5000,
        whole.replace("-", "_"),
        "null",
        "a%2Fb",
        f"{whole}%2F",
    ]
    for endpoint in READS:
        if not endpoint.noun:
            continue
        refused = endpoint.path in ("/members/{id}", "/campaigns/{id}")
        for id in odd:
            answer = desk.get(endpoint.path.replace("{id}", id), QUERIES.get(endpoint.path, ""))
            assert answer.failure == ((400, "INVALID_INPUT") if refused else (404, "NOT_FOUND")), id
            assert "details" not in answer.json["error"]


def messages(desk: Desk, query: QueryText) -> tuple[int, list[str]]:
    """What lists of a channel with messages at -2 s, -1 s and now show, by the number of each message."""
    channel_id = desk.add("channel")
    made = [desk.add("message", channel_id=channel_id, created_at=at(seconds)) for seconds in (-2, -1, 0)]
    answer = desk.get(f"/channels/{channel_id}/messages", query)
    return answer.status, [str(made.index(id)) for id in answer.ids] if answer.status == 200 else []


@pytest.mark.parametrize(
    ("since", "until", "shown"),
    [
        (-2, 0, "21"),
        (-2.000001, 0, "210"),
        (-3, -1, "10"),
        (-3, -1.000001, "0"),
        (-1, -0.999999, ""),
        (-1.000001, -1, "1"),
        (-2, -1, "1"),
        (-3, 10, "210"),
    ],
)
def test_since_is_exclusive_and_until_inclusive_to_the_microsecond(
    desk: Desk, since: float, until: float, shown: str
) -> None:
    assert messages(desk, {"since": at(since), "until": at(until)}) == (200, list(shown))


def test_until_is_now_when_left_out(desk: Desk) -> None:
    channel_id = desk.add("channel")
    now = desk.add("message", channel_id=channel_id, created_at=at(0))
    later = desk.add("message", channel_id=channel_id, created_at=at(0.000001))
    path = f"/channels/{channel_id}/messages"
    assert desk.get(path, {"since": at(-1)}).ids == [now]
    desk.house.clock.advance(1)
    assert desk.get(path, {"since": at(-1)}).ids == [later, now]


@pytest.mark.parametrize(
    ("since", "until"),
    [
        (at(-1), at(-1)),
        (at(-1), at(-1.000001)),
        (at(-30 * DAY_S - 0.000001), at(0)),
        (at(-365 * DAY_S), at(0)),
        ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"),
    ],
)
def test_a_window_that_is_empty_or_longer_than_30_days_is_refused_for_until(
    desk: Desk, since: str, until: str
) -> None:
    answer = desk.get(f"/channels/{desk.add('channel')}/messages", {"since": since, "until": until})
    assert answer.failure == (400, "INVALID_QUERY")
    assert answer.fields.keys() == {"until"}


@pytest.mark.parametrize("since", [at(0), at(0.000001), at(DAY_S), at(-30 * DAY_S - 0.000001)])
def test_a_since_that_is_not_past_or_too_long_past_needs_an_until(desk: Desk, since: str) -> None:
    path = f"/channels/{desk.add('channel')}/messages"
    assert desk.get(path, {"since": since}).failure == (400, "INVALID_QUERY")


@pytest.mark.parametrize(
    ("since", "until"),
    [
        (at(-30 * DAY_S), at(0)),
        (at(DAY_S), at(2 * DAY_S)),
        ("0001-01-01T00:00:00Z", "0001-01-02T00:00:00Z"),
        ("9999-12-31T00:00:00Z", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_a_window_of_up_to_30_days_may_lie_anywhere(desk: Desk, since: str, until: str) -> None:
    path = f"/channels/{desk.add('channel')}/messages"
    assert desk.get(path, {"since": since, "until": until}).data == []


@pytest.mark.parametrize(
    "since",
    [
        "2025-12-31T23:59:58Z",
        "2025-12-31t23:59:58z",
        "2025-12-31T23:59:58.0Z",
        "2025-12-31T23:59:58.000000999Z",
        "2026-01-01T08:59:58+09:00",
        "2025-12-31T18:29:58-05:30",
        "2025-12-31T23:59:58-00:00",
    ],
)
def test_a_timestamp_may_have_any_offset_and_any_fraction(desk: Desk, since: str) -> None:
    assert messages(desk, {"since": since}) == (200, ["2", "1"])


def test_a_malformed_since_or_until_is_refused(desk: Desk) -> None:
    path = f"/channels/{desk.add('channel')}/messages"
    for time in BAD_TIMES:
        for bad, query in (
            ("since", {"since": time, "until": at(0)}),
            ("until", {"since": at(-1), "until": time}),
        ):
            answer = desk.get(path, query)
            assert answer.failure == (400, "INVALID_QUERY"), time
            assert answer.fields.keys() == {bad}, time


def test_an_offset_with_a_bare_plus_is_told_how_to_send_it(desk: Desk) -> None:
    path = f"/channels/{desk.add('channel')}/messages"
    answer = desk.get(path, "since=2026-01-01T08:59:58+09:00")
    assert "%2B" in answer.fields["since"]


def test_messages_of_an_unknown_channel_are_not_found_once_the_window_is_right(desk: Desk) -> None:
    path = "/channels/00000000-0000-4000-8000-000000000000/messages"
    assert desk.get(path, {"since": at(-1)}).failure == (404, "NOT_FOUND")
    assert desk.get(path).failure == (400, "INVALID_QUERY")
