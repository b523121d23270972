"""What outbound webhooks tell of a change: the kinds of event, and the body of each."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from deskwire.model.contacts import Contact
from deskwire.model.messages import AttachmentReference
from deskwire.model.moments import Moment, encode_moment
from deskwire.model.shapes import Id
from deskwire.model.vocabulary import ContentType, SenderType
from deskwire.model.vocabulary import EventKind as EventKind


class MessageEventData(msgspec.Struct, kw_only=True):
    message_id: Id
    seq: Annotated[int, Meta(description="From 1, without gaps, in each channel.")]
    created_at: Moment
    channel_id: Id
    sender_id: str
    sender_type: SenderType
    sender_name: str
    content_type: ContentType
    content: str
    attachments: list[AttachmentReference] = []


class ChannelEventData(msgspec.Struct, kw_only=True):
    version: Annotated[int, Meta(description="Of the channel; events of one change share it.")]
    actor_member_id: Annotated[Id | UnsetType, Meta(description="The member who acted.")] = UNSET
    created_at: Annotated[Moment | UnsetType, Meta(description="On channel.created only.")] = UNSET


class ContactEventData(msgspec.Struct, kw_only=True):
    contact_id: Id
    contact: Contact
    created_at: Annotated[Moment | UnsetType, Meta(description="On contact.created only.")] = UNSET


EventData = MessageEventData | ChannelEventData | ContactEventData


class EventBody(msgspec.Struct, kw_only=True):
    """The body of a delivery; what its timestamp says never changes.

    The channel and its member are documents, the bytes that the API answers for them.
    """

    kind: EventKind
    workspace_id: Id
    timestamp: Moment
    data: EventData
    channel: msgspec.Raw | UnsetType = UNSET
    assigned_member: msgspec.Raw | None = None


ENCODER = msgspec.json.Encoder(enc_hook=encode_moment)


def encode_body(body: EventBody) -> bytes:
    return ENCODER.encode(body)
