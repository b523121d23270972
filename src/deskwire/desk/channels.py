"""Finding channels: all of them, or those that carry tags."""

from collections.abc import Sequence

from sqlalchemy import and_, bindparam, func, select, tuple_

from deskwire.desk.pages import Page, cut, list_page
from deskwire.model.cursors import Position
from deskwire.model.vocabulary import TagMatch
from deskwire.store import kinds
from deskwire.store.records import FIRST
from deskwire.store.statement import Among, Row, Statement
from deskwire.store.tables import CHANNEL_TAG_LINKS, CHANNEL_TAGS, CHANNELS
from deskwire.store.transaction import Tx

# Counting further than this tells nothing about which of several tags is the rarest worth starting from.
COUNTED_LINKS = 1_000

TAG_IDS = Statement(
    select(CHANNEL_TAGS.c.id).where(
        CHANNEL_TAGS.c.workspace_id == bindparam("workspace_id"), Among(CHANNEL_TAGS.c.name, "names")
    )
)
COUNT_LINKS = Statement(
    select(func.count()).select_from(
        select(CHANNEL_TAG_LINKS.c.channel_id)
        .where(
            CHANNEL_TAG_LINKS.c.workspace_id == bindparam("workspace_id"),
            CHANNEL_TAG_LINKS.c.tag_id == bindparam("tag_id"),
        )
        .limit(COUNTED_LINKS)
        .subquery()
    )
)
TAGGED = (
    select(CHANNELS.c.document, CHANNEL_TAG_LINKS.c.channel_created_at, CHANNEL_TAG_LINKS.c.channel_id)
    .join(
        CHANNELS,
        and_(
            CHANNELS.c.workspace_id == CHANNEL_TAG_LINKS.c.workspace_id,
            CHANNELS.c.id == CHANNEL_TAG_LINKS.c.channel_id,
        ),
    )
    .where(
        CHANNEL_TAG_LINKS.c.workspace_id == bindparam("workspace_id"),
        CHANNEL_TAG_LINKS.c.tag_id == bindparam("tag_id"),
        tuple_(CHANNEL_TAG_LINKS.c.channel_created_at, CHANNEL_TAG_LINKS.c.channel_id)
        < tuple_(bindparam("created_at"), bindparam("id")),
        CHANNELS.c.visible,
    )
    .order_by(CHANNEL_TAG_LINKS.c.channel_created_at.desc(), CHANNEL_TAG_LINKS.c.channel_id.desc())
    .limit(bindparam("limit"))
)
WITH_TAG = Statement(TAGGED)

OTHER_LINKS = CHANNEL_TAG_LINKS.alias("other_links")
WITH_ALL_TAGS = Statement(
    TAGGED.where(
        select(func.count())
        .where(
            OTHER_LINKS.c.workspace_id == CHANNEL_TAG_LINKS.c.workspace_id,
            OTHER_LINKS.c.channel_id == CHANNEL_TAG_LINKS.c.channel_id,
            Among(OTHER_LINKS.c.tag_id, "tag_ids"),
        )
        .scalar_subquery()
        == bindparam("number")
    )
)


async def list_channels(
    tx: Tx,
    workspace_id: str,
    tags: Sequence[str],
    match: TagMatch,
    limit: int,
    after: Position | None,
) -> Page:
    """`tags` are the names asked for; without any, every channel is listed."""
    if not tags:
        return await list_page(tx, kinds.CHANNELS, workspace_id, limit, after)
    found = await tx.all(TAG_IDS, workspace_id=workspace_id, names=tags)
    tag_ids = [str(row[0]) for row in found]
    position = after or FIRST
    if match == "any":
        return cut(await with_any(tx, workspace_id, tag_ids, limit + 1, position), limit)
    if len(tag_ids) < len(tags):
        return Page([])
    return cut(await with_all(tx, workspace_id, tag_ids, limit + 1, position), limit)


async def with_any(
    tx: Tx, workspace_id: str, tag_ids: Sequence[str], limit: int, position: Position
) -> list[Row]:
    by_key: dict[tuple[object, object], Row] = {}
    for tag_id in tag_ids:
        for row in await tx.all(
            WITH_TAG,
            workspace_id=workspace_id,
            tag_id=tag_id,
            created_at=position.created_at,
            id=position.id,
            limit=limit,
        ):
            by_key[row[1], row[2]] = row
    newest = sorted(by_key, reverse=True)
    return [by_key[key] for key in newest[:limit]]


async def with_all(
    tx: Tx, workspace_id: str, tag_ids: Sequence[str], limit: int, position: Position
) -> Sequence[Row]:
    return await tx.all(
        WITH_ALL_TAGS,
        workspace_id=workspace_id,
        tag_id=await rarest(tx, workspace_id, tag_ids),
        tag_ids=tag_ids,
        number=len(tag_ids),
        created_at=position.created_at,
        id=position.id,
        limit=limit,
    )


async def rarest(tx: Tx, workspace_id: str, tag_ids: Sequence[str]) -> str:
    counts: dict[str, int] = {}
    for tag_id in tag_ids:
        row = await tx.one(COUNT_LINKS, workspace_id=workspace_id, tag_id=tag_id)
        assert row is not None and isinstance(row[0], int)
        counts[tag_id] = row[0]
    return min(tag_ids, key=counts.__getitem__)
