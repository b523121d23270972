"""The conversations with contacts: when, where, about what, and how far they have come."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from deskwire.demo.chance import Chance
from deskwire.demo.contacts import Contact
from deskwire.demo.dialogues import Speaker, Talk, fill, slots, turns
from deskwire.demo.history import LONGEST_CHANNEL_DAYS, OLDEST_CHANNEL_DAYS
from deskwire.demo.messages import Cast, Channel, lines
from deskwire.demo.office import Workflow
from deskwire.demo.records import record
from deskwire.demo.staff import Member
from deskwire.demo.texts import Language, Topic, languages, tags

USER_CHATS = 636
PROVIDERS = {
    "web": 28,
    "native": 13,
    "email": 30,
    "messenger_a": 10,
    "messenger_b": 6,
    "messenger_c": 4,
    "messenger_d": 4,
    "messenger_e": 5,
    "sms": 8,
}
HOME_MESSENGERS = {"ko": "messenger_c", "ja": "messenger_d", "zh": "messenger_b", "ar": "messenger_a"}
STATUSES_BY_AGE_DAYS = (
    (2, {"open": 68, "snoozed": 10, "closed": 22}),
    (14, {"open": 26, "snoozed": 14, "closed": 60}),
    (OLDEST_CHANNEL_DAYS, {"open": 2, "snoozed": 1, "closed": 97}),
)
ANSWERERS: dict[str, dict[Speaker | None, int]] = {
    "open": {"member": 50, "bot": 20, None: 30},
    "snoozed": {"member": 100},
    "closed": {"member": 80, "bot": 9, "external": 5, None: 6},
}
EVERY_NTH_DELETED = 79


@dataclass(frozen=True)
class Assignment:
    member: Member | None = None
    type: str | None = None


def user_chats(
    now: datetime, people: Sequence[Contact], staff: Sequence[Member], workflows: Sequence[Workflow]
) -> Iterator[Channel]:
    chance = Chance(now, "channels")
    for number in range(1, USER_CHATS + 1):
        ended_at = recently(chance)
        contact = known(chance, people, ended_at)
        yield _user_chat(chance, contact, staff, workflows, ended_at, number % EVERY_NTH_DELETED == 0)


def recently(chance: Chance) -> datetime:
    """A moment within the shop's memory, the nearer the likelier."""
    days = OLDEST_CHANNEL_DAYS * chance.dice.random() ** 2.3
    return chance.now - timedelta(days=days) - chance.seconds(60, 600)


def known(chance: Chance, people: Sequence[Contact], ended_at: datetime) -> Contact:
    """A contact who was there before the channel can have begun."""
    latest = ended_at - timedelta(days=LONGEST_CHANNEL_DAYS)
    return chance.pick([contact for contact in people if contact.created_at < latest])


def _user_chat(
    chance: Chance,
    contact: Contact,
    staff: Sequence[Member],
    workflows: Sequence[Workflow],
    ended_at: datetime,
    deleted: bool,
) -> Channel:
    language = languages()[contact.language]
    status = _status(chance, ended_at)
    member = _answerer(chance, staff, contact.language, ended_at, status)
    answered_by = chance.weighted(ANSWERERS[status])
    assignment = _assignment(chance, status, answered_by, member)
    topics = chance.several(language.topics, 2 if answered_by and chance.percent(15) else 1)
    helper = member.text.name if answered_by == "member" else ""
    words = _words(chance, language, contact, helper, ended_at)
    talk = Talk(
        language=language,
        provider=_provider(chance, contact),
        topics=topics,
        slots=words,
        answered_by=answered_by,
        finished=status == "closed" and answered_by is not None,
        helper=helper,
    )
    said = turns(chance, talk)
    if status == "open" and answered_by and chance.percent(40):
        said = said[:-1]
    spoken = lines(said, ended_at, Cast(contact, member, workflows))
    contact.seen(max(line.moment for line in spoken if line.turn.speaker == "contact"))
    created_at = spoken[0].moment - chance.seconds(0, 1)
    return Channel(
        record=record(
            "channel",
            id=chance.uuid(created_at),
            type="user_chat",
            provider=talk.provider,
            status=status,
            name=fill([topics[0].subject], chance, words) if talk.provider == "email" else None,
            description=f"About {words['bike']}" if chance.percent(6) else None,
            contact_id=contact.id,
            assigned_member_id=assignment.member.id if assignment.member else None,
            assigned_type=assignment.type,
            tags=_tags(chance, topics),
            snoozed_until=chance.now + chance.seconds(600, 500_000) if status == "snoozed" else None,
            created_at=created_at,
            updated_at=min(chance.now, ended_at + chance.seconds(0, 1800)),
            deleted=deleted or None,
        ),
        lines=spoken,
    )


def _status(chance: Chance, ended_at: datetime) -> str:
    age = chance.now - ended_at
    weights = next(weights for days, weights in STATUSES_BY_AGE_DAYS if age < timedelta(days=days + 1))
    return chance.weighted(weights)


def _answerer(
    chance: Chance, staff: Sequence[Member], language: str, ended_at: datetime, status: str
) -> Member:
    """Somebody who speaks the language and, where the channel is not closed, still works here."""
    began_at = ended_at - timedelta(days=LONGEST_CHANNEL_DAYS)
    able = [member for member in staff if member.answers(language, ended_at) and member.created_at < began_at]
    return chance.pick(able if status == "closed" else [member for member in able if member.works])


def _assignment(chance: Chance, status: str, answered_by: Speaker | None, member: Member) -> Assignment:
    """Closing clears the assignment, so only channels that are not closed have one."""
    if status == "closed":
        return Assignment()
    match answered_by:
        case "member":
            return Assignment(member, "human")
        case "bot":
            return Assignment(type="ai")
    return Assignment(type="workflow") if chance.percent(40) else Assignment()


def _provider(chance: Chance, contact: Contact) -> str:
    home = HOME_MESSENGERS.get(contact.language)
    provider = home if home and chance.percent(35) else chance.weighted(PROVIDERS)
    reachable = {"email": contact.email, "sms": contact.phone}.get(provider, "always")
    return provider if reachable else "web"


def _words(
    chance: Chance, language: Language, contact: Contact, member: str, ended_at: datetime
) -> dict[str, str]:
    given_names_first = language.name.startswith("{given}")
    name = contact.name.split()[0] if contact.name and given_names_first else contact.name
    return slots(chance, language, ended_at, name, member)


def _tags(chance: Chance, topics: Sequence[Topic]) -> list[str]:
    extras = [tag.name for tag in tags().channel_tags if tag.extra]
    from_topics = [topic.tag for topic in topics if chance.percent(78)]
    return from_topics + chance.several(extras, chance.weighted({0: 80, 1: 15, 2: 5}))
