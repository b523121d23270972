"""The rate limit of a token: counted in this process, in parts taken from what all processes share."""

import asyncio
from dataclasses import dataclass, field
from typing import NamedTuple

from deskwire.desk.rate_windows import take_part
from deskwire.model.errors import DeskError
from deskwire.model.limits import RATE_PARTS, RATE_WINDOW_US
from deskwire.model.tokens import Token
from deskwire.store.clock import Clock
from deskwire.store.transaction import Store

REMEMBERED_WINDOWS = 10_000
SECOND_US = 1_000_000


class Standing(NamedTuple):
    """What a token has left in its window, as far as this process knows, and when that ends."""

    remaining: int
    reset_s: int


@dataclass
class Window:
    """What this process knows of a token's window: `left` is its own to spend, `untaken` is anybody's."""

    ends_at: int = 0
    left: int = 0
    untaken: int = 0
    taking: asyncio.Lock = field(default_factory=asyncio.Lock)


class RateLimiter:
    """Never lets more through than the limit. What other processes have taken and not spent is lost to a
    token that is refused here: a hundredth of the limit for each, so a tenth for ten processes."""

    def __init__(self, store: Store, clock: Clock, limit: int) -> None:
        self._store = store
        self._clock = clock
        self._limit = limit
        self._part = max(1, limit // RATE_PARTS)
        self._windows: dict[str, Window] = {}
        self.policy = f'"token";q={limit};w={RATE_WINDOW_US // SECOND_US}'.encode()

    async def spend(self, token: Token) -> None:
        """One request of the token's; raises RATE_LIMITED, with the pause, when there is none left."""
        window = self._window(token.id)
        if not self._has_left(window):
            async with window.taking:
                # Whoever waited may have been given enough by the one before.
                if not self._has_left(window) and not self._is_spent(window):
                    await self._take(token, window)
        if window.left < 1:
            raise self._refusal(self.standing(token).reset_s)
        window.left -= 1

    def standing(self, token: Token) -> Standing:
        window = self._window(token.id)
        whole_seconds = -(-(window.ends_at - self._clock()) // SECOND_US)
        return Standing(window.left + window.untaken, max(1, whole_seconds))

    def _window(self, token_id: str) -> Window:
        window = self._windows.get(token_id)
        if window is None:
            if len(self._windows) >= REMEMBERED_WINDOWS:
                self._windows.clear()
            window = self._windows[token_id] = Window()
        return window

    def _has_left(self, window: Window) -> bool:
        return window.left > 0 and self._clock() < window.ends_at

    def _is_spent(self, window: Window) -> bool:
        return window.untaken < 1 and self._clock() < window.ends_at

    async def _take(self, token: Token, window: Window) -> None:
        part = await self._store.write(lambda tx: take_part(tx, token, self._limit, self._part))
        window.ends_at = part.started_at + RATE_WINDOW_US
        window.left = part.granted
        window.untaken = self._limit - part.taken

    def _refusal(self, reset_s: int) -> DeskError:
        return DeskError(
            "RATE_LIMITED",
            f"This token may make {self._limit} requests a minute; try again in {reset_s} s.",
            retry_after_s=reset_s,
        )
