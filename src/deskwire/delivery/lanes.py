"""Lanes: what a worker has claimed for each webhook, and how much of it may travel at once.

A webhook's window grows with each success and shrinks when there is no answer, so that one that hangs holds
few connections, and one that is quick gets many.
"""

from collections import OrderedDict, deque
from collections.abc import Iterator
from itertools import chain

from deskwire.desk.delivering.claiming import Claim
from deskwire.model.deliveries import Delivered, Outcome, Unreachable
from deskwire.model.limits import (
    AILING_DELIVERIES_AT_ONCE,
    DELIVERIES_AT_ONCE,
    DELIVERIES_CROWDED,
    HELD_SENT_IN_TURN,
    LANE_CLAIMS_PER_WINDOW,
    LANE_RESTING_MOST,
    LANE_WINDOW_FIRST,
    LANE_WINDOW_MOST,
    LANES_REMEMBERED,
)


class Lane:
    def __init__(self) -> None:
        self.is_ailing = False
        self.waiting: deque[Claim] = deque()
        self._window = LANE_WINDOW_FIRST
        self._is_proven = self._is_refusing = False
        self._waiting_ids: set[str] = set()
        self._travelling: set[str] = set()
        self._resting: set[str] = set()
        # How many were sent one after the other because they had been held.
        self._in_turn = 0
        # The first delivery that is under way for each channel: the next one of the same waits for it.
        self._first_under_way: dict[str, str] = {}

    @property
    def claimed(self) -> int:
        return len(self.waiting) + len(self._travelling) + len(self._resting)

    def window(self, is_crowded: bool) -> int:
        return self._window if self._is_proven or not is_crowded else 1

    @property
    def doubt(self) -> int:
        """0 for one that answered, 1 for one that nobody knows, 2 for one that failed."""
        return 2 if self.is_ailing else 0 if self._is_proven else 1

    def room(self, is_crowded: bool) -> int:
        """How many more to claim; for one that fails, or may in a crowd, none that would have to wait."""
        waits_in_vain = self.is_ailing or (is_crowded and not self._is_proven)
        at_once = self.window(is_crowded) * (1 if waits_in_vain else LANE_CLAIMS_PER_WINDOW)
        return min(
            at_once - len(self.waiting) - len(self._travelling), LANE_RESTING_MOST - len(self._resting)
        )

    def holds(self, event_id: str) -> bool:
        return event_id in self._waiting_ids or event_id in self._travelling or event_id in self._resting

    def add(self, claims: list[Claim]) -> None:
        # Oldest first: one that was given back may come after those that wait for it.
        self.waiting = deque(sorted([*self.waiting, *claims], key=lambda claim: claim.event_id))
        self._waiting_ids.update(claim.event_id for claim in claims)

    def empty(self) -> list[Claim]:
        """Takes away all that has not set out."""
        taken = list(self.waiting)
        self.waiting.clear()
        self._waiting_ids.clear()
        return taken

    def start(self, is_crowded: bool) -> Iterator[Claim]:
        """Those that may set out now."""
        window = self.window(is_crowded)
        for claim in list(self.waiting):
            if len(self._travelling) >= window:
                return
            if claim.was_held and self._travelling and self._in_turn < HELD_SENT_IN_TURN:
                return
            if claim.untried and (claim.order_key in self._first_under_way or self._must_wait):
                if claim.was_held:
                    # What is behind it is younger.
                    return
                continue
            if claim.untried:
                self._in_turn = self._in_turn + 1 if claim.was_held else 0
            self.waiting.remove(claim)
            self._waiting_ids.discard(claim.event_id)
            self._travelling.add(claim.event_id)
            if claim.untried:
                self._first_under_way[claim.order_key] = claim.event_id
            yield claim

    @property
    def _must_wait(self) -> bool:
        """What was held for one that refused begins one by one when it is activated again: oldest first."""
        return self._is_refusing and len(self._travelling) > 0

    def rest(self, claim: Claim) -> None:
        """It arrived, or waits for its next attempt: either way the next of its channel may pass."""
        self._travelling.discard(claim.event_id)
        self._resting.add(claim.event_id)
        self._let_pass(claim)

    def resume(self, claim: Claim) -> None:
        self._resting.discard(claim.event_id)
        self._travelling.add(claim.event_id)

    def finish(self, claim: Claim) -> None:
        self._travelling.discard(claim.event_id)
        self._resting.discard(claim.event_id)
        self._let_pass(claim)

    def learn(self, outcome: Outcome) -> None:
        """What an attempt tells of the receiver."""
        match outcome:
            case Delivered():
                self._window = min(self._window + 1, LANE_WINDOW_MOST)
                self._is_proven, self.is_ailing, self._is_refusing = True, False, False
            case Unreachable():
                self._window = LANE_WINDOW_FIRST
                self._is_proven, self.is_ailing = False, True
            case _:
                self.is_ailing = self._is_refusing = True

    def _let_pass(self, claim: Claim) -> None:
        if self._first_under_way.get(claim.order_key) == claim.event_id:
            del self._first_under_way[claim.order_key]


class Lanes:
    """The lanes of a worker; those that are empty are remembered for their windows, the oldest forgotten."""

    def __init__(self) -> None:
        self._lanes: OrderedDict[str, Lane] = OrderedDict()
        self._claimed = 0

    @property
    def claimed(self) -> int:
        return self._claimed

    @property
    def in_use(self) -> int:
        return sum(1 for lane in self._lanes.values() if lane.claimed)

    @property
    def room(self) -> int:
        return DELIVERIES_AT_ONCE - self._claimed

    @property
    def full(self) -> list[str]:
        """The webhooks for which nothing more is to be claimed."""
        must_spare = self._claimed >= AILING_DELIVERIES_AT_ONCE
        return [
            id
            for id, lane in self._lanes.items()
            if (lane.claimed and lane.room(self._is_crowded) <= 0) or (must_spare and lane.is_ailing)
        ]

    @property
    def ailing(self) -> list[str]:
        return [id for id, lane in self._lanes.items() if lane.is_ailing]

    def room_of(self, webhook_id: str) -> int:
        return self._lanes.get(webhook_id, Lane()).room(self._is_crowded)

    def doubt(self, webhook_id: str) -> int:
        lane = self._lanes.get(webhook_id)
        return 1 if lane is None else lane.doubt

    def holds(self, webhook_id: str, event_id: str) -> bool:
        lane = self._lanes.get(webhook_id)
        return lane is not None and lane.holds(event_id)

    def lane_of(self, claim: Claim) -> Lane:
        return self._lanes[claim.webhook_id]

    def add(self, webhook_id: str, claims: list[Claim]) -> Lane:
        lane = self._lanes.get(webhook_id)
        if lane is None:
            lane = self._lanes[webhook_id] = Lane()
            self._forget_some()
        self._lanes.move_to_end(webhook_id)
        lane.add(claims)
        self._claimed += len(claims)
        return lane

    def start(self, lane: Lane) -> Iterator[Claim]:
        return lane.start(self._is_crowded)

    def finish(self, claim: Claim) -> Lane:
        lane = self._lanes[claim.webhook_id]
        lane.finish(claim)
        self._claimed -= 1
        return lane

    @property
    def waiting(self) -> Iterator[Claim]:
        """All that has not set out."""
        return chain.from_iterable(lane.waiting for lane in self._lanes.values())

    def empty(self) -> list[list[Claim]]:
        """Takes away all that has not set out; a list for each webhook."""
        taken = [lane.empty() for lane in self._lanes.values() if lane.waiting]
        self._claimed -= sum(map(len, taken))
        return taken

    @property
    def _is_crowded(self) -> bool:
        return self._claimed > DELIVERIES_CROWDED

    def _forget_some(self) -> None:
        while len(self._lanes) > LANES_REMEMBERED:
            id = next((id for id, lane in self._lanes.items() if not lane.claimed), None)
            if id is None:
                return
            del self._lanes[id]
