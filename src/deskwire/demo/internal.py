"""The members' own channels: one for each team, some groups, some pairs."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from deskwire.demo.chance import Chance
from deskwire.demo.dialogues import Turn, fill, slots
from deskwire.demo.messages import Cast, Channel, Line
from deskwire.demo.records import record
from deskwire.demo.staff import Member, Team
from deskwire.demo.texts import languages, shop

BUSIEST = "Workshop floor"
THREADS = {"team": 14, "group": 7, "direct": 3}
THREADS_OF_THE_BUSIEST = 55
PAIRS = 8


def internal_channels(now: datetime, staff: Sequence[Member], teams: Sequence[Team]) -> Iterator[Channel]:
    chance = Chance(now, "internal channels")
    workers = [member for member in staff if member.works]
    active = [team for team in teams if team.text.active]
    names = shop().internal.names
    for name, team in zip(names, active, strict=False):
        yield _channel(chance, "team", name, [member for member in team.members if member.works])
    for name in names[len(active) :]:
        yield _channel(chance, "group", name, workers)
    for _ in range(PAIRS):
        yield _channel(chance, "direct", None, chance.several(workers, 2))


def _channel(chance: Chance, kind: str, name: str | None, members: Sequence[Member]) -> Channel:
    threads = THREADS_OF_THE_BUSIEST if name == BUSIEST else THREADS[kind]
    # The busiest fits into the 30 days that one look at a channel's messages may span.
    oldest_days = 29 if name == BUSIEST else 120
    begins = sorted(chance.ago(0.1, oldest_days) for _ in range(threads))
    lines = [line for begin in begins for line in _thread(chance, begin, members)]
    lines.sort(key=lambda line: line.moment)
    created_at = lines[0].moment - chance.seconds(30, 3000)
    return Channel(
        record=record(
            "channel",
            id=chance.uuid(created_at),
            type=kind,
            provider="native",
            status="open",
            name=name,
            description="Members only." if kind == "team" else None,
            tags=[],
            created_at=created_at,
            updated_at=lines[-1].moment,
        ),
        lines=lines,
    )


def _thread(chance: Chance, begin: datetime, members: Sequence[Member]) -> Iterator[Line]:
    """A thread of at most a few lines, over in less than two hours."""
    first, second = chance.several(members, 2)
    words = slots(chance, languages()["en"], begin, None, first.text.name)
    moment = begin
    for number, text in enumerate(chance.pick(shop().internal.threads)):
        member = second if number % 2 else first
        turn = Turn("internal", fill([text], chance, words))
        yield Line(moment, turn, Cast(None, member, ()).sender(turn))
        moment += chance.seconds(20, 1500)
