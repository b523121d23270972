"""What a team works with: tasks, campaigns and macros."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from deskwire.model.moments import Moment
from deskwire.model.shapes import Id, Record, Shown, shown_text, shown_time
from deskwire.model.vocabulary import (
    CampaignStatus,
    CampaignTrigger,
    CampaignType,
    MacroAction,
    MacroScope,
    TaskStatus,
)


class TaskRecord(Record, tag="task", kw_only=True):
    title: str
    team_id: Id | None = None
    description: str | None = None
    channel_id: Id | None = None
    status: TaskStatus = "open"
    assignee_id: Id | None = None
    deleted: bool = False

    def visible(self) -> bool:
        return not self.deleted


class Task(Shown, kw_only=True):
    id: Id
    team_id: Annotated[Id | UnsetType, Meta(description="Left out for workspace tasks without a team.")] = (
        UNSET
    )
    title: str
    description: str | UnsetType = UNSET
    channel_id: Id | UnsetType = UNSET
    status: TaskStatus
    assignee_id: Id | UnsetType = UNSET
    created_at: Moment
    updated_at: Moment


def show_task(record: TaskRecord) -> Task:
    return Task(
        id=record.id,
        team_id=shown_text(record.team_id),
        title=record.title,
        description=shown_text(record.description),
        channel_id=shown_text(record.channel_id),
        status=record.status,
        assignee_id=shown_text(record.assignee_id),
        created_at=record.created_at,
        updated_at=record.changed_at(),
    )


class CampaignRecord(Record, tag="campaign", kw_only=True):
    name: str
    status: CampaignStatus = "draft"
    campaign_type: CampaignType = "chat"
    trigger_type: CampaignTrigger = "immediate"
    scheduled_at: Moment | None = None
    started_at: Moment | None = None
    completed_at: Moment | None = None
    sent_count: Annotated[int, Meta(ge=0, le=2**53)] = 0
    failed_count: Annotated[int, Meta(ge=0, le=2**53)] = 0
    deleted: bool = False

    def visible(self) -> bool:
        return not self.deleted


class Campaign(Shown, kw_only=True):
    id: Id
    name: str
    status: CampaignStatus
    campaign_type: CampaignType
    trigger_type: CampaignTrigger
    scheduled_at: Moment | UnsetType = UNSET
    started_at: Moment | UnsetType = UNSET
    completed_at: Moment | UnsetType = UNSET
    sent_count: int
    failed_count: int
    created_at: Moment
    updated_at: Moment


def show_campaign(record: CampaignRecord) -> Campaign:
    return Campaign(
        id=record.id,
        name=record.name,
        status=record.status,
        campaign_type=record.campaign_type,
        trigger_type=record.trigger_type,
        scheduled_at=shown_time(record.scheduled_at),
        started_at=shown_time(record.started_at),
        completed_at=shown_time(record.completed_at),
        sent_count=record.sent_count,
        failed_count=record.failed_count,
        created_at=record.created_at,
        updated_at=record.changed_at(),
    )


class MacroRecord(Record, tag="macro", kw_only=True):
    name: str
    content: str | None = None
    scope: MacroScope = "workspace"
    team_id: Id | None = None
    action_type: MacroAction = "template"
    sort_order: Annotated[int, Meta(ge=-(2**53), le=2**53)] = 0
    deleted: bool = False

    def visible(self) -> bool:
        return not self.deleted


class Macro(Shown, kw_only=True):
    id: Id
    name: str
    content: Annotated[
        str | UnsetType,
        Meta(description="Left out for workflow macros; empty for a template that has only attachments."),
    ] = UNSET
    scope: MacroScope
    team_id: Annotated[Id | UnsetType, Meta(description="Only for the team scope.")] = UNSET
    action_type: MacroAction
    sort_order: Annotated[int, Meta(description="A display hint; lists are not ordered by it.")]
    created_at: Moment
    updated_at: Moment


def show_macro(record: MacroRecord) -> Macro:
    return Macro(
        id=record.id,
        name=record.name,
        content=UNSET if record.action_type == "workflow" else record.content or "",
        scope=record.scope,
        team_id=shown_text(record.team_id) if record.scope == "team" else UNSET,
        action_type=record.action_type,
        sort_order=record.sort_order,
        created_at=record.created_at,
        updated_at=record.changed_at(),
    )
