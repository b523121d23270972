"""Whether deliveries to a webhook keep up with what is due."""

from typing import cast

from sqlalchemy import BigInteger, and_, bindparam, case, func, not_, select

from deskwire.model.limits import DELIVERY_STALLED_S
from deskwire.model.moments import Moment
from deskwire.model.webhook_diagnosis import Lag
from deskwire.store.statement import Statement
from deskwire.store.tables import DELIVERIES
from deskwire.store.transaction import Tx

DUE = DELIVERIES.c
IS_OVERDUE = and_(not_(DUE.held), DUE.due_at <= bindparam("overdue_at", type_=BigInteger()))
IS_UNDER_WAY = and_(DUE.holder.is_not(None), DUE.due_at > bindparam("now", type_=BigInteger()))
MEASURE = Statement(
    select(
        func.sum(case((IS_OVERDUE, 1), else_=0)),
        func.min(case((IS_OVERDUE, DUE.due_at))),
        func.sum(case((IS_UNDER_WAY, 1), else_=0)),
    ).where(DUE.workspace_id == bindparam("workspace_id"), DUE.webhook_id == bindparam("webhook_id"))
)


async def measure_lag(tx: Tx, workspace_id: str, webhook_id: str) -> Lag:
    row = await tx.one(
        MEASURE,
        workspace_id=workspace_id,
        webhook_id=webhook_id,
        now=tx.now,
        overdue_at=tx.now - int(DELIVERY_STALLED_S * 1_000_000),
    )
    assert row is not None
    overdue, since, under_way = cast("tuple[int | None, int | None, int | None]", row)
    return Lag(overdue or 0, None if since is None else Moment(since), under_way or 0)
