"""The macros of the workspace and of its teams."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from deskwire.demo.chance import Chance
from deskwire.demo.records import Record, record
from deskwire.demo.staff import Team
from deskwire.demo.texts import Macros, read


def macro_records(now: datetime, teams: Sequence[Team]) -> Iterator[Record]:
    chance = Chance(now, "macros")
    team_ids = {team.text.name: team.id for team in teams}
    for position, text in enumerate(read("macros", Macros).macros):
        created_at = chance.ago(5, 250)
        yield record(
            "macro",
            id=chance.uuid(created_at),
            name=text.name,
            content=text.content,
            scope="team" if text.team else "workspace",
            team_id=team_ids[text.team] if text.team else None,
            action_type=text.action_type,
            sort_order=position * 10,
            created_at=created_at,
            updated_at=chance.since(created_at) if chance.percent(40) else created_at,
            deleted=text.deleted or None,
        )
