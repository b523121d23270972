"""How long a client may take, on a clock of the test's own."""

from dataclasses import replace

import pytest

from deskwire.api.pace import BODY, DEAF, FRESH, HEAD, IDLE, Lapse, Pace, Sight, Watch

PACE = Pace(head_s=10, body_gap_s=10, body_s=60, idle_s=75, stall_s=30, linger_s=5)
QUIET = Sight(phase=IDLE, requests=1, body_bytes=0, unsent_bytes=0, is_answering=False, is_reading=True)


def _lapses_at(sight: Sight) -> tuple[int, Lapse] | None:
    """The second at which a client that stays as it is has gone too far."""
    watch = Watch(PACE, 0)
    for now_s in range(1000):
        if lapse := watch.look(sight, now_s):
            return now_s, lapse
    return None


@pytest.mark.parametrize(
    ("sight", "lapse"),
    [
        (replace(QUIET, phase=FRESH, requests=0), (11, Lapse.IDLE)),
        (replace(QUIET, phase=HEAD), (11, Lapse.HEAD)),
        (replace(QUIET, phase=BODY), (11, Lapse.BODY)),
        (replace(QUIET, phase=BODY, is_reading=False), (61, Lapse.BODY)),
        (QUIET, (76, Lapse.IDLE)),
        (replace(QUIET, phase=DEAF), (6, Lapse.IDLE)),
        (replace(QUIET, is_answering=True), None),
        (replace(QUIET, unsent_bytes=1), (31, Lapse.READING)),
        (replace(QUIET, phase=DEAF, unsent_bytes=1), (31, Lapse.READING)),
        (replace(QUIET, is_answering=True, unsent_bytes=1), (31, Lapse.READING)),
    ],
)
def test_a_client_that_stays_as_it_is_lapses(sight: Sight, lapse: tuple[int, Lapse] | None) -> None:
    assert _lapses_at(sight) == lapse


def test_a_body_that_keeps_coming_has_a_minute() -> None:
    watch = Watch(PACE, 0)
    looks = [watch.look(replace(QUIET, phase=BODY, body_bytes=now_s), now_s) for now_s in range(62)]
    assert looks == [None] * 61 + [Lapse.BODY]


def test_each_request_begins_anew() -> None:
    watch = Watch(PACE, 0)
    assert not any(watch.look(replace(QUIET, phase=HEAD, requests=now_s // 9), now_s) for now_s in range(200))


@pytest.mark.parametrize(("bytes_each_second", "lapse"), [(10_000, None), (1_000, Lapse.READING)])
def test_a_client_that_reads_must_read_at_a_pace(bytes_each_second: int, lapse: Lapse | None) -> None:
    watch = Watch(PACE, 0)
    looks = {
        watch.look(replace(QUIET, unsent_bytes=1_000_000 - bytes_each_second * now_s), now_s)
        for now_s in range(99)
    }
    assert looks - {None} == ({lapse} if lapse else set())


def test_what_has_drained_counts_as_read() -> None:
    watch = Watch(PACE, 0)
    for now_s in range(100):
        assert watch.look(replace(QUIET, unsent_bytes=70_000), now_s) is None
        if now_s % 20 == 0:
            watch.note_drained()
