"""What is measured under load, a row each: its requests, and what the design asks of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from urllib.parse import quote, urlencode

from bench.figures import Goal
from bench.filled import FilledDesk, get, post
from bench.load import Request
from bench.records import (
    BEGIN,
    COMMON_WORD,
    SPAN,
    SYLLABLES,
    agent_id,
    channel_id,
    contact_id,
    message_id,
    order_of,
    phone_of,
    text_of,
)

# So many are asked for in turn, spread over all that there are: more than a server's own cache holds of many.
SPREAD = 10_000
DEEP_CURSORS = 20
DEEP_PAGE = 100


class Measure(Enum):
    """What of a case is held against its goal."""

    RATIO = "requests a second, as a part of the floor's"
    P95 = "the time within which 95 % are answered, in ms"


@dataclass(frozen=True)
class Case:
    name: str
    what: str
    requests: Callable[[FilledDesk], Sequence[Request]]
    measure: Measure
    goal: Goal
    connections: int = 16
    # Whether it is also measured with two processes that answer, where the engine can have them.
    several: bool = False


ONE = Goal(0.35, 0.5, "of the floor", more_is_better=True)
PAGE = Goal(0.3, 0.4, "of the floor", more_is_better=True)
FOUND = Goal(50, 20, "ms for 95 %")
WRITTEN = Goal(0.12, 0.2, "of the floor", more_is_better=True)


def one(
    name: str,
    path: str,
    id_of: Callable[[int, FilledDesk], str],
    count: Callable[[FilledDesk], int],
    *,
    several: bool = False,
) -> Case:
    def requests(desk: FilledDesk) -> list[Request]:
        return [get(f"{path}/{id_of(number, desk)}") for number in spread(range(count(desk)))]

    return Case(f"one-{name}", f"GET one {name}", requests, Measure.RATIO, ONE, several=several)


def page(
    name: str, what: str, requests: Callable[[FilledDesk], Sequence[Request]], *, several: bool = False
) -> Case:
    return Case(name, what, requests, Measure.RATIO, PAGE, several=several)


def found(name: str, what: str, path: str, queries: Callable[[FilledDesk], Sequence[str]]) -> Case:
    def requests(desk: FilledDesk) -> list[Request]:
        return [get(f"{path}?{urlencode({'q': q}, quote_via=quote)}") for q in queries(desk)]

    return Case(name, what, requests, Measure.P95, FOUND)


def written(
    name: str, what: str, requests: Callable[[FilledDesk], Sequence[Request]], *, several: bool = False
) -> Case:
    return Case(name, what, requests, Measure.RATIO, WRITTEN, several=several)


def replies(desk: FilledDesk) -> list[Request]:
    content = "Your order has left our house and should be with you on Thursday."
    return [
        post(f"/channels/{channel_id(number, desk.size)}/messages", content_type="text", content=content)
        for number in spread(range(desk.size.channels))
    ]


def closings(desk: FilledDesk) -> list[Request]:
    """Each channel is closed and opened again before the next one's turn."""
    return [
        post(f"/channels/{channel_id(number, desk.size)}/{verb}", actor_member_id=agent_id())
        for number in spread(range(desk.size.channels))
        for verb in ("close", "reopen")
    ]


def long_channels(desk: FilledDesk) -> list[Request]:
    window = f"since={text_of(BEGIN)}&until={text_of(BEGIN + SPAN)}"
    return [
        get(f"/channels/{channel_id(number, desk.size)}/messages?limit=50&{window}")
        for number in spread(desk.size.long_channels)
    ]


def deep_pages(desk: FilledDesk) -> list[Request]:
    """Pages in the second half of the list."""
    cursor = None
    pages = desk.size.channels // DEEP_PAGE
    cursors = []
    for number in range(min(pages // 2 + DEEP_CURSORS, pages - 1)):
        cursor = desk.next_cursor(f"/channels?limit={DEEP_PAGE}", cursor)
        if number >= pages // 2:
            cursors.append(cursor)
    return [get(f"/channels?limit=50&cursor={cursor}") for cursor in cursors]


def spread(numbers: range) -> range:
    return numbers[:: max(1, len(numbers) // SPREAD)]


CASES: tuple[Case, ...] = (
    one(
        "channel",
        "/channels",
        lambda n, desk: channel_id(n, desk.size),
        lambda desk: desk.size.channels,
        several=True,
    ),
    one("contact", "/contacts", lambda n, desk: contact_id(n, desk.size), lambda desk: desk.size.contacts),
    one("message", "/messages", lambda n, desk: message_id(n, desk.size), lambda desk: desk.size.messages),
    page("page-channels", "page of 50 channels", lambda _: [get("/channels?limit=50")]),
    page("page-contacts", "page of 50 contacts", lambda _: [get("/contacts?limit=50")]),
    page("page-messages", "page of 50 messages of a channel", long_channels, several=True),
    page("deep-page", "page of 50 channels, far down", deep_pages),
    found(
        "q-selective",
        "contacts q, one matches",
        "/contacts",
        lambda desk: [phone_of(number)[-7:] for number in spread(range(desk.size.contacts))],
    ),
    found("q-common", "contacts q, many match", "/contacts", lambda _: ["an", "example", "ana", "en"]),
    found(
        "search-rare",
        "search, one matches",
        "/search",
        lambda desk: [order_of(number).lower() for number in spread(range(desk.size.messages))],
    ),
    found(
        "search-common", "search, a common word", "/search", lambda _: [COMMON_WORD, f"{COMMON_WORD} babaker"]
    ),
    found(
        "search-short",
        "search, two letters",
        "/search",
        lambda _: list(islice((s[:2] for s in SYLLABLES), 10)),
    ),
    found("search-korean", "search, Korean", "/search", lambda _: ["배송", "자전거", "주문 환불", "도착"]),
    # What is written stays written, so these come last.
    written("reply", "POST a reply", replies, several=True),
    written("contact", "POST a contact", lambda _: [post("/contacts", name="Bench", phone="555 0100")]),
    written("close-reopen", "POST close, POST reopen", closings),
)
