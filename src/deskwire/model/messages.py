"""Messages of a channel, and the attachments they refer to."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from deskwire.model.moments import Moment
from deskwire.model.shapes import Id, Record, Shown
from deskwire.model.vocabulary import AttachmentStatus, AttachmentType, ContentType, SenderType


class AttachmentReference(msgspec.Struct, frozen=True):
    """An attachment as its message names it."""

    id: Id
    type: AttachmentType
    filename: str


class MessageRecord(Record, tag="message", kw_only=True):
    channel_id: Id
    sender_id: str
    sender_type: SenderType = ""
    sender_name: str = ""
    content_type: ContentType = "text"
    content: str = ""
    attachments: list[AttachmentReference] | None = None
    attachment_ids: list[Id] = []
    is_edited: bool = False
    deleted: bool = False
    internal_note: bool = False

    def visible(self) -> bool:
        return not (self.deleted or self.internal_note)


class Message(Shown, kw_only=True):
    id: Id
    channel_id: Id
    sender_id: Annotated[
        str,
        Meta(description="Opaque: a member, a contact, a token, or the service UUID of bots and the system."),
    ]
    sender_type: Annotated[SenderType, Meta(description="May be empty for some system-sent messages.")]
    sender_name: Annotated[
        str, Meta(description="For integration messages the first 12 characters of the token.")
    ]
    content_type: ContentType
    content: str
    attachments: Annotated[
        list[AttachmentReference] | UnsetType, Meta(description="Left out when there are none.")
    ] = UNSET
    is_edited: bool
    created_at: Moment
    updated_at: Moment


class SentMessage(Message, kw_only=True):
    """A message as the answer to sending it shows it."""

    client_request_id: Annotated[
        str | UnsetType, Meta(description="The one that was sent; left out when none was.")
    ] = UNSET
    deduplicated: Annotated[bool, Meta(description="Whether the message had been sent before under this id.")]


def show_message(record: MessageRecord) -> Message:
    return Message(
        id=record.id,
        channel_id=record.channel_id,
        sender_id=record.sender_id,
        sender_type=record.sender_type,
        sender_name=record.sender_name,
        content_type=record.content_type,
        content=record.content,
        attachments=record.attachments or UNSET,
        is_edited=record.is_edited,
        created_at=record.created_at,
        updated_at=record.changed_at(),
    )


class AttachmentRecord(Record, tag="attachment", kw_only=True):
    filename: str
    content_type: str = "application/octet-stream"
    size_bytes: Annotated[int, Meta(ge=0, le=2**53)] = 0
    status: AttachmentStatus = "ready"
    file: str | None = None

    def visible(self) -> bool:
        return self.status == "ready"

    def reference(self) -> AttachmentReference:
        return AttachmentReference(
            id=self.id, type=attachment_type(self.content_type), filename=self.filename
        )


class Attachment(Shown, kw_only=True):
    id: Id
    filename: str
    content_type: Annotated[str, Meta(description="The MIME type.")]
    size_bytes: int
    url: Annotated[str, Meta(description="A presigned download URL, valid for 5 minutes.")]
    url_expires_at: Moment
    created_at: Moment


def attachment_type(content_type: str) -> AttachmentType:
    match content_type.partition("/")[0].strip().lower():
        case "image":
            return "image"
        case "video":
            return "video"
        case "audio":
            return "audio"
        case _:
            return "file"
