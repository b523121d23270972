"""The words of the demo, read from the TOML files beside this module."""

from functools import cache
from importlib.resources import files
from typing import TypeVar

import msgspec

Text = TypeVar("Text", bound=msgspec.Struct)


class Topic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a contact writes about, and pairs of a further question and its answer.

    With three questions, the first and the fourth answer suit the first question, and so on.
    """

    tag: str
    subject: str
    ask: list[str]
    answer: list[str]
    more: list[tuple[str, str]]


class Language(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The people and the phrases of one language; `share` is out of a hundred contacts."""

    share: int
    date: str
    name: str
    given: list[str]
    family: list[str]
    handles: list[str]
    phones: list[str]
    cities: list[str]
    parts: list[str]
    greetings: list[str]
    welcome: list[str]
    handover: list[str]
    guess: list[str]
    hello: list[str]
    wait: list[str]
    thanks: list[str]
    bye: list[str]
    still_there: list[str]
    rating: str
    buttons: str
    summary: str
    photo: list[str]
    document: list[str]
    recording: list[str]
    note: list[str]
    topics: list[Topic]


class MemberText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    role: str
    status: str
    languages: list[str]
    active: bool = True


class TeamText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    members: list[str]
    description: str | None = None
    active: bool = True


class Staff(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    members: list[MemberText]
    teams: list[TeamText]


class TagText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tag; `extra` marks those that no topic brings with it."""

    name: str
    color: str | None = None
    extra: bool = False


class Tags(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    channel_tags: list[TagText]
    contact_tags: list[TagText]


class WorkflowText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    trigger_type: str
    is_active: bool = True


class IntegrationText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    provider: str
    name: str
    status: str


class Office(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    workflows: list[WorkflowText]
    integrations: list[IntegrationText]


class CampaignText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    status: str
    campaign_type: str
    trigger_type: str
    deleted: bool = False


class Campaigns(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    campaigns: list[CampaignText]


class MacroText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    content: str | None = None
    team: str | None = None
    action_type: str = "template"
    deleted: bool = False


class Macros(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    macros: list[MacroText]


class TaskTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    titles: list[str]
    descriptions: list[str]


class InternalTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What members write to each other: names of channels, and threads of lines."""

    names: list[str]
    threads: list[list[str]]


class Shop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    bikes: list[str]
    codes: list[str]
    tasks: TaskTexts
    internal: InternalTexts


@cache
def languages() -> dict[str, Language]:
    folder = files("deskwire.demo") / "texts" / "languages"
    names = sorted(entry.name for entry in folder.iterdir())
    return {
        name.removesuffix(".toml"): msgspec.toml.decode((folder / name).read_bytes(), type=Language)
        for name in names
    }


@cache
def shop() -> Shop:
    return read("shop", Shop)


@cache
def tags() -> Tags:
    return read("tags", Tags)


def read(name: str, shape: type[Text]) -> Text:
    source = files("deskwire.demo") / "texts" / f"{name}.toml"
    return msgspec.toml.decode(source.read_bytes(), type=shape)
