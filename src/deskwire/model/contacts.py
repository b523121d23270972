"""Contacts: the people a workspace talks with, and the catalogue of their tags."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from deskwire.model.limits import (
    CONTACT_EMAIL_CHARACTERS,
    CONTACT_NAME_CHARACTERS,
    CONTACT_PHONE_CHARACTERS,
    CONTACT_TAG_CHARACTERS,
    CONTACT_TAGS,
    EXTERNAL_ID_CHARACTERS,
)
from deskwire.model.moments import Moment
from deskwire.model.shapes import Id, Record, Shown, shown_text, shown_time

ANONYMOUS = "Anonymous"

ExternalId = Annotated[str, Meta(max_length=EXTERNAL_ID_CHARACTERS)]


class ContactRecord(Record, tag="contact", kw_only=True):
    external_id: ExternalId | None = None
    email: Annotated[str, Meta(max_length=CONTACT_EMAIL_CHARACTERS)] | None = None
    phone: Annotated[str, Meta(max_length=CONTACT_PHONE_CHARACTERS)] | None = None
    name: Annotated[str, Meta(max_length=CONTACT_NAME_CHARACTERS)] | None = None
    avatar_url: str | None = None
    is_member: bool = False
    tags: Annotated[
        list[Annotated[str, Meta(min_length=1, max_length=CONTACT_TAG_CHARACTERS)]],
        Meta(max_length=CONTACT_TAGS),
    ] = []
    last_seen_at: Moment | None = None
    former_external_ids: list[Annotated[ExternalId, Meta(min_length=1)]] = []
    # Set by a merge alone; a line of the record format has no such field.
    merged_into: Id | None = None

    def visible(self) -> bool:
        return self.merged_into is None


class Contact(Shown, kw_only=True):
    id: Id
    external_id: Annotated[
        str | UnsetType,
        Meta(description="The contact's representative value, which may differ from the one looked up."),
    ] = UNSET
    email: str | UnsetType = UNSET
    phone: str | UnsetType = UNSET
    display_name: Annotated[
        str, Meta(description="The name, else the e-mail address, else the phone number, else Anonymous.")
    ]
    avatar_url: str | UnsetType = UNSET
    is_member: Annotated[bool, Meta(description="True for a logged-in member, false for a visitor.")]
    tags: Annotated[list[str], Meta(description="Names of contact tags.")]
    last_seen_at: Moment | UnsetType = UNSET
    created_at: Moment
    updated_at: Moment


def show_contact(record: ContactRecord) -> Contact:
    return Contact(
        id=record.id,
        external_id=shown_text(record.external_id),
        email=shown_text(record.email),
        phone=shown_text(record.phone),
        display_name=record.name or record.email or record.phone or ANONYMOUS,
        avatar_url=shown_text(record.avatar_url),
        is_member=record.is_member,
        tags=record.tags,
        last_seen_at=shown_time(record.last_seen_at),
        created_at=record.created_at,
        updated_at=record.changed_at(),
    )


class ContactTagRecord(Record, tag="contact_tag", kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=CONTACT_TAG_CHARACTERS)]
    color: str | None = None
    usage_count: int = 0


class ContactTag(Shown, kw_only=True):
    id: Id
    name: str
    color: Annotated[str | UnsetType, Meta(description="A colour code.")] = UNSET
    usage_count: Annotated[int, Meta(description="The number of contacts that carry the tag.")]
    created_at: Moment
    updated_at: Moment


def show_contact_tag(record: ContactTagRecord) -> ContactTag:
    return ContactTag(
        id=record.id,
        name=record.name,
        color=shown_text(record.color),
        usage_count=record.usage_count,
        created_at=record.created_at,
        updated_at=record.changed_at(),
    )
