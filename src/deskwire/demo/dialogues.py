"""What is said in a conversation and by whom, turn by turn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
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
WITHOUT_CONTROLS = ("sms", "email")
ORDER_TOPICS = ("delivery", "배송문의", "order change")
PRODUCT_TOPICS = ("sizing", "spare part")
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
    """The plan of a conversation: how far it goes, who answers, and the words for its slots.

    `helper` is the name of the member who answers, and empty when none does.
    """

    language: Language
    provider: str
    topics: Sequence[Topic]
    slots: dict[str, str]
    answered_by: Speaker | None
    finished: bool
    helper: str


def turns(chance: Chance, talk: Talk) -> list[Turn]:
    return [_timed(chance, talk, _delivered(talk, turn)) for turn in _conversation(chance, talk)]


def fill(lines: Sequence[str], chance: Chance, slots: dict[str, str]) -> str:
    """One of the lines; a line that calls somebody by name needs a name."""
    unknown = [f"{{{slot}}}" for slot in ("name", "member") if not slots[slot]]
    fitting = [line for line in lines if not any(slot in line for slot in unknown)]
    return chance.pick(fitting).format_map(slots)


def slots(
    chance: Chance, language: Language, about: datetime, name: str | None, member: str
) -> dict[str, str]:
    """The words of one conversation; `date` lies a few days after the moment it is about."""
    day = about + timedelta(days=chance.number(1, 9))
    return {
        "order": f"KC-{chance.number(40_000, 99_999)}",
        "bike": chance.pick(shop().bikes),
        "part": chance.pick(language.parts),
        "date": language.date.format(day=day.day, month=day.month),
        "tracking": chance.digits("7#########"),
        "city": chance.pick(language.cities),
        "price": str(chance.number(18, 640)),
        "code": chance.pick(shop().codes),
        "name": name or "",
        "member": member,
    }


def _conversation(chance: Chance, talk: Talk) -> Iterator[Turn]:
    yield from _opening(chance, talk)
    for number, topic in enumerate(talk.topics):
        first = number == 0
        asked = chance.number(0, len(topic.ask) - 1)
        yield from _question(chance, talk, topic.ask[asked].format_map(talk.slots), greets=first)
        yield from _evidence(chance, talk, topic)
        if talk.answered_by:
            answer = fill(topic.answer[asked :: len(topic.ask)], chance, talk.slots)
            if first:
                yield from _handover(chance, talk)
            yield from _answer(chance, talk, topic, talk.answered_by, answer, greets=first)
            yield from _further(chance, talk, topic, talk.answered_by)
    if talk.finished:
        yield from _ending(chance, talk)


def _opening(chance: Chance, talk: Talk) -> Iterator[Turn]:
    if talk.provider in WITHOUT_CONTROLS:
        return
    if chance.percent(15):
        page = chance.pick(["the shop", "the product page", "the help page"])
        yield Turn("system", f"Conversation started on {page}", "system")
    if chance.percent(35):
        yield Turn("bot", fill(talk.language.welcome, chance, talk.slots))
    if chance.percent(18):
        yield Turn("workflow", talk.language.buttons, "button", trigger="T1")


def _question(chance: Chance, talk: Talk, question: str, greets: bool) -> Iterator[Turn]:
    greeting = fill(talk.language.greetings, chance, talk.slots)
    if not greets:
        yield Turn("contact", _capitalised(question))
    elif talk.provider != "email" and chance.percent(22):
        yield Turn("contact", greeting.rstrip(",،，"))
        yield Turn("contact", _capitalised(question))
    else:
        goes_on = greeting.endswith((",", "،", "，"))
        yield Turn("contact", f"{greeting} {question if goes_on else _capitalised(question)}")


def _capitalised(sentence: str) -> str:
    """The sentence with its first letter large, be it behind an inverted question mark."""
    start = 1 if sentence[0] in "¿¡" else 0
    return sentence[:start] + sentence[start : start + 1].upper() + sentence[start + 1 :]


def _evidence(chance: Chance, talk: Talk, topic: Topic) -> Iterator[Turn]:
    language = talk.language
    if talk.provider == "sms":
        return
    if topic.tag in PICTURED_TOPICS and chance.percent(13):
        yield Turn("contact", chance.pick(language.photo), "image", medium="image")
    if topic.tag in AUDIBLE_TOPICS and chance.percent(7):
        kind: Medium = "audio" if chance.percent(60) else "video"
        yield Turn("contact", chance.pick(language.recording), kind, medium=kind)
    if topic.tag in WRITTEN_TOPICS and chance.percent(18):
        yield Turn("contact", chance.pick(language.document), "file", medium="file")


def _handover(chance: Chance, talk: Talk) -> Iterator[Turn]:
    """From the bot to a member, who says hello where that takes no mail of its own."""
    if talk.answered_by != "member":
        return
    language = talk.language
    if talk.provider not in WITHOUT_CONTROLS:
        if chance.percent(25):
            yield _said("bot", fill(language.guess, chance, talk.slots))
        if chance.percent(45):
            yield Turn("bot", fill(language.handover, chance, talk.slots))
    if chance.percent(60):
        yield Turn("system", f"Assigned to {talk.helper}", "system")
    if talk.provider == "email":
        return
    if chance.percent(75):
        yield Turn("member", fill(language.hello, chance, talk.slots))
    if chance.percent(30):
        yield Turn("member", fill(language.wait, chance, talk.slots))


def _answer(
    chance: Chance, talk: Talk, topic: Topic, answerer: Speaker, answer: str, greets: bool
) -> Iterator[Turn]:
    if topic.tag in ORDER_TOPICS and chance.percent(30):
        yield Turn("integration", talk.language.summary.format_map(talk.slots), "blocks")
    if greets and talk.provider == "email" and answerer == "member":
        answer = f"{fill(talk.language.hello, chance, talk.slots)}\n\n{answer}"
    yield _said(answerer, answer)
    if topic.tag in PRODUCT_TOPICS and chance.percent(40):
        bike = talk.slots["bike"]
        link = f"https://shop.example.com/{bike.lower().replace(' ', '-')}"
        yield Turn("bot", f"{bike}\n{talk.slots['price']} €\n{link}", "card")


def _further(chance: Chance, talk: Talk, topic: Topic, answerer: Speaker) -> Iterator[Turn]:
    for question, answer in chance.several(topic.more, chance.weighted({0: 4, 1: 7, 2: 4, 3: 2})):
        yield _said("contact", question.format_map(talk.slots))
        if chance.percent(8) and answerer == "member":
            yield Turn("member", fill(talk.language.note, chance, talk.slots), note=True)
        yield _said(answerer, answer.format_map(talk.slots))
    if topic.tag == "workshop" and answerer == "member" and chance.percent(50):
        yield Turn("member", WORKSHOP, "location")


def _ending(chance: Chance, talk: Talk) -> Iterator[Turn]:
    language = talk.language
    if chance.percent(9):
        yield Turn("workflow", chance.pick(language.still_there), trigger="T3")
    yield Turn("contact", fill(language.thanks, chance, talk.slots))
    if talk.provider not in WITHOUT_CONTROLS and chance.percent(12):
        yield Turn("contact", chance.pick(["👍", "🙏", "🚲", "❤️"]), "sticker")
    if talk.answered_by and chance.percent(80):
        yield Turn(talk.answered_by, fill(language.bye, chance, talk.slots))
    if talk.answered_by == "member" and chance.percent(30):
        yield Turn("system", f"Closed by {talk.helper}", "system")
    if chance.percent(4):
        yield Turn("nobody", "The contact left the page.", "system")
    if talk.provider not in WITHOUT_CONTROLS and chance.percent(25):
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
        name = talk.slots["name"] if turn.speaker == "contact" else talk.helper
        signature = f"\n\n-- \n{name}" if name else ""
        return replace(turn, content=turn.content + signature, content_type="email")
    if talk.provider == "sms":
        return replace(turn, content=turn.content.replace("**", "").replace("`", ""), content_type="text")
    return turn


def _timed(chance: Chance, talk: Talk, turn: Turn) -> Turn:
    pauses = MAIL_PAUSES_S if talk.provider == "email" else CHAT_PAUSES_S
    shortest, longest = pauses.get(turn.speaker, AUTOMATIC_PAUSE_S)
    # Few wait long: the pause leans toward its shortest.
    return replace(turn, pause_s=shortest + (longest - shortest) * chance.dice.random() ** 2)
