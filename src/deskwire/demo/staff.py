"""The shop's members and teams."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from deskwire.demo.addresses import local_part
from deskwire.demo.chance import Chance
from deskwire.demo.history import FOUNDED_DAYS, LEFT_DAYS, STAFFED_DAYS
from deskwire.demo.records import Record, record
from deskwire.demo.texts import MemberText, Staff, TeamText, read


@dataclass(frozen=True)
class Member:
    """A member; one who is not active left the shop and answered until then."""

    id: str
    text: MemberText
    created_at: datetime
    left_at: datetime | None
    last_login_at: datetime | None
    avatar_url: str | None

    def answers(self, language: str, moment: datetime) -> bool:
        """A viewer holds no `message:write`; who left answered until the week before."""
        if self.text.role == "viewer" or language not in self.text.languages:
            return False
        return self.left_at is None or moment < self.left_at - timedelta(days=7)

    @property
    def works(self) -> bool:
        return self.text.active and self.text.role != "viewer"


@dataclass(frozen=True)
class Team:
    id: str
    text: TeamText
    created_at: datetime
    members: list[Member]


def members(now: datetime) -> list[Member]:
    chance = Chance(now, "members")
    return [_member(chance, text) for text in read("staff", Staff).members]


def teams(now: datetime, staff: list[Member]) -> list[Team]:
    chance = Chance(now, "teams")
    by_name = {member.text.name: member for member in staff}
    return [
        Team(
            id=chance.uuid(created_at := chance.ago(STAFFED_DAYS, FOUNDED_DAYS - 30)),
            text=text,
            created_at=created_at,
            members=[by_name[name] for name in text.members],
        )
        for text in read("staff", Staff).teams
    ]


def member_records(now: datetime, staff: list[Member]) -> Iterator[Record]:
    for member in staff:
        yield record(
            "member",
            id=member.id,
            email=f"{local_part(member.text.name.split()[0])}@kettlecrank.test",
            name=member.text.name,
            role=member.text.role,
            status=member.text.status,
            avatar_url=member.avatar_url,
            last_login_at=member.last_login_at,
            created_at=member.created_at,
            updated_at=member.left_at or member.last_login_at or member.created_at,
            active=None if member.text.active else False,
        )


def team_records(now: datetime, groups: list[Team]) -> Iterator[Record]:
    chance = Chance(now, "team records")
    for team in groups:
        yield record(
            "team",
            id=team.id,
            name=team.text.name,
            description=team.text.description,
            created_at=team.created_at,
            updated_at=chance.since(team.created_at),
            active=None if team.text.active else False,
            member_ids=[member.id for member in team.members],
        )


def _member(chance: Chance, text: MemberText) -> Member:
    owner = text.role == "owner"
    created_at = (
        chance.ago(FOUNDED_DAYS, FOUNDED_DAYS) if owner else chance.ago(STAFFED_DAYS, FOUNDED_DAYS - 5)
    )
    left_at = None if text.active else chance.ago(LEFT_DAYS, LEFT_DAYS + 20)
    last_login_at = left_at - timedelta(hours=7) if left_at else chance.ago(0, 1.5)
    return Member(
        id=chance.uuid(created_at),
        text=text,
        created_at=created_at,
        left_at=left_at,
        last_login_at=None if text.role == "viewer" and text.active else last_login_at,
        avatar_url=f"https://cdn.example.com/staff/{local_part(text.name)}.png"
        if chance.percent(70)
        else None,
    )
