"""Channels: the conversations of a workspace, and the dictionary of their tags."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from deskwire.model.limits import CHANNEL_TAG_CHARACTERS
from deskwire.model.moments import Moment
from deskwire.model.shapes import Id, Record, Shown, shown_text, shown_time
from deskwire.model.vocabulary import AssignedType, ChannelStatus, ChannelType, Provider

TagName = Annotated[str, Meta(min_length=1, max_length=CHANNEL_TAG_CHARACTERS)]


class ChannelRecord(Record, tag="channel", kw_only=True):
    type: ChannelType = "user_chat"
    provider: Provider = "native"
    status: ChannelStatus = "open"
    name: str | None = None
    description: str | None = None
    contact_id: Id | None = None
    assigned_member_id: Id | None = None
    assigned_type: AssignedType | None = None
    tags: list[TagName] = []
    last_message_at: Moment | None = None
    snoozed_until: Moment | None = None
    message_count: int = 0
    deleted: bool = False

    def visible(self) -> bool:
        return not self.deleted


class Channel(Shown, kw_only=True):
    id: Id
    type: ChannelType
    provider: Provider
    status: ChannelStatus
    name: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    contact_id: Id | UnsetType = UNSET
    assigned_member_id: Annotated[str | UnsetType, Meta(description="Left out when nobody is assigned.")] = (
        UNSET
    )
    assigned_type: Annotated[
        AssignedType | UnsetType, Meta(description="Left out when the channel is unassigned.")
    ] = UNSET
    tags: Annotated[list[str], Meta(description="Names of channel tags; always present.")]
    last_message_at: Moment | UnsetType = UNSET
    snoozed_until: Moment | UnsetType = UNSET
    message_count: int
    created_at: Moment
    updated_at: Moment


def show_channel(record: ChannelRecord) -> Channel:
    return Channel(
        id=record.id,
        type=record.type,
        provider=record.provider,
        status=record.status,
        name=shown_text(record.name),
        description=shown_text(record.description),
        contact_id=shown_text(record.contact_id),
        assigned_member_id=shown_text(record.assigned_member_id),
        assigned_type=record.assigned_type or UNSET,
        tags=record.tags,
        last_message_at=shown_time(record.last_message_at),
        snoozed_until=shown_time(record.snoozed_until),
        message_count=record.message_count,
        created_at=record.created_at,
        updated_at=record.changed_at(),
    )


class ChannelTagRecord(Record, tag="channel_tag", kw_only=True):
    name: TagName
    color: str | None = None


class ChannelTag(Shown, kw_only=True):
    id: Id
    name: str
    color: Annotated[str | UnsetType, Meta(description="A colour code.")] = UNSET
    created_at: Moment
    updated_at: Moment


def show_channel_tag(record: ChannelTagRecord) -> ChannelTag:
    return ChannelTag(
        id=record.id,
        name=record.name,
        color=shown_text(record.color),
        created_at=record.created_at,
        updated_at=record.changed_at(),
    )
