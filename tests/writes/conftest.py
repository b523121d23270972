"""The desks of the reads' tests, with a hand that writes in each."""

import pytest

from tests.api.conftest import clock, desk, engine, files, house, other_desk, own_house, run, standing_clock
from tests.api.desk import Desk
from tests.writes.writer import Writer

__all__ = ["clock", "desk", "engine", "files", "house", "other_desk", "own_house", "run", "standing_clock"]


@pytest.fixture
def writer(desk: Desk) -> Writer:
    return Writer(desk)


@pytest.fixture
def stranger(other_desk: Desk) -> Writer:
    """Somebody of another workspace in the same house."""
    return Writer(other_desk)
