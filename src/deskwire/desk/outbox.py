"""Events, written in the transaction of the change that caused them; delivering them comes later."""

from msgspec import UNSET, UnsetType
from sqlalchemy import insert

from deskwire.desk.identity import new_id
from deskwire.model.channels import Channel
from deskwire.model.events import EventBody, EventData, EventKind, encode_body
from deskwire.model.people import Member
from deskwire.store.statement import Statement
from deskwire.store.tables import EVENTS
from deskwire.store.transaction import Tx

INSERT = Statement(insert(EVENTS))


async def emit(
    tx: Tx,
    workspace_id: str,
    kind: EventKind,
    subject_id: str,
    data: EventData,
    *,
    channel: Channel | UnsetType = UNSET,
    assigned_member: Member | None = None,
) -> None:
    body = EventBody(
        kind=kind,
        workspace_id=workspace_id,
        timestamp=tx.now,
        data=data,
        channel=channel,
        assigned_member=assigned_member,
    )
    await tx.run(
        INSERT,
        workspace_id=workspace_id,
        id=new_id(),
        kind=kind,
        subject_id=subject_id,
        accepted_at=tx.now,
        body=encode_body(body),
    )
