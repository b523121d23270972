"""The rows of the table about outbound webhooks."""

from collections.abc import Sequence
from typing import cast

from deskwire.api.bodies import WebhookBody, WebhookChanges
from deskwire.api.body_parser import invalid_body
from deskwire.api.endpoint import Answers, Call, Endpoint, Made, Receivers
from deskwire.api.parameters import LogQuery
from deskwire.api.writes import given
from deskwire.desk import delivery_logs, webhooks
from deskwire.model.errors import DeskError
from deskwire.model.events import EventKind
from deskwire.model.webhooks import DeliveryLogs, NewWebhook, RotatedSecret, Toggled, Webhook
from deskwire.store.records import ENCODER
from deskwire.store.transaction import Tx


async def check_url(call: Call, receivers: Receivers) -> DeskError | None:
    body: WebhookBody | WebhookChanges = call.body
    url = given(body.url)
    problem = None if url is None else await receivers.refusal(url)
    return None if problem is None else invalid_body("url", problem)


async def list_webhooks(tx: Tx, call: Call) -> list[bytes]:
    return await webhooks.list_webhooks(tx, call.workspace_id)


async def find_webhook(tx: Tx, call: Call) -> bytes:
    return await webhooks.find_webhook(tx, call.workspace_id, call.id)


async def list_logs(tx: Tx, call: Call) -> bytes:
    query: LogQuery = call.query
    page = await delivery_logs.list_logs(tx, call.workspace_id, call.id, query.limit, query.offset)
    shown = DeliveryLogs(
        items=[one.entry for one in page.logged],
        total=page.total,
        has_more=query.offset + len(page.logged) < page.total,
    )
    return ENCODER.encode(shown)


async def create_webhook(tx: Tx, call: Call) -> Made:
    body: WebhookBody = call.body
    filters = kinds(given(body.event_filters) or ())
    return Made(await webhooks.create_webhook(tx, call.seal, call.workspace_id, body.name, body.url, filters))


async def change_webhook(tx: Tx, call: Call) -> bytes:
    body: WebhookChanges = call.body
    filters = given(body.event_filters)
    changes = webhooks.Changes(given(body.name), given(body.url), None if filters is None else kinds(filters))
    return await webhooks.change_webhook(tx, call.workspace_id, call.id, changes)


async def delete_webhook(tx: Tx, call: Call) -> None:
    await webhooks.delete_webhook(tx, call.workspace_id, call.id)


async def regenerate_secret(tx: Tx, call: Call) -> bytes:
    return await webhooks.rotate_secret(tx, call.seal, call.workspace_id, call.id)


async def toggle(tx: Tx, call: Call) -> bytes:
    return ENCODER.encode(await webhooks.toggle_webhook(tx, call.workspace_id, call.id))


def kinds(names: Sequence[str]) -> tuple[EventKind, ...]:
    """Each once, as the body's check has found them to be kinds."""
    return cast("tuple[EventKind, ...]", tuple(dict.fromkeys(names)))


WEBHOOK_READS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/outbound-webhooks",
        scopes=("webhooks:read",),
        answers=Answers.ARRAY,
        shows=Webhook,
        operation=list_webhooks,
        summary="List outbound webhooks",
        description="All at once, newest first. Secrets are never among it.",
    ),
    Endpoint(
        method="GET",
        path="/outbound-webhooks/{id}",
        scopes=("webhooks:read",),
        answers=Answers.OBJECT,
        shows=Webhook,
        operation=find_webhook,
        summary="Read an outbound webhook",
        noun="webhook",
        errors=("NOT_FOUND",),
    ),
    Endpoint(
        method="GET",
        path="/outbound-webhooks/{id}/delivery-logs",
        scopes=("webhooks:read",),
        query=LogQuery,
        answers=Answers.OBJECT,
        shows=DeliveryLogs,
        operation=list_logs,
        summary="Read the delivery log of a webhook",
        description="An entry for each attempt, newest first. Entries are kept for 30 days.",
        noun="webhook",
        errors=("NOT_FOUND",),
    ),
)

WEBHOOK_WRITES: tuple[Endpoint, ...] = (
    Endpoint(
        method="POST",
        path="/outbound-webhooks",
        scopes=("webhooks:write",),
        body=WebhookBody,
        before=check_url,
        status=201,
        is_idempotent=True,
        answers=Answers.OBJECT,
        shows=NewWebhook,
        operation=create_webhook,
        summary="Register an outbound webhook",
        description=(
            "`secret` signs the deliveries and is shown only now. Without `event_filters`, or with none in "
            "it, events of every kind are sent."
        ),
    ),
    Endpoint(
        method="PATCH",
        path="/outbound-webhooks/{id}",
        scopes=("webhooks:write",),
        body=WebhookChanges,
        before=check_url,
        answers=Answers.OBJECT,
        shows=Webhook,
        operation=change_webhook,
        summary="Change an outbound webhook",
        description=(
            "Only what is sent changes. `event_filters: []` subscribes to every kind again; to stop events, "
            "toggle the webhook instead."
        ),
        noun="webhook",
        errors=("NOT_FOUND",),
    ),
    Endpoint(
        method="DELETE",
        path="/outbound-webhooks/{id}",
        scopes=("webhooks:write",),
        status=204,
        answers=Answers.NOTHING,
        shows=None,
        operation=delete_webhook,
        summary="Delete an outbound webhook",
        description="What is waiting for it is not sent any more.",
        noun="webhook",
        errors=("NOT_FOUND",),
    ),
    Endpoint(
        method="POST",
        path="/outbound-webhooks/{id}/regenerate-secret",
        scopes=("webhooks:write",),
        answers=Answers.OBJECT,
        shows=RotatedSecret,
        operation=regenerate_secret,
        summary="Give an outbound webhook a new secret",
        description=(
            "It counts at once; requests that were under way may still arrive, signed with the old one."
        ),
        noun="webhook",
        errors=("NOT_FOUND",),
    ),
    Endpoint(
        method="POST",
        path="/outbound-webhooks/{id}/toggle",
        scopes=("webhooks:write",),
        answers=Answers.OBJECT,
        shows=Toggled,
        operation=toggle,
        summary="Switch an outbound webhook on or off",
        description=(
            "An active one becomes inactive: events that arise then are not kept for it. An inactive one, or "
            "one in error, becomes active: what is held for it and younger than 24 hours is sent."
        ),
        noun="webhook",
        errors=("NOT_FOUND",),
    ),
)
