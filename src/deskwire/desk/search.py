"""Searching message bodies: the best match first, the newest first among equals."""

from typing import cast, get_args

from msgspec import UNSET
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
MOST_CANDIDATES = 4_000

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


async def search(tx: Tx, workspace_id: str, q: str, limit: int) -> list[bytes]:
    asked = query(term_prefix(workspace_id), q)
    if asked is None:
        return []
    # Messages that have every word as a whole word rank before all others, so they are looked for first.
    found = await confirmed(tx, workspace_id, asked, Parts(asked.whole, ()), limit)
    if len(found) < limit:
        found |= await confirmed(tx, workspace_id, asked, asked.parts, limit)
    best = sorted(found.values(), key=lambda entry: entry[:3], reverse=True)[:limit]
    return [ENCODER.encode(result(row, asked)) for _, _, _, row in best]


async def confirmed(
    tx: Tx, workspace_id: str, asked: Query, parts: Parts, wanted: int
) -> dict[str, tuple[int, int, str, Row]]:
    """What matches among the newest candidates; more of them are looked at while too few are confirmed."""
    most = wanted + SPARE_CANDIDATES
    while True:
        ids = await tx.candidates(Subject.MESSAGES, workspace_id, parts, most)
        found: dict[str, tuple[int, int, str, Row]] = {}
        for row in await tx.all(CANDIDATES, workspace_id=workspace_id, ids=ids):
            id, created_at, folded = str(row[0]), cast(int, row[7]), fold(indexed(row))
            if matches(folded, asked.words):
                found[id] = (rank(folded, asked.words), created_at, id, row)
        if len(found) >= wanted or len(ids) < most or most >= MOST_CANDIDATES:
            return found
        most *= 4


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
