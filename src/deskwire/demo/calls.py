"""Voice calls, most of them with the channel in which they were taken."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from deskwire.demo.chance import Chance
from deskwire.demo.channels import known, recently
from deskwire.demo.contacts import Contact
from deskwire.demo.dialogues import Turn
from deskwire.demo.messages import Cast, Channel, lines
from deskwire.demo.office import Workflow
from deskwire.demo.records import Record, record
from deskwire.demo.staff import Member

CALLS = 60
EVERY_NTH_WITHOUT_CHANNEL = 6
LIVE = ("ringing", "in_progress")
DIRECTIONS = {"inbound": 60, "outbound": 25, "widget_inbound": 15}
STATUSES = {"completed": 58, "missed": 20, "failed": 8, "dropped": 6, "ringing": 3, "in_progress": 5}


@dataclass(frozen=True)
class Call:
    """A call: seconds of ringing, then of talk when it was answered."""

    direction: str
    status: str
    ring_s: float
    talk_s: float

    @property
    def answered(self) -> bool:
        return self.status in ("in_progress", "completed", "dropped")

    @property
    def duration_s(self) -> int | None:
        match self.status:
            case "ringing" | "in_progress":
                return None
            case "completed" | "dropped":
                return int(self.talk_s)
            case "missed":
                return int(self.ring_s)
        return 0


def voice_calls(
    now: datetime, people: Sequence[Contact], staff: Sequence[Member], workflows: Sequence[Workflow]
) -> Iterator[tuple[Channel | None, Record]]:
    """Each call with its channel; now and then the channel, and the contact with it, is gone."""
    chance = Chance(now, "calls")
    callers = [contact for contact in people if contact.phone]
    statuses = _everyone_first(STATUSES, chance)
    directions = _everyone_first(DIRECTIONS, chance)
    for number in range(CALLS):
        call = Call(
            directions[number], statuses[number], chance.dice.uniform(2, 40), chance.dice.uniform(9, 1500)
        )
        ended_at = now - chance.seconds(5, 90) if call.status in LIVE else recently(chance)
        contact = known(chance, callers, ended_at)
        channel = _channel(chance, call, contact, staff, workflows, ended_at)
        gone = call.status not in LIVE and number % EVERY_NTH_WITHOUT_CHANNEL == 0
        yield None if gone else channel, _call(chance, call, channel, ended_at, gone)


def _everyone_first(weights: dict[str, int], chance: Chance) -> list[str]:
    """Each value once, then as likely as its weight says."""
    return list(weights) + [chance.weighted(weights) for _ in range(CALLS - len(weights))]


def _channel(
    chance: Chance,
    call: Call,
    contact: Contact,
    staff: Sequence[Member],
    workflows: Sequence[Workflow],
    ended_at: datetime,
) -> Channel:
    member = chance.pick([one for one in staff if one.works and one.answers(contact.language, ended_at)])
    spoken = lines(list(_turns(chance, call, contact, member)), ended_at, Cast(contact, member, workflows))
    contact.seen(spoken[0].moment)
    live = call.status in LIVE
    created_at = spoken[0].moment
    return Channel(
        record=record(
            "channel",
            id=chance.uuid(created_at),
            type="user_chat",
            provider="voice",
            status="open" if live or call.status == "missed" else "closed",
            contact_id=contact.id,
            assigned_member_id=member.id if call.status == "in_progress" else None,
            assigned_type=_assigned_type(call),
            tags=["Rückruf erbeten"] if call.status == "missed" else [],
            created_at=created_at,
            updated_at=min(chance.now, ended_at + chance.seconds(0, 30)),
        ),
        lines=spoken,
    )


def _turns(chance: Chance, call: Call, contact: Contact, member: Member) -> Iterator[Turn]:
    other = "to" if call.direction == "outbound" else "from"
    yield Turn("system", f"Call {other} {contact.phone}", "system")
    if call.direction == "inbound" and call.status != "failed":
        yield Turn("workflow", "Menu: 1 orders, 2 workshop, 3 anything else", trigger="T_IVR", pause_s=0.5)
    if call.answered:
        yield Turn("system", f"Answered by {member.text.name}", "system", pause_s=call.ring_s)
    match call.status:
        case "completed":
            yield Turn("system", "Call ended", "system", pause_s=call.talk_s)
        case "dropped":
            yield Turn("system", "The connection was lost", "system", pause_s=call.talk_s)
        case "missed":
            yield Turn("system", "Missed call", "system", pause_s=call.ring_s)
        case "failed":
            yield Turn("system", "The call could not be connected", "system", pause_s=1)


def _assigned_type(call: Call) -> str | None:
    return {"in_progress": "human", "ringing": "workflow"}.get(call.status)


def _call(chance: Chance, call: Call, channel: Channel, ended_at: datetime, gone: bool) -> Record:
    started_at = channel.lines[0].moment
    return record(
        "voice_call",
        id=chance.uuid(started_at),
        channel_id=None if gone else channel.record["id"],
        contact_id=None if gone else channel.record["contact_id"],
        direction=call.direction,
        status=call.status,
        duration_seconds=call.duration_s,
        started_at=started_at,
        ended_at=None if call.status in LIVE else ended_at,
        created_at=started_at,
    )
