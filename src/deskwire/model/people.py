"""The workspace itself, its members and its teams."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from deskwire.model.moments import Moment
from deskwire.model.shapes import Id, Record, Shown, shown_text, shown_time
from deskwire.model.vocabulary import Presence, Role


class WorkspaceRecord(Record, tag="workspace", kw_only=True):
    """The id is that of the workspace imported into; a line need not give one."""

    id: Id = ""
    name: Annotated[str, Meta(min_length=1)]


class Workspace(Shown, kw_only=True):
    id: Id
    name: str
    created_at: Moment


def show_workspace(record: WorkspaceRecord) -> Workspace:
    return Workspace(id=record.id, name=record.name, created_at=record.created_at)


class MemberRecord(Record, tag="member", kw_only=True):
    email: str
    name: str
    role: Role
    status: Presence = "active"
    avatar_url: str | None = None
    last_login_at: Moment | None = None
    active: bool = True

    def visible(self) -> bool:
        return self.active


class Member(Shown, kw_only=True):
    id: Annotated[Id, Meta(description="The membership id.")]
    email: str
    name: str
    role: Role
    status: Annotated[Presence, Meta(description="Online presence.")]
    avatar_url: str | UnsetType = UNSET
    last_login_at: Annotated[
        Moment | UnsetType, Meta(description="The most recent login; left out when there was none.")
    ] = UNSET
    created_at: Moment
    updated_at: Moment


def show_member(record: MemberRecord) -> Member:
    return Member(
        id=record.id,
        email=record.email,
        name=record.name,
        role=record.role,
        status=record.status,
        avatar_url=shown_text(record.avatar_url),
        last_login_at=shown_time(record.last_login_at),
        created_at=record.created_at,
        updated_at=record.changed_at(),
    )


class TeamRecord(Record, tag="team", kw_only=True):
    name: str
    description: str | None = None
    active: bool = True
    member_ids: list[Id] = []

    def visible(self) -> bool:
        return self.active


class Team(Shown, kw_only=True):
    id: Id
    name: str
    description: str | UnsetType = UNSET
    created_at: Moment
    updated_at: Moment


def show_team(record: TeamRecord) -> Team:
    return Team(
        id=record.id,
        name=record.name,
        description=shown_text(record.description),
        created_at=record.created_at,
        updated_at=record.changed_at(),
    )
