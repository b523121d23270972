"""How long a receiver asks to be left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskwire.model.limits import RETRY_AFTER_MAXIMUM_S
from deskwire.model.moments import Moment
from deskwire.model.retry_after import parse_retry_after

# Tuesday, 14 November 2023, 22:13:20 UTC
NOW = Moment(1_700_000_000_000_000)


@pytest.mark.parametrize(
    ("text", "wait_s"),
    [
        ("0", 0),
        ("120", 120),
        (" 7 ", 7),
        ("007", 7),
        ("9" * 5000, RETRY_AFTER_MAXIMUM_S),
        ("0" * 5000 + "5", 5),
        ("Tue, 14 Nov 2023 22:13:50 GMT", 30),
        ("Tuesday, 14-Nov-23 22:13:50 GMT", 30),
        ("Tue Nov 14 22:13:50 2023", 30),
        ("Tue, 14 Nov 2023 22:00:00 GMT", 0),
        ("Tue, 14 Nov 2099 22:00:00 GMT", RETRY_AFTER_MAXIMUM_S),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("soon", None),
        ("", None),
        ("Tue, 99 Nov 2023 22:13:50 GMT", None),
    ],
)
def test_seconds_and_dates_are_understood(text: str, wait_s: int | None) -> None:
    assert parse_retry_after(text, NOW) == wait_s


@pytest.mark.parametrize(
    ("past_us", "wait_s"), [(0, 30), (1, 30), (499_999, 30), (999_999, 30), (1_000_000, 29)]
)
def test_nothing_is_sent_before_a_date_that_was_asked_for(past_us: int, wait_s: int) -> None:
    assert parse_retry_after("Tue, 14 Nov 2023 22:13:50 GMT", Moment(NOW + past_us)) == wait_s


@given(st.text())
def test_any_text_is_a_wait_within_bounds_or_none(text: str) -> None:
    wait_s = parse_retry_after(text, NOW)
    assert wait_s is None or 0 <= wait_s <= RETRY_AFTER_MAXIMUM_S
