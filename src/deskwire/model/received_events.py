"""The body of a delivery as its receiver reads it: a type for each thing that events tell of."""

from collections.abc import Mapping
from typing import Literal, get_args, get_type_hints

import msgspec
from msgspec import UNSET, Raw, UnsetType

from deskwire.model.channels import Channel
from deskwire.model.events import (
    ENCODER,
    ChannelEventData,
    ContactEventData,
    EventData,
    EventKind,
    MessageEventData,
)
from deskwire.model.moments import Moment, decode_moment
from deskwire.model.people import Member
from deskwire.model.shapes import Id


class ReceivedEvent(msgspec.Struct, kw_only=True):
    """What every body has, in the order in which it is sent."""

    kind: EventKind
    workspace_id: Id
    timestamp: Moment
    data: EventData
    channel: Channel | UnsetType = UNSET
    assigned_member: Member | None = None


class MessageEvent(ReceivedEvent, kw_only=True):
    kind: Literal["message.created"]
    data: MessageEventData
    channel: Channel


ChannelEventKind = Literal["channel.created", "channel.assigned", "channel.closed", "channel.reopened"]


class ChannelEvent(ReceivedEvent, kw_only=True):
    kind: ChannelEventKind
    data: ChannelEventData
    channel: Channel


class ContactEvent(ReceivedEvent, kw_only=True):
    kind: Literal["contact.created", "contact.updated"]
    data: ContactEventData


EVENTS = (MessageEvent, ChannelEvent, ContactEvent)
EVENT_OF: Mapping[str, type[ReceivedEvent]] = {
    kind: event for event in EVENTS for kind in get_args(get_type_hints(event)["kind"])
}


class _Kind(msgspec.Struct):
    kind: str


def write_event(event: ReceivedEvent) -> bytes:
    return ENCODER.encode(event)


def read_event(body: bytes | Raw) -> ReceivedEvent:
    """ValueError says why a body is no event."""
    try:
        kind = msgspec.json.decode(body, type=_Kind).kind
        if kind not in EVENT_OF:
            raise ValueError(f"has the unknown kind {kind!r}")
        return msgspec.json.decode(body, type=EVENT_OF[kind], dec_hook=decode_moment)
    except RecursionError as error:
        raise ValueError("is nested too deep") from error
