"""One attempt on its way: how far it has come, and what there is of an answer."""

from dataclasses import dataclass
from enum import Enum


class Stage(Enum):
    """The value says what is missing when an attempt's time runs out there."""

    RESOLVING = "the name was not resolved"
    CONNECTING = "no connection"
    ANSWERING = "no answer"


@dataclass(slots=True)
class Exchange:
    stage: Stage = Stage.RESOLVING
    # Those of the answer, once its head is there.
    status: int | None = None
    retry_after: bytes = b""
    # Why there will be none.
    failure: Exception | None = None
