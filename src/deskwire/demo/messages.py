"""Turns of a dialogue as messages: when each was sent, by whom, and what became of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from deskwire.demo.attachments import Shelf
from deskwire.demo.chance import Chance
from deskwire.demo.contacts import Contact
from deskwire.demo.dialogues import Turn
from deskwire.demo.history import LONGEST_CHANNEL_DAYS
from deskwire.demo.office import Workflow
from deskwire.demo.records import Record, record
from deskwire.demo.staff import Member
from deskwire.model.vocabulary import SERVICE_SENDER_ID

TOKEN_ID = "5d0c3a51-7c1e-4b0e-9c53-2f8e6d1a4b77"
TOKEN_PREFIX = "dwp_S7kQ2xZt"
LONGEST = timedelta(days=LONGEST_CHANNEL_DAYS)


@dataclass(frozen=True)
class Sender:
    id: str
    type: str
    name: str


@dataclass(frozen=True)
class Line:
    moment: datetime
    turn: Turn
    sender: Sender


@dataclass(frozen=True)
class Channel:
    """A channel's record and what was said in it, oldest first."""

    record: Record
    lines: list[Line]


@dataclass(frozen=True)
class Cast:
    """Who may speak in a channel."""

    contact: Contact | None
    member: Member | None
    workflows: Sequence[Workflow]

    def sender(self, turn: Turn) -> Sender:
        match turn.speaker:
            case "contact" if self.contact:
                return Sender(self.contact.id, "contact", self.contact.sender_name)
            case "member" | "internal" if self.member:
                return Sender(self.member.id, turn.speaker, self.member.text.name)
            case "workflow":
                workflow = next(one for one in self.workflows if one.text.trigger_type == turn.trigger)
                return Sender(workflow.id, "workflow", workflow.text.name)
            case "bot":
                return Sender(SERVICE_SENDER_ID, "bot", "Pedal")
            case "system":
                return Sender(SERVICE_SENDER_ID, "system", "System")
            case "integration":
                return Sender(TOKEN_ID, "integration", TOKEN_PREFIX)
            case "external":
                return Sender("page-inbox:4471", "external", "Page inbox")
            case "nobody":
                return Sender(SERVICE_SENDER_ID, "", "")
        raise ValueError(f"nobody in this channel can speak as {turn.speaker}")


def lines(turns: Sequence[Turn], ended_at: datetime, cast: Cast) -> list[Line]:
    """The turns with their moments, the last one at `ended_at`; what would take too long is sped up."""
    waits = [timedelta(seconds=turn.pause_s) for turn in turns]
    waits[0] = timedelta()
    total = sum(waits, timedelta())
    pace = min(1.0, LONGEST / total) if total else 1.0
    moment = ended_at - total * pace
    spoken = []
    for turn, wait in zip(turns, waits, strict=True):
        moment += wait * pace
        spoken.append(Line(min(moment, ended_at), turn, cast.sender(turn)))
    return spoken


def message_records(now: datetime, channels: Sequence[Channel], shelf: Shelf) -> Iterator[Record]:
    chance = Chance(now, "messages")
    for channel in channels:
        for line in channel.lines:
            yield _message(chance, channel.record["id"], line, shelf)


def _message(chance: Chance, channel_id: object, line: Line, shelf: Shelf) -> Record:
    by_person = line.turn.speaker in ("contact", "member", "internal")
    is_edited = by_person and line.turn.content_type in ("text", "markdown") and chance.percent(3)
    edited_at = min(chance.now, line.moment + chance.seconds(20, 900))
    deleted = by_person and chance.dice.random() < 0.007
    return record(
        "message",
        id=chance.uuid(line.moment),
        channel_id=channel_id,
        sender_id=line.sender.id,
        sender_type=line.sender.type,
        sender_name=line.sender.name,
        content_type=line.turn.content_type,
        content=line.turn.content,
        attachment_ids=_attached(chance, line, shelf),
        is_edited=is_edited,
        created_at=line.moment,
        updated_at=edited_at if is_edited else line.moment,
        deleted=deleted or None,
        internal_note=line.turn.note or None,
    )


def _attached(chance: Chance, line: Line, shelf: Shelf) -> list[str] | None:
    medium = line.turn.medium
    if medium is None:
        return None
    count = 2 if medium == "image" and chance.percent(20) else 1
    return [shelf.add(medium, line.moment - chance.seconds(1, 9)) for _ in range(count)]
