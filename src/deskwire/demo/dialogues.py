"""What is said in a conversation and by whom, turn by turn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from deskwire.demo.chance import Chance
from deskwire.demo.files import Medium
from deskwire.demo.texts import Language, Topic, shop

Speaker = Literal[
    "contact", "member", "bot", "workflow", "system", "integration", "external", "internal", "nobody"
]
MINUTE_S, HOUR_S = 60, 3600
CHAT_PAUSES_S = {"contact": (15, 8 * MINUTE_S), "member": (20, 12 * MINUTE_S), "external": (60, HOUR_S)}
MAIL_PAUSES_S = {"contact": (HOUR_S / 2, 9 * HOUR_S), "member": (HOUR_S / 3, 6 * HOUR_S)}
AUTOMATIC_PAUSE_S = (0.2, 4)
PICTURED_TOPICS = ("damaged", "returns", "warranty", "spare part")
AUDIBLE_TOPICS = ("repair",)
WRITTEN_TOPICS = ("invoice", "warranty")
WORKSHOP = "Kettle & Crank workshop, 12 Spoke Lane\n51.4545, -2.5879"


@dataclass(frozen=True)
class Turn:
    """One message to be; `trigger` names the workflow that speaks, `medium` what is attached."""

    speaker: Speaker
    content: str
    content_type: str = "text"
    pause_s: float = 0
    medium: Medium | None = None
    trigger: str = ""
    note: bool = False


@dataclass(frozen=True)
class Talk:
    """The plan of a conversation: how far it goes, who answers, and the words for its slots."""

    language: Language
    provider: str
    topics: Sequence[Topic]
    slots: dict[str, str]
    answered_by: Speaker | None
    finished: bool
    assignee: str | None


def turns(chance: Chance, talk: Talk) -> list[Turn]:
    return [_timed(chance, talk, _delivered(talk, turn)) for turn in _conversation(chance, talk)]


def fill(lines: Sequence[str], chance: Chance, slots: dict[str, str]) -> str:
    """One of the lines; lines with a name are left out when the contact has none."""
    fitting = [line for line in lines if slots.get("name") or "{name}" not in line]
    return chance.pick(fitting).format_map(slots)


def slots(chance: Chance, language: Language, month: int, name: str | None, member: str) -> dict[str, str]:
    return {
        "order": f"KC-{chance.number(40_000, 99_999)}",
        "bike": chance.pick(shop().bikes),
        "part": chance.pick(language.parts),
        "date": language.date.format(day=chance.number(1, 28), month=month),
        "tracking": chance.digits("7#########"),
        "city": chance.pick(language.cities),
        "price": str(chance.number(18, 640)),
        "code": chance.pick(shop().codes),
        "name": name or "",
        "member": member,
    }


def _conversation(chance: Chance, talk: Talk) -> Iterator[Turn]:
    yield from _opening(chance, talk)
    for topic in talk.topics:
        yield from _question(chance, talk, topic)
        if talk.answered_by:
            yield from _answers(chance, talk, topic, talk.answered_by)
    if talk.finished:
        yield from _ending(chance, talk)


def _opening(chance: Chance, talk: Talk) -> Iterator[Turn]:
    language = talk.language
    if talk.provider in ("sms", "email"):
        return
    if chance.percent(15):
        yield Turn(
            "system",
            f"Conversation started on {chance.pick(['the shop', 'the product page', 'the help page'])}",
            "system",
        )
    if chance.percent(35):
        yield Turn("bot", fill(language.welcome, chance, talk.slots))
    if chance.percent(18):
        yield Turn("workflow", language.buttons, "button", trigger="T1")


def _question(chance: Chance, talk: Talk, topic: Topic) -> Iterator[Turn]:
    language = talk.language
    greeting = fill(language.greetings, chance, talk.slots)
    question = fill(topic.ask, chance, talk.slots)
    if talk.provider != "email" and chance.percent(30):
        yield Turn("contact", greeting)
        yield Turn("contact", question)
    else:
        yield Turn("contact", f"{greeting} {question}")
    yield from _evidence(chance, talk, topic)


def _evidence(chance: Chance, talk: Talk, topic: Topic) -> Iterator[Turn]:
    language = talk.language
    if talk.provider == "sms":
        return
    if topic.tag in PICTURED_TOPICS and chance.percent(14):
        yield Turn("contact", chance.pick(language.photo), "image", medium="image")
    if topic.tag in AUDIBLE_TOPICS and chance.percent(10):
        kind: Medium = "audio" if chance.percent(60) else "video"
        yield Turn("contact", chance.pick(language.recording), kind, medium=kind)
    if topic.tag in WRITTEN_TOPICS and chance.percent(12):
        yield Turn("contact", chance.pick(language.document), "file", medium="file")


def _answers(chance: Chance, talk: Talk, topic: Topic, answerer: Speaker) -> Iterator[Turn]:
    language = talk.language
    if answerer == "member":
        yield from _handover(chance, talk)
    if topic.tag in ("delivery", "order change") and chance.percent(30):
        yield Turn("integration", language.summary.format_map(talk.slots), "blocks")
    yield _said(answerer, fill(topic.answer, chance, talk.slots))
    if topic.tag in ("sizing", "spare part") and chance.percent(40):
        bike = talk.slots["bike"]
        link = f"https://shop.example.com/{bike.lower().replace(' ', '-')}"
        yield Turn("bot", f"{bike}\n{talk.slots['price']} €\n{link}", "card")
    for question, answer in chance.several(topic.more, chance.weighted({0: 1, 1: 5, 2: 6, 3: 4})):
        yield _said("contact", question.format_map(talk.slots))
        if chance.percent(8) and answerer == "member":
            yield Turn("member", fill(language.note, chance, talk.slots), note=True)
        yield _said(answerer, answer.format_map(talk.slots))
    if topic.tag == "workshop" and chance.percent(50):
        yield Turn("member", WORKSHOP, "location")


def _handover(chance: Chance, talk: Talk) -> Iterator[Turn]:
    language = talk.language
    if talk.provider not in ("email", "sms"):
        if chance.percent(25):
            yield _said("bot", fill(language.guess, chance, talk.slots))
        if chance.percent(45):
            yield Turn("bot", fill(language.handover, chance, talk.slots))
    if talk.assignee and chance.percent(60):
        yield Turn("system", f"Assigned to {talk.assignee}", "system")
    if chance.percent(70):
        yield Turn("member", fill(language.hello, chance, talk.slots))
    if chance.percent(30):
        yield Turn("member", fill(language.wait, chance, talk.slots))


def _ending(chance: Chance, talk: Talk) -> Iterator[Turn]:
    language = talk.language
    if chance.percent(9):
        yield Turn("workflow", chance.pick(language.still_there), trigger="T3")
    yield Turn("contact", fill(language.thanks, chance, talk.slots))
    if talk.provider not in ("sms", "email") and chance.percent(12):
        yield Turn("contact", chance.pick(["👍", "🙏", "🚲", "❤️"]), "sticker")
    if talk.answered_by and chance.percent(80):
        yield Turn(talk.answered_by, fill(language.bye, chance, talk.slots))
    if talk.answered_by == "member" and chance.percent(30):
        yield Turn("system", f"Closed by {talk.assignee}", "system")
    if chance.percent(4):
        yield Turn("nobody", "The contact left the page.", "system")
    if talk.provider not in ("sms", "email") and chance.percent(25):
        yield Turn("workflow", language.rating, "button", trigger="T8")


def _said(speaker: Speaker, content: str) -> Turn:
    return Turn(speaker, content, "markdown" if _is_markdown(content) else "text")


def _is_markdown(content: str) -> bool:
    return any(mark in content for mark in ("**", "](", "\n- ", "\n1. ", "`"))


def _delivered(talk: Talk, turn: Turn) -> Turn:
    """The turn as its provider carries it: a mail with its greeting line, plain text in a short message."""
    people = turn.speaker in ("contact", "member", "external")
    if turn.note or not people or turn.content_type not in ("text", "markdown"):
        return turn
    if talk.provider == "email":
        name = talk.slots["name"] if turn.speaker == "contact" else talk.assignee
        return replace(turn, content=f"{turn.content}\n\n-- \n{name or '…'}", content_type="email")
    if talk.provider == "sms":
        return replace(turn, content=turn.content.replace("**", "").replace("`", ""), content_type="text")
    return turn


def _timed(chance: Chance, talk: Talk, turn: Turn) -> Turn:
    pauses = MAIL_PAUSES_S if talk.provider == "email" else CHAT_PAUSES_S
    shortest, longest = pauses.get(turn.speaker, AUTOMATIC_PAUSE_S)
    # Few wait long: the pause leans toward its shortest.
    return replace(turn, pause_s=shortest + (longest - shortest) * chance.dice.random() ** 2)
