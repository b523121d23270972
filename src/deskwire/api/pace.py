"""How long a client may take over each thing, and whether it has taken longer."""

from dataclasses import dataclass
from enum import Enum, auto

from deskwire.model import limits

# Where a connection is, in plain numbers, since the request path compares them. DEAF: what comes is dropped.
FRESH, HEAD, BODY, IDLE, DEAF = range(5)


@dataclass(frozen=True, slots=True)
class Pace:
    """A client is found out up to two check intervals late."""

    head_s: float = limits.REQUEST_HEAD_TIMEOUT_S
    body_gap_s: float = limits.REQUEST_BODY_GAP_TIMEOUT_S
    body_s: float = limits.REQUEST_BODY_TIMEOUT_S
    idle_s: float = limits.KEEP_ALIVE_IDLE_S
    stall_s: float = limits.ANSWER_STALL_TIMEOUT_S
    linger_s: float = limits.LINGER_S
    check_interval_s: float = limits.CONNECTION_CHECK_INTERVAL_S


@dataclass(slots=True)
class Sight:
    """What a check sees of a connection."""

    phase: int
    requests: int
    body_bytes: int
    unsent_bytes: int
    is_answering: bool
    is_reading: bool


class Lapse(Enum):
    """What the client has taken too long over."""

    HEAD = auto()
    BODY = auto()
    IDLE = auto()
    READING = auto()


class Watch:
    """Compares what it sees with what it saw: time passes for a client only while nothing moves."""

    def __init__(self, pace: Pace, now_s: float) -> None:
        self._pace = pace
        self._stage = (FRESH, 0)
        self._stage_since_s = now_s
        self._heard_bytes = 0
        self._heard_at_s = now_s
        self._stalled_bytes = 0
        self._stalled_since_s = now_s

    def look(self, sight: Sight, now_s: float) -> Lapse | None:
        if self._does_not_read(sight.unsent_bytes, now_s):
            return Lapse.READING
        stage = (sight.phase, sight.requests)
        if stage != self._stage:
            self._stage, self._stage_since_s = stage, now_s
            self._heard_bytes, self._heard_at_s = sight.body_bytes, now_s
            return None
        waited_s = now_s - self._stage_since_s
        if sight.phase == HEAD:
            return Lapse.HEAD if waited_s > self._pace.head_s else None
        if sight.phase == BODY:
            return Lapse.BODY if self._sends_too_slowly(sight, now_s, waited_s) else None
        if sight.is_answering or sight.unsent_bytes:
            self._stage_since_s = now_s
            return None
        return Lapse.IDLE if waited_s > self._patience_s(sight.phase) else None

    def note_drained(self) -> None:
        """The client has taken most of what waited for it."""
        self._stalled_bytes = 0

    def _does_not_read(self, unsent_bytes: int, now_s: float) -> bool:
        if unsent_bytes == 0:
            self._stalled_bytes = 0
        elif not 0 < self._stalled_bytes < unsent_bytes + limits.ANSWER_STALL_PROGRESS_BYTES:
            self._stalled_bytes, self._stalled_since_s = unsent_bytes, now_s
        else:
            return now_s - self._stalled_since_s > self._pace.stall_s
        return False

    def _sends_too_slowly(self, sight: Sight, now_s: float, waited_s: float) -> bool:
        if sight.body_bytes != self._heard_bytes or not sight.is_reading:
            self._heard_bytes, self._heard_at_s = sight.body_bytes, now_s
        return waited_s > self._pace.body_s or now_s - self._heard_at_s > self._pace.body_gap_s

    def _patience_s(self, phase: int) -> float:
        return {FRESH: self._pace.head_s, IDLE: self._pace.idle_s, DEAF: self._pace.linger_s}[phase]
