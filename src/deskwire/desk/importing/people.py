"""The workspace's own name, its members and its teams."""

from typing import cast

from sqlalchemy import and_, bindparam, delete, exists, insert, or_, select, update

from deskwire.desk.importing.work import Numbered, Reference, Work, records
from deskwire.desk.workspaces import put_workspace
from deskwire.model.lines import WorkspaceLine
from deskwire.model.moments import Moment
from deskwire.model.people import MemberRecord, TeamRecord, WorkspaceRecord
from deskwire.store import kinds
from deskwire.store.records import load, put_all
from deskwire.store.statement import Among, Statement
from deskwire.store.tables import CHANNELS, MEMBERS, TASKS, TEAM_MEMBERS, WORKSPACES

ABOUT_WORKSPACE = Statement(
    select(WORKSPACES.c.created_at, WORKSPACES.c.owner_member_id).where(
        WORKSPACES.c.id == bindparam("workspace_id")
    )
)
SET_OWNER = Statement(
    update(WORKSPACES)
    .where(WORKSPACES.c.id == bindparam("workspace_id"))
    .values(owner_member_id=bindparam("owner"))
)
REMOVE_UNNAMED_MEMBER = Statement(
    delete(MEMBERS).where(
        MEMBERS.c.workspace_id == bindparam("workspace_id"),
        MEMBERS.c.id == bindparam("member_id"),
        ~or_(
            *(
                exists().where(
                    and_(column.table.c.workspace_id == MEMBERS.c.workspace_id, column == MEMBERS.c.id)
                )
                for column in (TEAM_MEMBERS.c.member_id, CHANNELS.c.assigned_member_id, TASKS.c.assignee_id)
            )
        ),
    )
)
UNLINK_MEMBERS = Statement(
    delete(TEAM_MEMBERS).where(
        TEAM_MEMBERS.c.workspace_id == bindparam("workspace_id"), Among(TEAM_MEMBERS.c.team_id, "ids")
    )
)
LINK_MEMBER = Statement(insert(TEAM_MEMBERS))
MEMBERS_OF_TEAM: Reference[TeamRecord] = Reference("member_ids", kinds.MEMBERS, lambda team: team.member_ids)


async def import_workspace(work: Work) -> None:
    for batch in work.batches(WorkspaceLine, "workspace"):
        for line in records(batch):
            created_at, _ = await about_workspace(work)
            if line.created_at is not None:
                created_at = line.created_at
            await put_workspace(
                work.tx, WorkspaceRecord(id=work.workspace_id, name=line.name, created_at=created_at)
            )


async def import_members(work: Work) -> None:
    _, owner_id = await about_workspace(work)
    made = None if owner_id is None else await load(work.tx, kinds.MEMBERS, work.workspace_id, owner_id)
    if made is not None and work.spool.numbers("member", [made.id]):
        made = None
    for batch in work.batches(MemberRecord, "member"):
        await put_all(work.tx, kinds.MEMBERS, work.workspace_id, records(batch))
        if made is not None and (owner := of_email(batch, made.email)):
            await replace_owner(work, made, owner)
            made = None


def of_email(batch: list[Numbered[MemberRecord]], email: str) -> MemberRecord | None:
    return next((one for one in records(batch) if one.email.casefold() == email.casefold()), None)


async def replace_owner(work: Work, made: MemberRecord, owner: MemberRecord) -> None:
    """The owner that came with the workspace's making goes, unless something names them already."""
    await work.tx.run(SET_OWNER, workspace_id=work.workspace_id, owner=owner.id)
    await work.tx.run(REMOVE_UNNAMED_MEMBER, workspace_id=work.workspace_id, member_id=made.id)


async def import_teams(work: Work) -> None:
    for lines in work.batches(TeamRecord, "team"):
        teams = records(await work.without_dangling(lines, MEMBERS_OF_TEAM))
        await put_all(work.tx, kinds.TEAMS, work.workspace_id, teams)
        await work.tx.run(UNLINK_MEMBERS, workspace_id=work.workspace_id, ids=[team.id for team in teams])
        await work.tx.many(
            LINK_MEMBER,
            [
                {
                    "workspace_id": work.workspace_id,
                    "team_id": team.id,
                    "member_id": member_id,
                    "position": position,
                }
                for team in teams
                for position, member_id in enumerate(dict.fromkeys(team.member_ids))
            ],
        )


async def about_workspace(work: Work) -> tuple[Moment, str | None]:
    row = await work.tx.one(ABOUT_WORKSPACE, workspace_id=work.workspace_id)
    assert row is not None
    created_at, owner_id = row
    return Moment(cast(int, created_at)), None if owner_id is None else str(owner_id)
