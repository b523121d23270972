"""The tasks the members note for themselves and each other."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from deskwire.demo.chance import Chance
from deskwire.demo.dialogues import fill, slots
from deskwire.demo.messages import Channel
from deskwire.demo.records import Record, record
from deskwire.demo.staff import Member, Team
from deskwire.demo.texts import languages, shop

TASKS = 60
STATUSES = {"open": 5, "in_progress": 3, "completed": 7}
EVERY_NTH_DELETED = 15
OLDEST_DAYS = 75


def task_records(
    now: datetime, staff: Sequence[Member], teams: Sequence[Team], channels: Sequence[Channel]
) -> Iterator[Record]:
    chance = Chance(now, "tasks")
    active = [team for team in teams if team.text.active]
    workers = [member for member in staff if member.works]
    for number in range(1, TASKS + 1):
        created_at = chance.ago(0, OLDEST_DAYS)
        status = chance.weighted(STATUSES)
        yield record(
            "task",
            id=chance.uuid(created_at),
            team_id=chance.pick(active).id if chance.percent(65) else None,
            **_wording(chance, created_at),
            channel_id=_channel_id(chance, channels, created_at) if chance.percent(55) else None,
            status=status,
            assignee_id=chance.pick(workers).id if status != "open" or chance.percent(50) else None,
            created_at=created_at,
            updated_at=created_at if status == "open" else chance.since(created_at),
            deleted=number % EVERY_NTH_DELETED == 0 or None,
        )


def _wording(chance: Chance, created_at: datetime) -> dict[str, str | None]:
    english = languages()["en"]
    words = slots(chance, english, created_at, chance.pick(english.given), "")
    texts = shop().tasks
    return {
        "title": fill(texts.titles, chance, words),
        "description": fill(texts.descriptions, chance, words) if chance.percent(60) else None,
    }


def _channel_id(chance: Chance, channels: Sequence[Channel], created_at: datetime) -> object:
    """A channel that was there before the task; a task is not made for a deleted one."""
    earlier = [one for one in channels if one.lines[0].moment < created_at and "deleted" not in one.record]
    return chance.pick(earlier).record["id"]
