"""How many bytes of large bodies may be in memory at once, so that no number of clients can fill it."""

from deskwire.model.errors import DeskError
from deskwire.model.limits import LARGE_BODIES_AT_ONCE_BYTES, SMALL_BODY_BYTES


class BodyRoom:
    """A request takes more of it as its body grows, and gives all back at its end; small bodies take none."""

    def __init__(self, max_body: int) -> None:
        # One body of any size that is allowed must fit in.
        self._free_bytes = max(LARGE_BODIES_AT_ONCE_BYTES, max_body)

    def take(self, held_bytes: int, length: int) -> int:
        """What is held from now on, for a body that has grown to that length."""
        if length <= SMALL_BODY_BYTES:
            return held_bytes
        more = length - held_bytes
        if more > self._free_bytes:
            raise DeskError(
                "UNAVAILABLE", "Too many large bodies are being read just now; try again shortly."
            )
        self._free_bytes -= more
        return length

    def give_back(self, held_bytes: int) -> None:
        self._free_bytes += held_bytes
