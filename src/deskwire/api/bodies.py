"""Request bodies: what each write takes."""

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from deskwire.model.emails import parse_email
from deskwire.model.limits import (
    CHANNEL_TAG_CHARACTERS,
    CLIENT_REQUEST_ID_CHARACTERS,
    CONSENT_REASON_CHARACTERS,
    CONTACT_EMAIL_CHARACTERS,
    CONTACT_NAME_CHARACTERS,
    CONTACT_PHONE_CHARACTERS,
    CONTACT_TAG_CHARACTERS,
    EXTERNAL_ID_CHARACTERS,
    REPLY_CHARACTERS,
    WEBHOOK_NAME_CHARACTERS,
    WEBHOOK_URL_CHARACTERS,
)
from deskwire.model.webhooks import EVENT_KINDS

MemberId = Annotated[
    str,
    Meta(
        pattern="^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
        # `$` alone lets a line end pass after the last digit.
        max_length=36,
        extra_json_schema={"format": "uuid"},
    ),
]
# As in a path: whatever it looks like, it may not be there, which is 404 and not 400.
NamedId = Annotated[str, Meta(extra_json_schema={"format": "uuid"})]
ContactName = Annotated[str, Meta(max_length=CONTACT_NAME_CHARACTERS)]
Phone = Annotated[str, Meta(max_length=CONTACT_PHONE_CHARACTERS)]
Email = Annotated[
    str,
    Meta(
        max_length=CONTACT_EMAIL_CHARACTERS,
        description="Blanks around it are cut off.",
        extra_json_schema={"format": "email"},
    ),
]


WebhookName = Annotated[str, Meta(min_length=1, max_length=WEBHOOK_NAME_CHARACTERS)]
WebhookUrl = Annotated[
    str,
    Meta(
        max_length=WEBHOOK_URL_CHARACTERS,
        description=(
            "HTTPS, a domain name that leads to public addresses, port 443, 8443 or one above 1023, "
            "and no user name, password or fragment."
        ),
        extra_json_schema={"format": "uri"},
    ),
]
EventFilters = Annotated[
    list[Annotated[str, Meta(extra_json_schema={"enum": list(EVENT_KINDS)})]],
    Meta(description="Kinds of event. Empty means all; what is named twice counts once."),
]


class Body(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What is right about each field by itself is declared; what else must hold, `check` says."""

    # The same in the words of JSON Schema, as far as it has them.
    also_holds: ClassVar[dict[str, Any]] = {}

    def check(self) -> None:
        """Raises ValueError with `field: what is wrong with it`."""


class NewContact(Body, kw_only=True):
    external_id: (
        Annotated[
            str,
            Meta(
                max_length=EXTERNAL_ID_CHARACTERS,
                description="Unique in the workspace; an empty one counts as absent.",
            ),
        ]
        | UnsetType
    ) = UNSET
    email: Email | UnsetType = UNSET
    phone: Phone | UnsetType = UNSET
    name: ContactName | UnsetType = UNSET

    def check(self) -> None:
        self.email, self.phone = tidied_email(self.email), tidied_phone(self.phone)


class ContactChanges(Body, kw_only=True):
    """null, and leaving a field out, change nothing; an empty text takes the value away."""

    email: Email | UnsetType | None = UNSET
    phone: Phone | UnsetType | None = UNSET
    name: ContactName | UnsetType | None = UNSET

    def check(self) -> None:
        self.email = tidied_email(self.email) if self.email else self.email
        self.phone = tidied_phone(self.phone) if self.phone else self.phone


class ContactTags(Body, kw_only=True):
    tags: list[Annotated[str, Meta(min_length=1, max_length=CONTACT_TAG_CHARACTERS)]]


class SmsConsent(Body, kw_only=True):
    opted_in: bool
    reason: (
        Annotated[str, Meta(max_length=CONSENT_REASON_CHARACTERS, description="Why the contact opted out.")]
        | UnsetType
    ) = UNSET


class ReplyBody(Body, kw_only=True):
    content_type: Annotated[str, Meta(extra_json_schema={"enum": ["text", "markdown"]})]
    content: Annotated[str, Meta(min_length=1, max_length=REPLY_CHARACTERS)]
    sender_member_id: (
        Annotated[
            MemberId,
            Meta(description="Who says it; without one it is said by the token. Needs message:write."),
        ]
        | UnsetType
    ) = UNSET
    client_request_id: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=CLIENT_REQUEST_ID_CHARACTERS,
                description="Sent again in the channel, it answers the message that was made first.",
            ),
        ]
        | UnsetType
    ) = UNSET

    def check(self) -> None:
        if self.content_type not in ("text", "markdown"):
            raise ValueError("content_type: must be text or markdown")


class Acting(Body, kw_only=True):
    actor_member_id: Annotated[MemberId, Meta(description="The member who acts.")]


class ReadMark(Acting, kw_only=True):
    message_id: (
        Annotated[NamedId, Meta(description="Read up to this message; to the last one, when left out.")]
        | UnsetType
    ) = UNSET


class Assignment(Acting, kw_only=True):
    member_id: Annotated[NamedId | None, Meta(description="null clears the assignment.")]


class ChannelTagsBody(Acting, kw_only=True):
    also_holds: ClassVar[dict[str, Any]] = {
        "anyOf": [
            {"required": [field], "properties": {field: {"minItems": 1}}} for field in ("tags", "tag_ids")
        ]
    }

    tags: list[Annotated[str, Meta(min_length=1, max_length=CHANNEL_TAG_CHARACTERS)]] | UnsetType = UNSET
    tag_ids: list[MemberId] | UnsetType = UNSET

    def check(self) -> None:
        if not self.tags and not self.tag_ids:
            raise ValueError("tags: at least one of tags and tag_ids is needed")


class WebhookBody(Body, kw_only=True):
    name: WebhookName
    url: WebhookUrl
    event_filters: EventFilters | UnsetType = UNSET

    def check(self) -> None:
        check_kinds(self.event_filters)


class WebhookChanges(Body, kw_only=True):
    name: WebhookName | UnsetType = UNSET
    url: WebhookUrl | UnsetType = UNSET
    event_filters: EventFilters | UnsetType = UNSET

    def check(self) -> None:
        check_kinds(self.event_filters)


def check_kinds(event_filters: list[str] | UnsetType) -> None:
    if event_filters is not UNSET and not set(event_filters) <= set(EVENT_KINDS):
        raise ValueError(f"event_filters: must be kinds of event, which are {', '.join(EVENT_KINDS)}")


def tidied_email(email: str | UnsetType) -> str | UnsetType:
    if email is UNSET or not (trimmed := email.strip()):
        return email if email is UNSET else ""
    try:
        return parse_email(trimmed)
    except ValueError as error:
        raise ValueError(f"email: {error}") from None


def tidied_phone(phone: str | UnsetType) -> str | UnsetType:
    return phone if phone is UNSET else phone.strip()
