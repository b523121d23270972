"""Outbound webhooks: what is kept of one, how its health changes, and what the API shows."""

from typing import Annotated, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from deskwire.model.events import EventKind
from deskwire.model.limits import NOTICE_PAUSE_US, WEBHOOK_FAILURES_TO_ERROR
from deskwire.model.moments import Moment
from deskwire.model.shapes import Id, Shown, shown_text, shown_time

WebhookStatus = Literal["active", "inactive", "error"]
EVENT_KINDS: tuple[EventKind, ...] = get_args(EventKind)
KIND_BITS = {kind: 1 << number for number, kind in enumerate(EVENT_KINDS)}


class WebhookRecord(msgspec.Struct, kw_only=True, frozen=True):
    """A webhook as it is kept; the secret is encrypted."""

    id: str
    name: str
    url: str
    event_filters: tuple[EventKind, ...]
    status: WebhookStatus = "active"
    secret: bytes
    failure_count: int = 0
    last_delivered_at: Moment | None = None
    error_message: str | None = None
    failing_since: Moment | None = None
    noticed_at: Moment | None = None
    # The number of the last entry of its delivery log.
    last_log_id: int = 0
    created_at: Moment
    updated_at: Moment


class Webhook(Shown, kw_only=True):
    id: Id
    name: str
    url: str
    event_filters: Annotated[list[EventKind], Meta(description="Empty means all kinds.")]
    status: WebhookStatus
    failure_count: Annotated[
        int, Meta(description="First deliveries that failed one after another; a success sets it to 0.")
    ]
    last_delivered_at: Annotated[
        Moment | UnsetType, Meta(description="Left out when nothing was ever delivered.")
    ] = UNSET
    error_message: Annotated[
        str | UnsetType, Meta(description="Left out unless the last delivery failed.")
    ] = UNSET
    created_at: Moment
    updated_at: Moment


def show_webhook(record: WebhookRecord) -> Webhook:
    return Webhook(
        id=record.id,
        name=record.name,
        url=record.url,
        event_filters=list(record.event_filters),
        status=record.status,
        failure_count=record.failure_count,
        last_delivered_at=shown_time(record.last_delivered_at),
        error_message=shown_text(record.error_message),
        created_at=record.created_at,
        updated_at=record.updated_at,
    )


def subscribed_bits(event_filters: tuple[EventKind, ...]) -> int:
    """The kinds that are subscribed to, a bit each; all of them for an empty filter."""
    return sum(KIND_BITS[kind] for kind in set(event_filters or EVENT_KINDS))


def after_success(webhook: WebhookRecord, at: Moment) -> WebhookRecord:
    return replace(webhook, failure_count=0, last_delivered_at=at, error_message=None, failing_since=None)


def after_failed_cycle(webhook: WebhookRecord, at: Moment, error: str, *, counts: bool) -> WebhookRecord:
    """Only an active webhook's failures count: one in error has had its ten."""
    failed = replace(webhook, error_message=error, failing_since=webhook.failing_since or at)
    if not counts or failed.status != "active":
        return failed
    failed = replace(failed, failure_count=failed.failure_count + 1)
    if failed.failure_count < WEBHOOK_FAILURES_TO_ERROR:
        return failed
    return replace(failed, status="error", updated_at=at)


def toggled(webhook: WebhookRecord, at: Moment) -> WebhookRecord:
    match webhook.status:
        case "active":
            return replace(webhook, status="inactive", updated_at=at)
        case "inactive":
            return replace(webhook, status="active", updated_at=at)
        case "error":
            return replace(webhook, status="active", failure_count=0, updated_at=at)


def is_worth_a_notice(before: WebhookRecord, after: WebhookRecord, at: Moment) -> bool:
    """Whether owners and admins are to be told: it has just stopped, worked before, and no notice is fresh.

    A clock that was set back must not make a second notice of one day, hence the distance.
    """
    has_stopped = before.status != "error" and after.status == "error"
    has_worked = after.last_delivered_at is not None
    is_fresh = before.noticed_at is not None and abs(at - before.noticed_at) < NOTICE_PAUSE_US
    return has_stopped and has_worked and not is_fresh


class DeliveryLogEntry(Shown, kw_only=True):
    id: Annotated[int, Meta(description="From 1 for each webhook, one more with each attempt.")]
    webhook_id: Id
    event_type: str
    success: bool
    http_status: Annotated[int | UnsetType, Meta(description="Left out when there was no answer.")] = UNSET
    error_message: Annotated[str | UnsetType, Meta(description="Left out for a success.")] = UNSET
    duration_ms: int
    created_at: Moment


class DeliveryLogs(Shown, kw_only=True):
    items: Annotated[list[DeliveryLogEntry], Meta(description="Newest first.")]
    total: Annotated[int, Meta(description="How many entries there are; they are kept for 30 days.")]
    has_more: bool


class NewWebhook(Webhook, kw_only=True):
    """The only time that a new webhook's secret is shown."""

    secret: Annotated[str, Meta(description="64 hexadecimal characters; not shown again.")]


class RotatedSecret(Shown, kw_only=True):
    id: Id
    secret: Annotated[str, Meta(description="64 hexadecimal characters; not shown again.")]


class Toggled(Shown, kw_only=True):
    id: Id
    status: WebhookStatus
    failure_count: int
