"""Who is in a team."""

from sqlalchemy import and_, bindparam, select, tuple_

from deskwire.desk.pages import Page, page_of
from deskwire.desk.reading import find
from deskwire.model.cursors import Position
from deskwire.store import kinds
from deskwire.store.statement import Statement
from deskwire.store.tables import MEMBERS, TEAM_MEMBERS
from deskwire.store.transaction import Tx

MEMBERS_OF_TEAM = Statement(
    select(MEMBERS.c.document)
    .join(
        TEAM_MEMBERS,
        and_(
            TEAM_MEMBERS.c.workspace_id == MEMBERS.c.workspace_id,
            TEAM_MEMBERS.c.member_id == MEMBERS.c.id,
        ),
    )
    .where(
        TEAM_MEMBERS.c.workspace_id == bindparam("workspace_id"),
        TEAM_MEMBERS.c.team_id == bindparam("team_id"),
        MEMBERS.c.visible,
        tuple_(MEMBERS.c.created_at, MEMBERS.c.id) < tuple_(bindparam("created_at"), bindparam("id")),
    )
    .order_by(MEMBERS.c.created_at.desc(), MEMBERS.c.id.desc())
    .limit(bindparam("limit"))
)


async def list_members(tx: Tx, workspace_id: str, team_id: str, limit: int, after: Position | None) -> Page:
    await find(tx, kinds.TEAMS, workspace_id, team_id)
    return await page_of(tx, MEMBERS_OF_TEAM, limit, after, workspace_id=workspace_id, team_id=team_id)
