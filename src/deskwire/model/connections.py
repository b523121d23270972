"""What a workspace is connected to and run by: integrations, workflows, AI agent, calls, business hours."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from deskwire.model.hours import BusinessHoursConfig
from deskwire.model.limits import AI_FAILOVER_MAXIMUM_S, AI_FAILOVER_MINIMUM_S
from deskwire.model.moments import Moment
from deskwire.model.shapes import Id, Record, Shown, shown_text, shown_time
from deskwire.model.vocabulary import (
    PROVIDERS_WITHOUT_INBOUND_PATH,
    RUNNING_CALLS,
    CallDirection,
    CallStatus,
    IntegrationProvider,
    IntegrationStatus,
)


class IntegrationRecord(Record, tag="integration", kw_only=True):
    provider: IntegrationProvider
    name: str
    status: IntegrationStatus = "pending"
    webhook_url: str | None = None
    icon_url: str | None = None


class Integration(Shown, kw_only=True):
    id: Id
    provider: IntegrationProvider
    name: str
    status: Annotated[IntegrationStatus, Meta(description="Only active means fully connected.")]
    created_at: Moment
    updated_at: Moment


def show_integration(record: IntegrationRecord) -> Integration:
    return Integration(
        id=record.id,
        provider=record.provider,
        name=record.name,
        status=record.status,
        created_at=record.created_at,
        updated_at=record.changed_at(),
    )


class InboundWebhookConfig(Shown, kw_only=True):
    id: Id
    name: str
    provider: IntegrationProvider
    status: IntegrationStatus
    webhook_url: Annotated[
        str | UnsetType,
        Meta(description="The URL to register at the provider; left out where it has no such path."),
    ] = UNSET
    icon_url: str | UnsetType = UNSET
    created_at: Moment
    updated_at: Moment


def show_inbound_webhook_config(record: IntegrationRecord) -> InboundWebhookConfig:
    has_path = record.provider not in PROVIDERS_WITHOUT_INBOUND_PATH
    return InboundWebhookConfig(
        id=record.id,
        name=record.name,
        provider=record.provider,
        status=record.status,
        webhook_url=shown_text(record.webhook_url) if has_path else UNSET,
        icon_url=shown_text(record.icon_url),
        created_at=record.created_at,
        updated_at=record.changed_at(),
    )


class WorkflowRecord(Record, tag="workflow", kw_only=True):
    name: str
    is_active: bool = False
    trigger_type: str


class Workflow(Shown, kw_only=True):
    id: Id
    name: str
    is_active: bool
    created_at: Moment
    trigger_type: Annotated[
        str,
        Meta(
            description="T1 new conversation, T2 inbound message, T3 customer unresponsive, T4 keyword, "
            "T7 assignee changed, T8 conversation closed, T9 agent or AI unresponsive, T_IVR phone IVR."
        ),
    ]


def show_workflow(record: WorkflowRecord) -> Workflow:
    return Workflow(
        id=record.id,
        name=record.name,
        is_active=record.is_active,
        created_at=record.created_at,
        trigger_type=record.trigger_type,
    )


class AiAgentRecord(Record, tag="ai_agent", kw_only=True):
    """The id is that of the workspace, whatever the line says."""

    id: Id = ""
    enabled: bool = False
    failover_timeout: Annotated[int, Meta(ge=0, le=AI_FAILOVER_MAXIMUM_S)] = 0

    def __post_init__(self) -> None:
        if self.enabled and 0 < self.failover_timeout < AI_FAILOVER_MINIMUM_S:
            raise ValueError(
                f"failover_timeout must be {AI_FAILOVER_MINIMUM_S} to {AI_FAILOVER_MAXIMUM_S} seconds"
            )


class AiAgent(Shown, kw_only=True):
    id: Annotated[Id, Meta(description="Equals the workspace id.")]
    enabled: bool
    failover_timeout: Annotated[
        int,
        Meta(description="Seconds before handing over to a human; 0 while the AI is off or nothing is set."),
    ]
    created_at: Moment
    updated_at: Moment


def show_ai_agent(record: AiAgentRecord) -> AiAgent:
    return AiAgent(
        id=record.id,
        enabled=record.enabled,
        failover_timeout=record.failover_timeout,
        created_at=record.created_at,
        updated_at=record.changed_at(),
    )


class VoiceCallRecord(Record, tag="voice_call", kw_only=True):
    channel_id: Id | None = None
    contact_id: Id | None = None
    direction: CallDirection
    status: CallStatus
    duration_seconds: Annotated[int, Meta(ge=0, le=2**53)] | None = None
    started_at: Moment
    ended_at: Moment | None = None


class VoiceCall(Shown, kw_only=True):
    id: Id
    channel_id: Annotated[
        Id | UnsetType, Meta(description="Left out when there is none or the channel was deleted.")
    ] = UNSET
    contact_id: Annotated[
        Id | UnsetType, Meta(description="Left out when there is none or the contact was deleted.")
    ] = UNSET
    direction: CallDirection
    status: CallStatus
    duration_seconds: Annotated[
        int | UnsetType,
        Meta(
            description="Answer to end for completed and dropped calls, ringing time for missed ones, 0 for "
            "one that failed unanswered; left out while the call is ringing or in progress."
        ),
    ] = UNSET
    started_at: Moment
    ended_at: Annotated[Moment | UnsetType, Meta(description="Left out while the call is in progress.")] = (
        UNSET
    )
    created_at: Moment


def show_voice_call(record: VoiceCallRecord) -> VoiceCall:
    running = record.status in RUNNING_CALLS
    return VoiceCall(
        id=record.id,
        channel_id=shown_text(record.channel_id),
        contact_id=shown_text(record.contact_id),
        direction=record.direction,
        status=record.status,
        duration_seconds=UNSET if running else record.duration_seconds or 0,
        started_at=record.started_at,
        ended_at=UNSET if running else shown_time(record.ended_at),
        created_at=record.created_at,
    )


class BusinessHours(Shown, kw_only=True):
    business_hours: Annotated[
        BusinessHoursConfig | None,
        Meta(description="The stored configuration, unchanged; null when hours were never configured."),
    ]
