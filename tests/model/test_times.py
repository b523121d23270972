from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskwire.model.times import format_time, parse_time

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)


def us(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


instants = st.integers(us(EARLIEST), us(LATEST))


@given(instants)
def test_a_formatted_time_is_read_back(instant: int) -> None:
    assert parse_time(format_time(instant)) == instant


@given(instants)
def test_a_time_is_formatted_with_microseconds_and_z(instant: int) -> None:
    moment = EPOCH + timedelta(microseconds=instant)
    assert format_time(instant) == moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


@pytest.mark.parametrize("moment", [EARLIEST, LATEST, EPOCH, EPOCH - timedelta(microseconds=1)])
def test_the_ends_of_the_range_are_formatted_and_read_back(moment: datetime) -> None:
    assert parse_time(format_time(us(moment))) == us(moment)


def test_outside_the_range_nothing_is_formatted() -> None:
    for instant in (us(EARLIEST) - 1, us(LATEST) + 1):
        with pytest.raises(ValueError, match=r"ordinal|year"):
            format_time(instant)


@given(st.datetimes(), st.integers(-1439, 1439), st.sampled_from("Tt"))
def test_any_offset_is_understood(local: datetime, offset_minutes: int, t: str) -> None:
    moment = local.replace(tzinfo=timezone(timedelta(minutes=offset_minutes)))
    text = moment.isoformat(timespec="microseconds").replace("T", t)
    expected = us(moment)
    if us(EARLIEST) <= expected <= us(LATEST):
        assert parse_time(text) == expected
    else:
        with pytest.raises(ValueError, match="outside the years"):
            parse_time(text)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2024-01-31T12:00:00z", "2024-01-31T12:00:00.000000Z"),
        ("2024-01-31t12:00:00.5Z", "2024-01-31T12:00:00.500000Z"),
        ("2024-01-31T12:00:00.1234569999999Z", "2024-01-31T12:00:00.123456Z"),
        ("2024-01-31T12:00:00-00:00", "2024-01-31T12:00:00.000000Z"),
        ("2024-03-01T00:30:00+09:00", "2024-02-29T15:30:00.000000Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000000Z"),
        ("2017-01-01T08:59:60.25+09:00", "2017-01-01T00:00:00.250000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"),
    ],
)
def test_every_form_of_rfc_3339_is_understood(text: str, same: str) -> None:
    assert format_time(parse_time(text)) == same


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "1704067200",
        "2024-01-01",
        "2024-W01-1T00:00:00Z",
        "2024-001T00:00:00Z",
        "20240101T000000Z",
        "2024-01-01T00:00Z",
        "2024-01-01T00Z",
        "2024-01-01 00:00:00Z",
        "2024-01-01T00:00:00.Z",
        "2024-01-01T00:00:00,5Z",
        "2024-01-01T00:00:00+0900",
        "2024-01-01T00:00:00+09",
        "2024-01-01T00:00:00+09:00:00",
        "2024-01-01T00:00:00UTC",
        "2024-01-01T00:00:00Z\n",
        " 2024-01-01T00:00:00Z",
        "2024-1-1T00:00:00Z",
        "-2024-01-01T00:00:00Z",
        "12024-01-01T00:00:00Z",
        "٢٠٢٤-01-01T00:00:00Z",
        "2024-01-01T00:00:00−09:00",
        "2024-01-01T00:00:00Z\x00",
    ],
)
def test_other_forms_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="must be an RFC 3339 date-time such as 2024-01-31T12:00:00Z"):
        parse_time(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2024-01-01T00:00:00", "has no offset"),
        ("2024-01-01T00:00:00.5", "has no offset"),
        ("2024-01-01T00:00:00 00:00", "%2B"),
        ("2024-01-01T00:00:00.123 09:00", "%2B"),
        ("2023-02-29T00:00:00Z", "date that does not exist"),
        ("2024-13-01T00:00:00Z", "date that does not exist"),
        ("2024-00-01T00:00:00Z", "date that does not exist"),
        ("0000-01-01T00:00:00Z", "date that does not exist"),
        ("2024-01-01T24:00:00Z", "time of day that does not exist"),
        ("2024-01-01T00:60:00Z", "time of day that does not exist"),
        ("2024-01-01T00:00:61Z", "time of day that does not exist"),
        ("2024-01-01T12:00:60Z", "second 60"),
        ("2024-01-15T23:59:60Z", "second 60"),
        ("2024-01-01T00:00:00+24:00", "offset that does not exist"),
        ("2024-01-01T00:00:00+00:60", "offset that does not exist"),
        ("0001-01-01T00:00:00+00:01", "outside the years 0001 to 9999"),
        ("9999-12-31T23:59:59-00:01", "outside the years 0001 to 9999"),
        ("9999-12-31T23:59:60Z", "outside the years 0001 to 9999"),
    ],
)
def test_a_refusal_says_what_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_time(text)


@given(
    st.text(st.sampled_from("0123456789-:TtZz+. ")) | st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+")
)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        instant = parse_time(text)
    except ValueError:
        return
    assert parse_time(format_time(instant)) == instant
