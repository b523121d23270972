"""Events, written in the transaction of the change that caused them, each with what it has to be sent to."""

from typing import NamedTuple

from msgspec import UNSET, Raw
from sqlalchemy import BigInteger, bindparam, case, insert, literal, select

from deskwire.desk.identity import new_id
from deskwire.model.deliveries import horizon
from deskwire.model.events import EventBody, EventData, EventKind, encode_body
from deskwire.model.webhooks import KIND_BITS
from deskwire.store.statement import Statement
from deskwire.store.tables import DELIVERIES, EVENTS, WEBHOOKS, IdType
from deskwire.store.transaction import Tx

INSERT = Statement(insert(EVENTS))
IS_HELD = WEBHOOKS.c.status == "error"
NOW = bindparam("accepted_at", type_=BigInteger())
# What an inactive webhook misses is not kept for it; what one in error misses is, until it would be given up.
FAN_OUT = Statement(
    insert(DELIVERIES)
    .from_select(
        ["workspace_id", "webhook_id", "event_id", "order_key", "accepted_at", "due_at", "held"],
        select(
            WEBHOOKS.c.workspace_id,
            WEBHOOKS.c.id,
            bindparam("event_id", type_=IdType),
            bindparam("order_key", type_=IdType),
            NOW,
            case((IS_HELD, bindparam("given_up_at", type_=BigInteger())), else_=NOW),
            IS_HELD,
        )
        .where(
            WEBHOOKS.c.workspace_id == bindparam("workspace_id"),
            WEBHOOKS.c.status != "inactive",
            WEBHOOKS.c.kind_bits.op("&")(bindparam("bit", type_=BigInteger())) != literal(0),
        )
        # Whoever activates a webhook waits for it: or what is held for it now would be overlooked then.
        .with_for_update(read=True, key_share=True),
        include_defaults=False,
    )
    .returning(DELIVERIES.c.held)
)


class InChannel(NamedTuple):
    """The channel that an event is of, and the member it is assigned to, as the API shows them."""

    id: str
    document: bytes
    assigned_member: bytes | None


async def emit(
    tx: Tx,
    workspace_id: str,
    kind: EventKind,
    subject_id: str,
    data: EventData,
    channel: InChannel | None = None,
) -> None:
    body = EventBody(
        kind=kind,
        workspace_id=workspace_id,
        timestamp=tx.now,
        data=data,
        channel=UNSET if channel is None else Raw(channel.document),
        assigned_member=Raw(channel.assigned_member) if channel and channel.assigned_member else None,
    )
    id = new_id()
    await tx.run(
        INSERT,
        workspace_id=workspace_id,
        id=id,
        kind=kind,
        subject_id=subject_id,
        accepted_at=tx.now,
        body=encode_body(body),
        cause=tx.cause,
    )
    tx.count_event()
    to_send = await tx.one(
        FAN_OUT,
        workspace_id=workspace_id,
        event_id=id,
        order_key=subject_id if channel is None else channel.id,
        accepted_at=tx.now,
        given_up_at=horizon(tx.now),
        bit=KIND_BITS[kind],
    )
    if to_send is not None:
        tx.ring()
