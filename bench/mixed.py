"""A desk as it is used: reads, replies, closes and tags at once, and how memory and latency go over time."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from urllib.parse import urlencode

from bench.cases import CASES, replies, spread
from bench.figures import Load
from bench.filled import PREFIX, FilledDesk, post
from bench.load import Generator, Request, Volley
from bench.records import TAGS, agent_id, channel_id

CONNECTIONS = 16
SLICE_S = 5
REQUESTS = 4_000
# Of twenty requests sixteen read, three reply, and one closes, opens again or tags.
READS = {
    "one-channel": 5,
    "one-message": 3,
    "page-messages": 3,
    "one-contact": 2,
    "page-channels": 2,
    "q-selective": 1,
}
REPLIES, CHANGES = 3, 1


@dataclass(frozen=True)
class Slice:
    """What was seen until so many seconds after the beginning."""

    until_s: int
    load: Load
    memory_mb: float


def drive_mixed(
    desk: FilledDesk, generator: Generator, seconds: int, tell: Callable[[str], None]
) -> list[Slice]:
    requests = [request.raw(desk.token) for request in mixed(desk)]
    slices: list[Slice] = []
    for begin_s in range(0, seconds, SLICE_S):
        # Each slice begins elsewhere, so that together they go through all requests.
        first = len(requests) * begin_s // seconds
        volley = Volley(requests[first:] + requests[:first], CONNECTIONS, SLICE_S)
        load = generator.drive(desk.server.port, volley)
        slices.append(Slice(begin_s + SLICE_S, load, desk.server.memory_mb()))
        tell(slice_text(slices[-1]))
    return slices


def mixed(desk: FilledDesk) -> list[Request]:
    """In an order that is always the same."""
    by_name = {case.name: cycle(case.requests(desk)) for case in CASES if case.name in READS}
    turns: list[Iterator[Request]] = [by_name[name] for name, times in READS.items() for _ in range(times)]
    turns += [cycle(replies(desk))] * REPLIES + [cycle(changes(desk))] * CHANGES
    chance = random.Random("mixed")
    found: list[Request] = []
    while len(found) < REQUESTS:
        chance.shuffle(turns)
        found += [next(turn) for turn in turns]
    return found


def changes(desk: FilledDesk) -> Sequence[Request]:
    """Each channel ends as it began, so that the same requests change something the next time, too."""
    tag = TAGS[0]
    untag = urlencode({"actor_member_id": agent_id(), "name": tag})
    found: list[Request] = []
    for number in spread(range(desk.size.channels)):
        channel = f"/channels/{channel_id(number, desk.size)}"
        found += [
            post(f"{channel}/close", actor_member_id=agent_id()),
            post(f"{channel}/tags", actor_member_id=agent_id(), tags=[tag]),
            post(f"{channel}/reopen", actor_member_id=agent_id()),
            Request(f"{PREFIX}{channel}/tags?{untag}", "DELETE"),
        ]
    return found


def slice_text(slice: Slice) -> str:
    load = slice.load
    return (
        f"  {slice.until_s:>3} s: {load.requests_per_s:>6,.0f} requests/s, p50 {load.p50_ms:6.2f} ms, "
        f"p95 {load.p95_ms:6.2f} ms, p99 {load.p99_ms:6.2f} ms, {slice.memory_mb:,.0f} MB"
    )
