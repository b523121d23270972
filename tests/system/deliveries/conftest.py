"""A receiver, and desks that may send to it."""

from collections.abc import Callable, Iterator

import pytest

from tests.system.conftest import Hire
from tests.system.deliveries.desk import Desk
from tests.system.deliveries.recording import Receiver

OpenDesk = Callable[..., Desk]


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture(scope="module")
def open_desk(hire: Hire, receiver: Receiver) -> OpenDesk:
    """`open_desk("sqlite")`, and whatever else may be sent to."""

    def open_one(engine: str, *places: str, **settings: str) -> Desk:
        operator = hire(engine)
        operator.settings |= {"DESKWIRE_WEBHOOK_ALLOW": ",".join([receiver.place, *places]), **settings}
        return Desk(operator)

    return open_one
