from base64 import urlsafe_b64encode
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskwire.model.cursors import BadCursor, Position, decode, encode
from deskwire.model.limits import CURSOR_LIFETIME_US, MAX_CURSOR_CHARACTERS

KEY = b"k" * 32
SCOPE = "018f3e1c-7c2a-7b11-9a53-000000000001/contacts"
ID = "018f3e1c-7c2a-7b11-9a53-0123456789ab"
POSITION = Position(1_720_000_000_123_456, ID)
ISSUED_AT = 1_720_000_100_000_000
CURSOR = encode(KEY, SCOPE, POSITION, ISSUED_AT)
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. %é"

instants = st.integers(-(2**63), 2**63 - 1)


@given(instants, st.uuids(), instants, st.text(st.characters(codec="utf-8")), st.binary(min_size=1))
def test_a_cursor_gives_its_position_back(
    created_at: int, record_id: UUID, issued_at: int, scope: str, key: bytes
) -> None:
    position = Position(created_at, str(record_id))
    cursor = encode(key, scope, position, issued_at)
    assert decode(key, scope, cursor, issued_at, CURSOR_LIFETIME_US) == position
    assert len(cursor) <= MAX_CURSOR_CHARACTERS
    assert set(cursor) <= set(ALPHABET[:64])


def test_every_change_of_one_character_is_refused() -> None:
    for at in range(len(CURSOR)):
        for other in set(ALPHABET) - {CURSOR[at]}:
            with pytest.raises(BadCursor):
                decode(KEY, SCOPE, CURSOR[:at] + other + CURSOR[at + 1 :], ISSUED_AT, None)


def test_every_insertion_and_removal_of_one_character_is_refused() -> None:
    for at in range(len(CURSOR) + 1):
        for more in ALPHABET:
            with pytest.raises(BadCursor):
                decode(KEY, SCOPE, CURSOR[:at] + more + CURSOR[at:], ISSUED_AT, None)
        if at < len(CURSOR):
            with pytest.raises(BadCursor):
                decode(KEY, SCOPE, CURSOR[:at] + CURSOR[at + 1 :], ISSUED_AT, None)


@pytest.mark.parametrize("scope", [SCOPE.replace("contacts", "channels"), SCOPE + " ", SCOPE[1:], ""])
def test_a_cursor_of_another_list_is_refused(scope: str) -> None:
    with pytest.raises(BadCursor, match="belongs to another list"):
        decode(KEY, scope, CURSOR, ISSUED_AT, None)


def test_a_cursor_of_another_key_is_refused() -> None:
    with pytest.raises(BadCursor, match="was changed"):
        decode(b"K" * 32, SCOPE, CURSOR, ISSUED_AT, None)


def test_a_cursor_ends_when_it_is_24_hours_old() -> None:
    end = ISSUED_AT + 24 * 60 * 60 * 1_000_000
    assert decode(KEY, SCOPE, CURSOR, end - 1, CURSOR_LIFETIME_US) == POSITION
    for now in (end, end + 1):
        with pytest.raises(BadCursor, match=r"^is expired$"):
            decode(KEY, SCOPE, CURSOR, now, CURSOR_LIFETIME_US)


def test_a_cursor_without_a_lifetime_never_ends() -> None:
    assert decode(KEY, SCOPE, CURSOR, 2**63 - 1, None) == POSITION


def test_a_cursor_from_a_clock_that_is_ahead_is_taken() -> None:
    assert decode(KEY, SCOPE, CURSOR, ISSUED_AT - 5_000_000, CURSOR_LIFETIME_US) == POSITION


def test_an_over_long_cursor_is_refused_as_such() -> None:
    with pytest.raises(BadCursor, match="is longer than 512 characters"):
        decode(KEY, SCOPE, "A" * 513, ISSUED_AT, None)
    with pytest.raises(BadCursor, match="is malformed"):
        decode(KEY, SCOPE, "A" * 512, ISSUED_AT, None)


@pytest.mark.parametrize(
    "cursor",
    ["", "=", "====", "A", CURSOR + "=", CURSOR + "\n", " " + CURSOR, CURSOR * 2, "é" * 64, "\ud800", "\x00"],
)
def test_what_is_no_cursor_is_malformed(cursor: str) -> None:
    with pytest.raises(BadCursor, match="is malformed"):
        decode(KEY, SCOPE, cursor, ISSUED_AT, None)


@given(st.text() | st.text(st.sampled_from(ALPHABET), min_size=64, max_size=64))
def test_any_other_text_is_refused(cursor: str) -> None:
    with pytest.raises(BadCursor):
        decode(KEY, SCOPE, cursor, ISSUED_AT, None)


@given(st.binary(min_size=48, max_size=48))
def test_a_made_up_cursor_is_refused(raw: bytes) -> None:
    with pytest.raises(BadCursor, match="was changed"):
        decode(KEY, SCOPE, urlsafe_b64encode(raw).decode(), ISSUED_AT, None)
