"""Managing outbound webhooks: registering and changing them, their secrets, switching them on and off."""

from typing import NamedTuple, cast

from msgspec.structs import replace
from sqlalchemy import BigInteger, bindparam, case, delete, false, func, null, or_, select, true, update

from deskwire.desk.identity import new_id, new_webhook_secret
from deskwire.desk.reading import find_workspace
from deskwire.desk.sealing import Seal
from deskwire.desk.webhook_rows import load_webhook, lock_webhook, lock_webhook_wholly, put_webhook
from deskwire.desk.workspaces import list_workspaces
from deskwire.model.errors import not_found
from deskwire.model.events import EventKind
from deskwire.model.limits import DELIVERY_HORIZON_US
from deskwire.model.moments import Moment
from deskwire.model.webhooks import RotatedSecret, Toggled, WebhookRecord, toggled
from deskwire.store.records import ENCODER, document
from deskwire.store.statement import Statement
from deskwire.store.tables import DELIVERIES, WEBHOOKS
from deskwire.store.transaction import Tx

MINE = (WEBHOOKS.c.workspace_id == bindparam("workspace_id"), WEBHOOKS.c.id == bindparam("id"))
FIND = Statement(select(WEBHOOKS.c.document).where(*MINE))
LIST = Statement(
    select(WEBHOOKS.c.document, WEBHOOKS.c.id)
    .where(WEBHOOKS.c.workspace_id == bindparam("workspace_id"))
    .order_by(WEBHOOKS.c.created_at.desc(), WEBHOOKS.c.id.desc())
)
DELETE = Statement(delete(WEBHOOKS).where(*MINE).returning(WEBHOOKS.c.id))

NOW = bindparam("now", type_=BigInteger())
IN_TIME = (
    DELIVERIES.c.workspace_id == bindparam("workspace_id"),
    DELIVERIES.c.webhook_id == bindparam("webhook_id"),
    DELIVERIES.c.accepted_at > bindparam("horizon", type_=BigInteger()),
)
# All but what is being sent at this moment, which its sender puts back by itself when it fails.
RESUME = Statement(
    update(DELIVERIES)
    .where(*IN_TIME, or_(DELIVERIES.c.holder.is_(None), DELIVERIES.c.due_at <= NOW))
    .values(
        held=false(),
        due_at=NOW,
        cycles=0,
        counts=true(),
        untried=true(),
        holder=null(),
        fence=DELIVERIES.c.fence + 1,
    )
)
BACKLOG = Statement(
    select(
        func.count(),
        func.sum(case((DELIVERIES.c.held, 1), else_=0)),
        func.min(DELIVERIES.c.accepted_at),
    ).where(*IN_TIME)
)


class Changes(NamedTuple):
    """New values; None leaves one as it is."""

    name: str | None
    url: str | None
    event_filters: tuple[EventKind, ...] | None


class Backlog(NamedTuple):
    """How many events are on their way to a webhook, how many are held for it, and the oldest of them all."""

    waiting: int
    held: int
    oldest_accepted_at: Moment | None


async def list_webhooks(tx: Tx, workspace_id: str) -> list[bytes]:
    return [document(row) for row in await tx.all(LIST, workspace_id=workspace_id)]


async def find_webhook(tx: Tx, workspace_id: str, id: str) -> bytes:
    row = await tx.one(FIND, workspace_id=workspace_id, id=id)
    if row is None:
        raise not_found("webhook")
    return document(row)


async def create_webhook(
    tx: Tx, seal: Seal, workspace_id: str, name: str, url: str, event_filters: tuple[EventKind, ...]
) -> bytes:
    """What is shown of it, once with its secret."""
    id, secret = new_id(), new_webhook_secret()
    webhook = WebhookRecord(
        id=id,
        name=name,
        url=url,
        event_filters=event_filters,
        secret=seal.seal(secret.encode(), id),
        created_at=tx.now,
        updated_at=tx.now,
    )
    shown = await put_webhook(tx, workspace_id, webhook)
    return shown[:-1] + b',"secret":"%b"}' % secret.encode()


async def change_webhook(tx: Tx, workspace_id: str, id: str, changes: Changes) -> bytes:
    webhook = there(await lock_webhook(tx, workspace_id, id))
    changed = replace(
        webhook,
        name=webhook.name if changes.name is None else changes.name,
        url=webhook.url if changes.url is None else changes.url,
        event_filters=webhook.event_filters if changes.event_filters is None else changes.event_filters,
    )
    if changed != webhook:
        changed = replace(changed, updated_at=tx.now)
    return await put_webhook(tx, workspace_id, changed)


async def delete_webhook(tx: Tx, workspace_id: str, id: str) -> None:
    """What is on its way to it is dropped when it is due; nothing more is sent."""
    if await tx.one(DELETE, workspace_id=workspace_id, id=id) is None:
        raise not_found("webhook")


async def rotate_secret(tx: Tx, seal: Seal, workspace_id: str, id: str) -> bytes:
    webhook, secret = there(await lock_webhook(tx, workspace_id, id)), new_webhook_secret()
    sealed = seal.seal(secret.encode(), id)
    await put_webhook(tx, workspace_id, replace(webhook, secret=sealed, updated_at=tx.now))
    return ENCODER.encode(RotatedSecret(id=id, secret=secret))


async def toggle_webhook(tx: Tx, workspace_id: str, id: str) -> Toggled:
    webhook = toggled(there(await lock_webhook_wholly(tx, workspace_id, id)), tx.now)
    await put_webhook(tx, workspace_id, webhook)
    if webhook.status == "active":
        await tx.run(
            RESUME,
            workspace_id=workspace_id,
            webhook_id=id,
            now=tx.now,
            horizon=tx.now - DELIVERY_HORIZON_US,
        )
        tx.ring()
    return Toggled(id=id, status=webhook.status, failure_count=webhook.failure_count)


async def locate_webhook(tx: Tx, id: str, workspace_id: str | None = None) -> tuple[str, WebhookRecord]:
    """A webhook and its workspace, which an operator need not know."""
    for each in await workspace_ids(tx, workspace_id):
        webhook = await load_webhook(tx, each, id)
        if webhook is not None:
            return each, webhook
    raise not_found("webhook")


async def list_all(tx: Tx, workspace_id: str | None = None) -> list[tuple[str, WebhookRecord]]:
    """Those of a workspace, or of all of them, newest first in each."""
    found = []
    for each in await workspace_ids(tx, workspace_id):
        for row in await tx.all(LIST, workspace_id=each):
            found.append((each, there(await load_webhook(tx, each, str(row[1])))))
    return found


async def count_backlog(tx: Tx, workspace_id: str, webhook: WebhookRecord) -> Backlog:
    row = await tx.one(
        BACKLOG, workspace_id=workspace_id, webhook_id=webhook.id, horizon=tx.now - DELIVERY_HORIZON_US
    )
    assert row is not None
    count, held, oldest = cast("tuple[int, int | None, int | None]", row)
    # What waits for a webhook that is not active is marked as held when it is due, and not sent before.
    held = held or 0 if webhook.status == "active" else count
    return Backlog(count - held, held, None if oldest is None else Moment(oldest))


async def workspace_ids(tx: Tx, workspace_id: str | None) -> list[str]:
    if workspace_id is None:
        return [workspace.id for workspace in await list_workspaces(tx)]
    await find_workspace(tx, workspace_id)
    return [workspace_id]


def there(webhook: WebhookRecord | None) -> WebhookRecord:
    if webhook is None:
        raise not_found("webhook")
    return webhook
