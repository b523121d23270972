"""Large bodies share a room in memory; small ones never wait for it."""

import pytest

from deskwire.api.body_room import BodyRoom
from deskwire.model.errors import DeskError
from deskwire.model.limits import LARGE_BODIES_AT_ONCE_BYTES, SMALL_BODY_BYTES


def test_what_does_not_fit_is_refused_until_something_is_given_back() -> None:
    room = BodyRoom(1)
    held = room.take(0, LARGE_BODIES_AT_ONCE_BYTES)
    assert held == LARGE_BODIES_AT_ONCE_BYTES
    with pytest.raises(DeskError) as refused:
        room.take(0, SMALL_BODY_BYTES + 1)
    assert refused.value.code == "UNAVAILABLE"
    assert room.take(0, SMALL_BODY_BYTES) == 0
    room.give_back(held)
    assert room.take(0, SMALL_BODY_BYTES + 1) == SMALL_BODY_BYTES + 1


def test_a_growing_body_takes_what_it_has_grown_by() -> None:
    room = BodyRoom(1)
    half = room.take(0, LARGE_BODIES_AT_ONCE_BYTES // 2)
    assert room.take(half, LARGE_BODIES_AT_ONCE_BYTES) == LARGE_BODIES_AT_ONCE_BYTES


def test_one_body_of_any_size_that_is_allowed_fits() -> None:
    assert BodyRoom(LARGE_BODIES_AT_ONCE_BYTES * 2).take(0, LARGE_BODIES_AT_ONCE_BYTES * 2)
