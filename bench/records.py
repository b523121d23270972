"""Records to fill a database with: the same ones for the same size, in the record format."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path

Record = dict[str, str | bool | list[str]]

BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
# As long as the longest window that a list of messages can look at.
SPAN = timedelta(days=29)
LONG_MESSAGES = 100
LONG_EVERY = 40

PART = 1_000

CONTACT, CHANNEL, MESSAGE, MEMBER, CONTACT_TAG, CHANNEL_TAG = range(1, 7)
TAGS = ("vip", "refund", "trial", "warranty", "wholesale")
PROVIDERS = ("web", "email", "sms", "messenger_a", "messenger_b", "native")
STATUSES = ("open", "open", "closed", "closed", "snoozed")
FIRST_NAMES = (
    "Ana",
    "Ben",
    "Chiara",
    "David",
    "Elif",
    "Farid",
    "Greta",
    "Hana",
    "Ivan",
    "Jana",
    "Kim",
    "Lea",
)
LAST_NAMES = ("Abel", "Brandt", "Costa", "Dahl", "Evans", "Fontana", "Grant", "Hansen", "Ito", "Jansen")
KOREAN = (
    "배송",
    "주문",
    "환불",
    "자전거",
    "언제",
    "도착하나요",
    "감사합니다",
    "브레이크",
    "교환",
    "문의드립니다",
)
COMMON_WORD = "order"
SYLLABLES = ("ba", "ker", "lo", "min", "ta", "ris", "vo", "den", "su", "pol", "ge", "han", "fi", "mur", "ze")


@dataclass(frozen=True)
class Size:
    """How much of everything there is; half of the messages are in a few long channels."""

    messages: int

    def __str__(self) -> str:
        return f"{self.contacts:,} contacts, {self.channels:,} channels, {self.messages:,} messages"

    @property
    def channels(self) -> int:
        return self.messages // 5

    @property
    def contacts(self) -> int:
        return self.messages // 5

    @property
    def long_channels(self) -> range:
        """The numbers of the channels with at least `LONG_MESSAGES` messages."""
        return range(0, self.messages // 2 // LONG_MESSAGES * LONG_EVERY, LONG_EVERY)


Maker = Callable[[int, Size, random.Random], Record]


def write_records(path: Path, size: Size) -> int:
    """How many records were written."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for record in records(size):
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
            count += 1
    return count


def records(size: Size) -> Iterator[Record]:
    yield member()
    for make, count in ((contact, size.contacts), (channel, size.channels), (message, size.messages)):
        for numbers in parts(count):
            yield from records_of(make, numbers, size)


def parts(count: int) -> Iterator[range]:
    for begin in range(0, count, PART):
        yield range(begin, min(begin + PART, count))


def records_of(make: Maker, numbers: range, size: Size) -> list[Record]:
    """Each part has its own chance, so that it is the same wherever it is made."""
    chance = random.Random(f"deskwire {size.messages} {make.__name__} {numbers.start}")
    return [make(number, size, chance) for number in numbers]


def contact_id(number: int, size: Size) -> str:
    return ident(CONTACT, number, moment(number, size.contacts))


def channel_id(number: int, size: Size) -> str:
    return ident(CHANNEL, number, moment(number, size.channels))


def message_id(number: int, size: Size) -> str:
    return ident(MESSAGE, number, moment(number, size.messages))


def order_of(number: int) -> str:
    """A word that one message alone has."""
    return f"KC{number:07d}"


def phone_of(number: int) -> str:
    return f"+1555{number:07d}"


def moment(number: int, count: int) -> datetime:
    """The things of a kind are spread evenly, so that their order is known."""
    return BEGIN + SPAN * number / count


def ident(kind: int, number: int, at: datetime) -> str:
    """In the form of a UUID v7, which grows with time as the ids do that Deskwire gives."""
    ms = f"{int(at.timestamp() * 1000):012x}"
    return f"{ms[:8]}-{ms[8:]}-7{kind:03x}-8000-{number:012x}"


def agent_id() -> str:
    return ident(MEMBER, 0, BEGIN)


def member() -> Record:
    return {
        "kind": "member",
        "id": agent_id(),
        "email": "agent@example.test",
        "name": "Agent",
        "role": "agent",
        "status": "active",
        "created_at": text_of(BEGIN),
    }


def contact(number: int, size: Size, chance: random.Random) -> Record:
    first, last = chance.choice(FIRST_NAMES), chance.choice(LAST_NAMES)
    return {
        "kind": "contact",
        "id": contact_id(number, size),
        "external_id": f"customer-{number}",
        "email": f"{first}.{last}.{number}@example.test".lower(),
        "phone": phone_of(number),
        "name": f"{first} {last}",
        "is_member": number % 2 == 0,
        "tags": chance.sample(TAGS, chance.randrange(3)),
        "created_at": text_of(moment(number, size.contacts)),
    }


def channel(number: int, size: Size, chance: random.Random) -> Record:
    return {
        "kind": "channel",
        "id": channel_id(number, size),
        "type": "user_chat",
        "provider": chance.choice(PROVIDERS),
        "status": chance.choice(STATUSES),
        "name": sentence(chance, 3),
        "contact_id": contact_id(number % size.contacts, size),
        "assigned_member_id": agent_id(),
        "assigned_type": "human",
        "tags": chance.sample(TAGS, chance.randrange(3)),
        "created_at": text_of(moment(number, size.channels)),
    }


def message(number: int, size: Size, chance: random.Random) -> Record:
    channel_number = channel_of(number, size)
    from_contact = chance.random() < 0.6
    return {
        "kind": "message",
        "id": message_id(number, size),
        "channel_id": channel_id(channel_number, size),
        "sender_id": contact_id(channel_number, size) if from_contact else agent_id(),
        "sender_type": "contact" if from_contact else "member",
        "sender_name": "Customer" if from_contact else "Agent",
        "content_type": "text",
        "content": content(number, chance),
        "created_at": text_of(moment(number, size.messages)),
    }


def channel_of(number: int, size: Size) -> int:
    """Every other message goes to a long channel, one channel after another."""
    half, odd = divmod(number, 2)
    return number % size.channels if odd else half // LONG_MESSAGES * LONG_EVERY % size.channels


def content(number: int, chance: random.Random) -> str:
    words = sentence(chance, chance.randrange(5, 25))
    if number % 10 == 0:
        words = " ".join(chance.choices(KOREAN, k=chance.randrange(3, 12)))
    return f"{words} {order_of(number)}"


def sentence(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(VOCABULARY, cum_weights=WEIGHTS, k=words))


def text_of(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


VOCABULARY = [COMMON_WORD, *(a + b + c for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES)]
# As in a language, a word is about as frequent as its rank is low.
WEIGHTS = list(accumulate(1 / rank for rank in range(1, len(VOCABULARY) + 1)))
