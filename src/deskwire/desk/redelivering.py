"""Sending events once more that were accepted before: a webhook's part of the last 24 hours, or of less."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, cast

from sqlalchemy import BigInteger, Boolean, and_, bindparam, case, false, func, select, true
from sqlalchemy.dialects.postgresql import insert

from deskwire.desk.webhook_rows import load_webhook, lock_webhook
from deskwire.model.errors import DeskError, not_found
from deskwire.model.events import EventKind
from deskwire.model.ids import first_id_at
from deskwire.model.limits import DELIVERY_HORIZON_US, DUPLICATE_WINDOW_US, REDELIVERED_AT_ONCE
from deskwire.model.moments import Moment
from deskwire.model.webhooks import EVENT_KINDS, WebhookRecord
from deskwire.store.statement import Among, Statement
from deskwire.store.tables import DELIVERIES, DELIVERY_LOGS, EVENTS, MESSAGES, IdType
from deskwire.store.transaction import Store, Tx

LOGS = DELIVERY_LOGS.c
LOGGED = Statement(
    select(LOGS.id, LOGS.event_id, LOGS.success, LOGS.created_at)
    .where(
        LOGS.workspace_id == bindparam("workspace_id"),
        LOGS.webhook_id == bindparam("webhook_id"),
        LOGS.id > bindparam("above", type_=BigInteger()),
        LOGS.id <= bindparam("newest", type_=BigInteger()),
    )
    .order_by(LOGS.id.desc())
    .limit(bindparam("limit"))
)
ACCEPTED = Statement(
    select(EVENTS.c.id)
    .where(
        EVENTS.c.workspace_id == bindparam("workspace_id"),
        EVENTS.c.id > bindparam("after", type_=IdType),
        EVENTS.c.accepted_at >= bindparam("since", type_=BigInteger()),
        EVENTS.c.accepted_at <= bindparam("until", type_=BigInteger()),
        Among(EVENTS.c.kind, "kinds"),
    )
    .order_by(EVENTS.c.id)
    .limit(bindparam("limit"))
)
IS_HELD = bindparam("is_held", type_=Boolean())
NOW = bindparam("now", type_=BigInteger())
# Messages go in the order of their channel, as they did at first; all others in that of their subject.
AGAIN = Statement(
    insert(DELIVERIES)
    .from_select(
        [
            *("workspace_id", "webhook_id", "event_id", "order_key", "accepted_at"),
            *("due_at", "held", "counts", "untried"),
        ],
        select(
            EVENTS.c.workspace_id,
            bindparam("webhook_id", type_=IdType),
            EVENTS.c.id,
            func.coalesce(MESSAGES.c.channel_id, EVENTS.c.subject_id),
            EVENTS.c.accepted_at,
            case((IS_HELD, EVENTS.c.accepted_at + DELIVERY_HORIZON_US), else_=NOW),
            IS_HELD,
            # Later deliveries of an event count for nothing.
            false(),
            true(),
        )
        .select_from(EVENTS)
        .outerjoin(
            MESSAGES,
            and_(
                MESSAGES.c.workspace_id == bindparam("workspace_id"),
                MESSAGES.c.id == EVENTS.c.subject_id,
            ),
        )
        .where(
            EVENTS.c.workspace_id == bindparam("workspace_id"),
            Among(EVENTS.c.id, "event_ids"),
        ),
        include_defaults=False,
    )
    .on_conflict_do_nothing(index_elements=["workspace_id", "webhook_id", "event_id"])
    .returning(DELIVERIES.c.event_id)
)


class Wish(NamedTuple):
    """What a webhook is to get again; without kinds, all that it takes."""

    workspace_id: str
    webhook_id: str
    since: Moment
    kinds: Sequence[EventKind] = ()
    # Also what was delivered a moment ago.
    again: bool = False


class Redelivered(NamedTuple):
    """What became of the events that were wished for."""

    queued: int
    # They were on their way already.
    waiting: int
    # They arrived so lately that sending them again would only double them.
    recent: int
    # The webhook is in error, so they wait until it is activated.
    held: bool


class Step(NamedTuple):
    """Some of the events, in the order in which they were accepted."""

    found: int
    last_id: str
    queued: int
    recent: frozenset[str]
    last_log_id: int
    skipped: int
    held: bool


async def redeliver(store: Store, wish: Wish) -> Redelivered:
    """In steps, each of them a transaction of its own."""
    begun = await store.read(lambda tx: begin(tx, wish))
    recent = frozenset[str]() if wish.again else await arrived_lately(store, wish, begun.last_log_id)
    after, last_log_id = first_id_at(wish.since), begun.last_log_id
    found = queued = skipped = 0
    while True:
        more = partial(queue_some, wish=wish, until=begun.until, after=after)
        step = await store.write(partial(more, recent=recent, last_log_id=last_log_id))
        found, queued, skipped = found + step.found, queued + step.queued, skipped + step.skipped
        if step.found < REDELIVERED_AT_ONCE:
            return Redelivered(queued, found - queued - skipped, skipped, step.held)
        after, recent, last_log_id = step.last_id, step.recent, step.last_log_id


class Begun(NamedTuple):
    """What is accepted later goes its usual way."""

    until: Moment
    last_log_id: int


async def begin(tx: Tx, wish: Wish) -> Begun:
    webhook = able(await load_webhook(tx, wish.workspace_id, wish.webhook_id))
    wanted_kinds(webhook, wish)
    return Begun(tx.now, webhook.last_log_id)


async def arrived_lately(store: Store, wish: Wish, newest: int) -> frozenset[str]:
    found: set[str] = set()
    while newest > 0:
        ids, newest = await store.read(partial(look_back, wish=wish, above=0, newest=newest))
        found |= ids
    return frozenset(found)


async def queue_some(
    tx: Tx, wish: Wish, until: Moment, after: str, recent: frozenset[str], last_log_id: int
) -> Step:
    """Nothing more is recorded as delivered while this goes on, so what has arrived meanwhile is seen."""
    webhook = able(await lock_webhook(tx, wish.workspace_id, wish.webhook_id))
    newest = last_log_id if wish.again else webhook.last_log_id
    while newest > last_log_id:
        ids, newest = await look_back(tx, wish, last_log_id, newest)
        recent |= ids
    found = await accepted(tx, wish, wanted_kinds(webhook, wish), until, after)
    wanted = [id for id in found if id not in recent]
    rows = await tx.all(
        AGAIN,
        workspace_id=wish.workspace_id,
        webhook_id=wish.webhook_id,
        event_ids=wanted,
        now=tx.now,
        is_held=webhook.status == "error",
    )
    if rows:
        tx.ring()
    return Step(
        found=len(found),
        last_id=found[-1] if found else after,
        queued=len(rows),
        recent=recent,
        last_log_id=webhook.last_log_id,
        skipped=len(found) - len(wanted),
        held=webhook.status == "error",
    )


def able(webhook: WebhookRecord | None) -> WebhookRecord:
    if webhook is None:
        raise not_found("webhook")
    if webhook.status == "inactive":
        raise DeskError(
            "CONFLICT",
            f"The webhook is inactive, so nothing is sent to it: activate it first, with "
            f"`deskwire webhook toggle {webhook.id}`.",
        )
    return webhook


def wanted_kinds(webhook: WebhookRecord, wish: Wish) -> list[EventKind]:
    takes = webhook.event_filters or EVENT_KINDS
    for kind in wish.kinds:
        if kind not in takes:
            raise DeskError("CONFLICT", f"The webhook does not take {kind}, only {', '.join(takes)}.")
    return list(wish.kinds or takes)


async def look_back(tx: Tx, wish: Wish, above: int, newest: int) -> tuple[set[str], int]:
    """The events of successes of late, and up to which entry to look on; that is `above` in the end."""
    rows = await tx.all(
        LOGGED,
        workspace_id=wish.workspace_id,
        webhook_id=wish.webhook_id,
        above=above,
        newest=newest,
        limit=REDELIVERED_AT_ONCE,
    )
    entries = cast("Sequence[tuple[int, str | None, bool, int]]", rows)
    earliest = tx.now - DUPLICATE_WINDOW_US
    ids = {id for _, id, success, ended_at in entries if success and id is not None and ended_at > earliest}
    if len(entries) < REDELIVERED_AT_ONCE or entries[-1][3] <= earliest:
        return ids, above
    return ids, entries[-1][0] - 1


async def accepted(tx: Tx, wish: Wish, kinds: list[EventKind], until: Moment, after: str) -> list[str]:
    rows = await tx.all(
        ACCEPTED,
        workspace_id=wish.workspace_id,
        after=after,
        # What is older is never sent.
        since=max(wish.since, tx.now - DELIVERY_HORIZON_US + 1),
        until=until,
        kinds=kinds,
        limit=REDELIVERED_AT_ONCE,
    )
    return [str(row[0]) for row in rows]
