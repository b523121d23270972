"""The shop's contacts: members with an account, visitors who left an address, and anonymous ones."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from deskwire.demo.addresses import local_part
from deskwire.demo.chance import Chance
from deskwire.demo.history import FOUNDED_DAYS
from deskwire.demo.records import Record, record
from deskwire.demo.texts import Language, languages, tags

CONTACTS = 420
STANDING = {"member": 46, "visitor": 38, "anonymous": 16}
MAIL_DOMAINS = {"example.com": 5, "example.org": 3, "example.net": 2, "mail.test": 1}


@dataclass
class Contact:
    """A contact; `last_seen_at` moves on as the contact takes part in channels."""

    id: str
    language: str
    created_at: datetime
    is_member: bool
    tags: list[str]
    name: str | None = None
    email: str | None = None
    phone: str | None = None
    external_id: str | None = None
    former_external_ids: list[str] = field(default_factory=list)
    avatar_url: str | None = None
    last_seen_at: datetime | None = None

    @property
    def sender_name(self) -> str:
        return self.name or self.email or self.phone or "Anonymous"

    def seen(self, moment: datetime) -> None:
        self.last_seen_at = max(moment, self.last_seen_at or moment)


def contacts(now: datetime) -> list[Contact]:
    chance = Chance(now, "contacts")
    shares = {code: language.share for code, language in languages().items()}
    return [_contact(chance, number, chance.weighted(shares)) for number in range(CONTACTS)]


def contact_records(now: datetime, people: list[Contact]) -> Iterator[Record]:
    chance = Chance(now, "contact records")
    for contact in people:
        if contact.last_seen_at is None and chance.percent(60):
            contact.seen(chance.since(contact.created_at))
        yield record(
            "contact",
            id=contact.id,
            external_id=contact.external_id,
            former_external_ids=contact.former_external_ids or None,
            name=contact.name,
            email=contact.email,
            phone=contact.phone,
            avatar_url=contact.avatar_url,
            is_member=contact.is_member,
            tags=contact.tags,
            last_seen_at=contact.last_seen_at,
            created_at=contact.created_at,
            updated_at=chance.since(contact.created_at) if chance.percent(50) else contact.created_at,
        )


def _contact(chance: Chance, number: int, code: str) -> Contact:
    standing = chance.weighted(STANDING)
    created_at = chance.ago(0, FOUNDED_DAYS - 10)
    contact = Contact(
        id=chance.uuid(created_at),
        language=code,
        created_at=created_at,
        is_member=standing == "member",
        tags=_tags(chance, standing),
    )
    match standing:
        case "member":
            _sign_up(chance, contact, number)
        case "visitor":
            _leave_address(chance, contact, number)
    return contact


def _tags(chance: Chance, standing: str) -> list[str]:
    count = 0 if standing == "anonymous" else chance.weighted({0: 9, 1: 6, 2: 3, 3: 1})
    return chance.several([tag.name for tag in tags().contact_tags], count)


def _sign_up(chance: Chance, contact: Contact, number: int) -> None:
    language = languages()[contact.language]
    contact.name = _name(chance, language)
    contact.email = _email(chance, contact.name, language, number)
    contact.phone = _phone(chance, language) if chance.percent(60) else None
    contact.external_id = f"customer-{10_000 + number * 7}"
    if chance.percent(12):
        contact.former_external_ids = [f"guest-{number:04}-{turn}" for turn in range(chance.number(1, 2))]
    if chance.percent(40):
        contact.avatar_url = f"https://cdn.example.com/avatars/{number:04}.png"


def _leave_address(chance: Chance, contact: Contact, number: int) -> None:
    language = languages()[contact.language]
    left = chance.weighted({"name": 3, "email": 4, "phone": 3, "all": 5, "address": 2})
    if left in ("name", "all"):
        contact.name = _name(chance, language)
    if left in ("email", "all", "address"):
        contact.email = _email(chance, contact.name or "", language, number)
    if left in ("phone", "all", "address"):
        contact.phone = _phone(chance, language)
    if chance.percent(8):
        contact.external_id = f"newsletter:{number:04}"


def _name(chance: Chance, language: Language) -> str:
    return language.name.format(given=chance.pick(language.given), family=chance.pick(language.family))


def _email(chance: Chance, name: str, language: Language, number: int) -> str:
    return f"{local_part(name) or chance.pick(language.handles)}.{number}@{chance.weighted(MAIL_DOMAINS)}"


def _phone(chance: Chance, language: Language) -> str:
    """A number from a range that is kept free for fiction."""
    return chance.digits(chance.pick(language.phones))
