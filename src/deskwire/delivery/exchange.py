"""One attempt on its way, known to everything in aiohttp's depths that has to decide for it."""

from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from deskwire.model.webhook_urls import Target


class Stage(Enum):
    """How far an attempt has come; the value says what is missing when its time runs out there."""

    RESOLVING = "the name was not resolved"
    CONNECTING = "no connection"
    ANSWERING = "no answer"


class UsedConnection(Protocol):
    """What is asked of a connection after it failed."""

    requests: int
    received_bytes: int


@dataclass(slots=True)
class Exchange:
    """What is known of an attempt so far."""

    target: Target
    stage: Stage = Stage.RESOLVING
    connection: UsedConnection | None = None
    needs_new_connection: bool = False
    # Those of the answer, once its head is there.
    status: int | None = None
    retry_after: str = ""

    @property
    def met_a_dead_connection(self) -> bool:
        """Whether its connection had served before, and now brought not one byte of an answer."""
        connection = self.connection
        return connection is not None and connection.requests > 1 and connection.received_bytes == 0


current: ContextVar[Exchange] = ContextVar("exchange")
