"""Finding contacts: all of them, by a part of name, e-mail or phone, by an external id."""

from sqlalchemy import ColumnElement, Select, and_, bindparam, literal_column, select, tuple_

from deskwire.desk.pages import Page, cut, list_page
from deskwire.desk.reading import find
from deskwire.model.contact_text import contact_needle, contact_parts
from deskwire.model.cursors import Position
from deskwire.model.limits import CONTACT_FIELD_FOLDED_CHARACTERS
from deskwire.model.search import term_prefix
from deskwire.store import kinds
from deskwire.store.records import FIRST, document
from deskwire.store.search import Subject
from deskwire.store.statement import Among, Statement, Value
from deskwire.store.tables import CONTACT_EXTERNAL_IDS, CONTACT_TAG_LINKS, CONTACT_TAGS, CONTACTS
from deskwire.store.transaction import Tx

# So few candidates are looked at one by one; where more qualify, matches are met soon on the way down.
FEW_CANDIDATES = 2_000


def matching(created_at: ColumnElement[int]) -> Select[tuple[bytes]]:
    return (
        select(CONTACTS.c.document)
        .where(
            CONTACTS.c.workspace_id == bindparam("workspace_id"),
            CONTACTS.c.visible,
            tuple_(created_at, CONTACTS.c.id) < tuple_(bindparam("created_at"), bindparam("id")),
            CONTACTS.c.match_text.like(bindparam("pattern"), escape="\\"),
        )
        .order_by(created_at.desc(), CONTACTS.c.id.desc())
        .limit(bindparam("limit"))
    )


MATCHING = Statement(matching(CONTACTS.c.created_at))
# No index has a computed time, so the ids lead to the rows, whatever a planner thinks of their number.
MATCHING_CANDIDATES = Statement(
    matching(CONTACTS.c.created_at + literal_column("0")).where(Among(CONTACTS.c.id, "ids"))
)

BY_EXTERNAL_ID = Statement(
    select(CONTACTS.c.document)
    .join(
        CONTACT_EXTERNAL_IDS,
        and_(
            CONTACT_EXTERNAL_IDS.c.workspace_id == CONTACTS.c.workspace_id,
            CONTACT_EXTERNAL_IDS.c.contact_id == CONTACTS.c.id,
        ),
    )
    .where(
        CONTACT_EXTERNAL_IDS.c.workspace_id == bindparam("workspace_id"),
        CONTACT_EXTERNAL_IDS.c.external_id == bindparam("external_id"),
        CONTACTS.c.visible,
    )
)

TAGS_OF = Statement(
    select(CONTACT_TAGS.c.name)
    .join(
        CONTACT_TAG_LINKS,
        and_(
            CONTACT_TAG_LINKS.c.workspace_id == CONTACT_TAGS.c.workspace_id,
            CONTACT_TAG_LINKS.c.tag_id == CONTACT_TAGS.c.id,
        ),
    )
    .where(
        CONTACT_TAG_LINKS.c.workspace_id == bindparam("workspace_id"),
        CONTACT_TAG_LINKS.c.contact_id == bindparam("contact_id"),
    )
    .order_by(CONTACT_TAG_LINKS.c.position)
)


async def list_contacts(tx: Tx, workspace_id: str, q: str | None, limit: int, after: Position | None) -> Page:
    if not q:
        return await list_page(tx, kinds.CONTACTS, workspace_id, limit, after)
    needle = contact_needle(q)
    if len(needle) > CONTACT_FIELD_FOLDED_CHARACTERS:
        return Page([])
    position = after or FIRST
    values: dict[str, Value] = {
        "workspace_id": workspace_id,
        "created_at": position.created_at,
        "id": position.id,
        "pattern": like_pattern(needle),
        "limit": limit + 1,
    }
    parts = contact_parts(term_prefix(workspace_id), q)
    has_terms = parts.exact or parts.prefixes
    if not has_terms or await tx.has_more_candidates(Subject.CONTACTS, workspace_id, parts, FEW_CANDIDATES):
        return cut(await tx.all(MATCHING, **values), limit)
    ids = await tx.candidates(Subject.CONTACTS, workspace_id, parts, FEW_CANDIDATES)
    return cut(await tx.all(MATCHING_CANDIDATES, **values, ids=ids), limit)


async def find_by_external_id(tx: Tx, workspace_id: str, external_id: str) -> Page:
    row = await tx.one(BY_EXTERNAL_ID, workspace_id=workspace_id, external_id=external_id)
    return Page([] if row is None else [document(row)])


async def list_tags(tx: Tx, workspace_id: str, contact_id: str) -> list[str]:
    await find(tx, kinds.CONTACTS, workspace_id, contact_id)
    return [str(row[0]) for row in await tx.all(TAGS_OF, workspace_id=workspace_id, contact_id=contact_id)]


def like_pattern(needle: str) -> str:
    escaped = needle.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
