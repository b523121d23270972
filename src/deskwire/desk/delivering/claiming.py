"""Claiming due deliveries: who has one, until when, and under which number."""

from collections.abc import Sequence
from typing import NamedTuple, cast

from sqlalchemy import BigInteger, bindparam, case, exists, literal, not_, null, or_, select, update

from deskwire.model.deliveries import LONGEST_REQUEUE_WAIT_US, longest_wait_us
from deskwire.model.limits import LEASE_US, REQUEUE_WAITS_S
from deskwire.model.moments import Moment
from deskwire.store.statement import Among, Statement
from deskwire.store.tables import DELIVERIES, IdType
from deskwire.store.transaction import Tx

DUE = DELIVERIES.c
NOW = bindparam("now", type_=BigInteger())
FIND_DUE = Statement(
    select(DUE.workspace_id, DUE.webhook_id, DUE.event_id)
    .where(DUE.due_at <= NOW, not_(Among(DUE.webhook_id, "busy")))
    .order_by(DUE.due_at, DUE.event_id)
    .limit(bindparam("limit"))
)
OLDEST_DUE = Statement(select(DUE.due_at).where(DUE.due_at <= NOW).order_by(DUE.due_at).limit(1))
EARLIER = DELIVERIES.alias("earlier")
# The order of a channel's first deliveries: none begins while another worker has an earlier one. One whose
# lease ran out holds nobody up: it may stand behind all that would wait for it.
IS_TURN = or_(
    not_(DUE.untried),
    not_(
        exists().where(
            EARLIER.c.workspace_id == bindparam("workspace_id"),
            EARLIER.c.webhook_id == bindparam("webhook_id"),
            EARLIER.c.order_key == DUE.order_key,
            EARLIER.c.event_id < DUE.event_id,
            EARLIER.c.untried,
            not_(EARLIER.c.held),
            EARLIER.c.holder != bindparam("holder", type_=IdType),
            # Written so that nobody looks through all that is due later.
            EARLIER.c.due_at - NOW > literal(0),
        )
    ),
)
CLAIM = Statement(
    update(DELIVERIES)
    .where(
        DUE.workspace_id == bindparam("workspace_id"),
        DUE.webhook_id == bindparam("webhook_id"),
        Among(DUE.event_id, "event_ids"),
        DUE.due_at <= NOW,
        IS_TURN,
    )
    .values(
        holder=bindparam("holder", type_=IdType),
        due_at=bindparam("lease_end", type_=BigInteger()),
        fence=DUE.fence + 1,
    )
    .returning(DUE.event_id, DUE.order_key, DUE.accepted_at, DUE.fence, DUE.cycles, DUE.counts, DUE.untried)
)
RELEASE = Statement(
    update(DELIVERIES)
    .where(
        DUE.workspace_id == bindparam("workspace_id"),
        DUE.webhook_id == bindparam("webhook_id"),
        Among(DUE.event_id, "event_ids"),
        DUE.holder == bindparam("mine", type_=IdType),
    )
    .values(holder=null(), due_at=NOW)
)
RENEW = Statement(
    update(DELIVERIES)
    .where(
        DUE.workspace_id == bindparam("workspace_id"),
        DUE.webhook_id == bindparam("webhook_id"),
        DUE.event_id == bindparam("event_id"),
        DUE.holder == bindparam("mine", type_=IdType),
        DUE.fence == bindparam("its_fence", type_=BigInteger()),
    )
    .values(due_at=bindparam("lease_end", type_=BigInteger()))
    .returning(DUE.event_id)
)
REDATE = Statement(
    update(DELIVERIES)
    .where(not_(DUE.held), DUE.due_at > bindparam("latest", type_=BigInteger()))
    .values(holder=null(), due_at=NOW, fence=DUE.fence + 1)
)
# Nothing that waits is due later than the wait after so many failed cycles allows.
LATEST = case(
    *((DUE.cycles == cycles, NOW + longest_wait_us(cycles)) for cycles in range(len(REQUEUE_WAITS_S))),
    else_=NOW + LONGEST_REQUEUE_WAIT_US,
)
REDATE_WAITING = Statement(
    update(DELIVERIES)
    .where(not_(DUE.held), DUE.holder.is_(None), DUE.due_at > NOW, DUE.due_at > LATEST)
    .values(due_at=NOW, fence=DUE.fence + 1)
)


class Due(NamedTuple):
    """A delivery that somebody may claim."""

    workspace_id: str
    webhook_id: str
    event_id: str


class Claim(NamedTuple):
    """A delivery that is ours until the lease ends, unless its fence shows that it was claimed again."""

    workspace_id: str
    webhook_id: str
    event_id: str
    order_key: str
    accepted_at: Moment
    fence: int
    cycles: int
    counts: bool
    untried: bool

    @property
    def delivery(self) -> tuple[str, str]:
        """What no other claim of the same moment shares: its webhook and its event."""
        return self.webhook_id, self.event_id

    @property
    def was_held(self) -> bool:
        """Whether it was held, or was in other hands, before any attempt at it."""
        return self.untried and self.fence > 1


async def find_due(tx: Tx, busy: Sequence[str], limit: int) -> list[Due]:
    """What has been due longest, but for the webhooks that are busy."""
    rows = await tx.all(FIND_DUE, now=tx.now, busy=busy, limit=limit)
    return [Due(str(row[0]), str(row[1]), str(row[2])) for row in rows]


async def oldest_due_us(tx: Tx) -> int:
    """For how long the one that has been due longest is waiting."""
    row = await tx.one(OLDEST_DUE, now=tx.now)
    return 0 if row is None else tx.now - cast(int, row[0])


async def claim(
    tx: Tx, holder: str, workspace_id: str, webhook_id: str, event_ids: Sequence[str]
) -> list[Claim]:
    """Those of them that nobody else has claimed meanwhile, in the order in which they were accepted."""
    rows = await tx.all(
        CLAIM,
        workspace_id=workspace_id,
        webhook_id=webhook_id,
        event_ids=event_ids,
        holder=holder,
        now=tx.now,
        lease_end=tx.now + LEASE_US,
    )
    return sorted(
        (
            Claim(
                workspace_id,
                webhook_id,
                str(event_id),
                str(order_key),
                Moment(cast(int, accepted_at)),
                cast(int, fence),
                cast(int, cycles),
                bool(counts),
                bool(untried),
            )
            for event_id, order_key, accepted_at, fence, cycles, counts, untried in rows
        ),
        key=lambda claim: claim.event_id,
    )


async def release(tx: Tx, holder: str, workspace_id: str, webhook_id: str, event_ids: Sequence[str]) -> None:
    """They are due at once, for anybody."""
    await tx.run(
        RELEASE,
        workspace_id=workspace_id,
        webhook_id=webhook_id,
        event_ids=event_ids,
        mine=holder,
        now=tx.now,
    )
    tx.ring()


async def renew(tx: Tx, holder: str, claims: Sequence[Claim]) -> list[Claim]:
    """Those that nobody else has claimed meanwhile: their leases begin anew."""
    renewed = []
    for each in claims:
        row = await tx.one(
            RENEW,
            workspace_id=each.workspace_id,
            webhook_id=each.webhook_id,
            event_id=each.event_id,
            mine=holder,
            its_fence=each.fence,
            lease_end=tx.now + LEASE_US,
        )
        if row is not None:
            renewed.append(each)
    return renewed


async def redate(tx: Tx, *, was_seen: bool) -> None:
    """What is due later than anything can be was dated by a clock that has since been set back: it is due.

    Where that was seen, so is what waits for longer than its place in the schedule says; otherwise its
    receiver may have asked for that.
    """
    await tx.run(REDATE, now=tx.now, latest=tx.now + LONGEST_REQUEUE_WAIT_US)
    if was_seen:
        await tx.run(REDATE_WAITING, now=tx.now)
