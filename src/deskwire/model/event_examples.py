"""A true example of each kind of event, made by what makes the events, so that they cannot drift."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import structs

from deskwire.model.channels import ChannelRecord, show_channel
from deskwire.model.contacts import show_contact
from deskwire.model.events import (
    ChannelEventData,
    ContactEventData,
    EventKind,
    MessageEventData,
)
from deskwire.model.example_records import (
    CHANNEL,
    CLOSED_CHANNEL,
    CONTACT,
    MEMBER,
    MESSAGE,
    NEW_CONTACT,
    TRIED_AT,
    WORKSPACE,
    at,
)
from deskwire.model.moments import Moment
from deskwire.model.people import show_member
from deskwire.model.received_events import (
    ChannelEvent,
    ChannelEventKind,
    ContactEvent,
    MessageEvent,
    ReceivedEvent,
    write_event,
)
from deskwire.model.signatures import sign

# What signs the examples; a real one is known to its webhook alone.
SECRET: Final = "5f2b8e1c9a407d63e8b15c2fa97d304b6c81ee52d7094fa3b6d218c5e07f943a"

ASSIGNED_AT = at("2026-03-05T08:29:46.118205Z")
NEW_CHANNEL = structs.replace(
    CHANNEL,
    assigned_member_id=None,
    assigned_type=None,
    tags=[],
    last_message_at=None,
    message_count=0,
    updated_at=CHANNEL.created_at,
)
ASSIGNED_CHANNEL = structs.replace(
    NEW_CHANNEL,
    assigned_member_id=MEMBER.id,
    assigned_type="human",
    last_message_at=at("2026-03-05T08:28:02.640911Z"),
    message_count=1,
    updated_at=ASSIGNED_AT,
)
REOPENED_AT = at("2026-03-05T11:16:20.903442Z")
REOPENED_CHANNEL = structs.replace(CLOSED_CHANNEL, status="open", updated_at=REOPENED_AT)


def channel_event(
    kind: ChannelEventKind,
    channel: ChannelRecord,
    version: int,
    accepted_at: Moment,
    *,
    by_member: bool = True,
) -> ChannelEvent:
    data = ChannelEventData(version=version)
    if by_member:
        data.actor_member_id = MEMBER.id
    if kind == "channel.created":
        data.created_at = channel.created_at
    return ChannelEvent(
        kind=kind,
        workspace_id=WORKSPACE.id,
        timestamp=accepted_at,
        data=data,
        channel=show_channel(channel),
        assigned_member=None if channel.assigned_member_id is None else show_member(MEMBER),
    )


EVENTS: tuple[ReceivedEvent, ...] = (
    MessageEvent(
        kind="message.created",
        workspace_id=WORKSPACE.id,
        timestamp=MESSAGE.created_at,
        data=MessageEventData(
            message_id=MESSAGE.id,
            seq=CHANNEL.message_count,
            created_at=MESSAGE.created_at,
            channel_id=MESSAGE.channel_id,
            sender_id=MESSAGE.sender_id,
            sender_type=MESSAGE.sender_type,
            sender_name=MESSAGE.sender_name,
            content_type=MESSAGE.content_type,
            content=MESSAGE.content,
            attachments=MESSAGE.attachments or [],
        ),
        channel=show_channel(CHANNEL),
        assigned_member=show_member(MEMBER),
    ),
    channel_event("channel.created", NEW_CHANNEL, 1, NEW_CHANNEL.created_at, by_member=False),
    channel_event("channel.assigned", ASSIGNED_CHANNEL, 2, ASSIGNED_AT),
    channel_event("channel.closed", CLOSED_CHANNEL, 4, TRIED_AT),
    channel_event("channel.reopened", REOPENED_CHANNEL, 5, REOPENED_AT),
    ContactEvent(
        kind="contact.created",
        workspace_id=WORKSPACE.id,
        timestamp=NEW_CONTACT.created_at,
        data=ContactEventData(
            contact_id=NEW_CONTACT.id, contact=show_contact(NEW_CONTACT), created_at=NEW_CONTACT.created_at
        ),
    ),
    ContactEvent(
        kind="contact.updated",
        workspace_id=WORKSPACE.id,
        timestamp=CONTACT.changed_at(),
        data=ContactEventData(contact_id=CONTACT.id, contact=show_contact(CONTACT)),
    ),
)

BODIES: Mapping[EventKind, bytes] = {event.kind: write_event(event) for event in EVENTS}
EVENT_EXAMPLES: Mapping[EventKind, Any] = {kind: msgspec.json.decode(body) for kind, body in BODIES.items()}
# The types that only events show, by name; of each the first example is enough.
SHAPE_EXAMPLES: Mapping[str, Any] = {
    name: example
    for event in reversed(EVENTS)
    for name, example in (
        (type(event).__name__, EVENT_EXAMPLES[event.kind]),
        (type(event.data).__name__, EVENT_EXAMPLES[event.kind]["data"]),
    )
}
SIGNATURE: Final = sign(SECRET, BODIES["message.created"])
ATTEMPTED_AT_S: Final = MESSAGE.created_at // 1_000_000


def example_for(kind: EventKind, workspace_id: str, timestamp: Moment) -> bytes:
    """The body of an example as if it had happened in this workspace at this moment."""
    event = next(event for event in EVENTS if event.kind == kind)
    return write_event(structs.replace(event, workspace_id=workspace_id, timestamp=timestamp))
