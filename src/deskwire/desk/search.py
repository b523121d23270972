"""Searching message bodies: the best match first, the newest first among equals."""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple, cast, get_args

from msgspec import UNSET
from msgspec.structs import replace
from sqlalchemy import and_, bindparam, select

from deskwire.model.limits import INDEXED_CHARACTERS
from deskwire.model.moments import Moment
from deskwire.model.search import SearchResult, term_prefix
from deskwire.model.snippet import snippet
from deskwire.model.text import Parts, Query, fold, matches, query, rank
from deskwire.model.vocabulary import ContentType, SenderType
from deskwire.store.records import ENCODER
from deskwire.store.search import Subject
from deskwire.store.statement import Among, Row, Statement
from deskwire.store.tables import CHANNELS, MESSAGES
from deskwire.store.transaction import Tx

# Some candidates are in deleted channels, or share only the terms.
SPARE_CANDIDATES = 20
LOOKED_AT_ONCE = 1_000
# Some seconds' work, for a query that hardly any of its candidates match.
MOST_CANDIDATES = 100_000
# Of more words than these the index is not asked how many stand there whole: the newest candidates, which
# are few, are looked at before they are ranked.
MOST_RANKED_WORDS = 4
RANKED_CANDIDATES = 4_000

CANDIDATES = Statement(
    select(
        MESSAGES.c.id,
        MESSAGES.c.channel_id,
        CHANNELS.c.contact_id,
        MESSAGES.c.sender_type,
        MESSAGES.c.sender_name,
        MESSAGES.c.content_type,
        MESSAGES.c.content,
        MESSAGES.c.created_at,
    )
    .join(
        CHANNELS,
        and_(CHANNELS.c.workspace_id == MESSAGES.c.workspace_id, CHANNELS.c.id == MESSAGES.c.channel_id),
    )
    .where(
        MESSAGES.c.workspace_id == bindparam("workspace_id"),
        Among(MESSAGES.c.id, "ids"),
        MESSAGES.c.visible,
        CHANNELS.c.visible,
    )
)


class Match(NamedTuple):
    """Greater is better."""

    rank: int
    created_at: int
    id: str
    row: Row


class Tier(NamedTuple):
    """What to ask the index for, and how many candidates to look at before any is left out."""

    parts: Parts
    looked_at: int


async def search(tx: Tx, workspace_id: str, q: str, limit: int) -> list[bytes]:
    asked = query(term_prefix(workspace_id), q)
    if asked is None:
        return []
    found: dict[str, Match] = {}
    for tier in tiers(asked, limit + SPARE_CANDIDATES):
        if len(found) < limit:
            found |= await confirmed(tx, workspace_id, asked, tier, limit)
    return [ENCODER.encode(result(match.row, asked)) for match in best(found.values(), limit)]


def tiers(asked: Query, few: int) -> Iterator[Tier]:
    """The more of the words stand in a message as whole words, the sooner it is looked for."""
    words = len(asked.whole)
    yield Tier(Parts(asked.whole, ()), few)
    if words > MOST_RANKED_WORDS:
        yield Tier(asked.parts, max(few, RANKED_CANDIDATES))
        return
    for whole in range(words - 1, 0, -1):
        yield Tier(replace(asked.parts, choices=tuple(combinations(asked.whole, whole))), few)
    yield Tier(asked.parts, few)


async def confirmed(tx: Tx, workspace_id: str, asked: Query, tier: Tier, wanted: int) -> dict[str, Match]:
    """What matches best among the newest candidates; more are looked at while too few are confirmed."""
    found: dict[str, Match] = {}
    seen: set[str] = set()
    most = tier.looked_at
    while True:
        ids = await tx.candidates(Subject.MESSAGES, workspace_id, tier.parts, most)
        new = [id for id in ids if id not in seen]
        seen.update(new)
        for start in range(0, len(new), LOOKED_AT_ONCE):
            some = new[start : start + LOOKED_AT_ONCE]
            rows = await tx.all(CANDIDATES, workspace_id=workspace_id, ids=some)
            ranked = best([*found.values(), *matching(rows, asked)], wanted)
            found = {match.id: match for match in ranked}
        if len(found) >= wanted or len(ids) < most or most >= MOST_CANDIDATES:
            return found
        most = min(most * 4, MOST_CANDIDATES)


def matching(rows: Iterable[Row], asked: Query) -> Iterator[Match]:
    for row in rows:
        folded = fold(indexed(row))
        if matches(folded, asked.words):
            yield Match(rank(folded, asked.words), cast(int, row[7]), str(row[0]), row)


def best(matches: Iterable[Match], count: int) -> list[Match]:
    return sorted(matches, key=lambda match: match[:3], reverse=True)[:count]


def indexed(row: Row) -> str:
    return str(row[6])[:INDEXED_CHARACTERS]


def result(row: Row, asked: Query) -> SearchResult:
    id, channel_id, contact_id, sender_type, sender_name, content_type, _, created_at = row
    assert sender_type in get_args(SenderType) and content_type in get_args(ContentType)
    return SearchResult(
        message_id=str(id),
        channel_id=str(channel_id),
        contact_id=str(contact_id) if contact_id else UNSET,
        sender_type=cast(SenderType, sender_type),
        sender_name=str(sender_name),
        content_type=cast(ContentType, content_type),
        snippet=snippet(indexed(row), asked.words),
        created_at=Moment(cast(int, created_at)),
    )
