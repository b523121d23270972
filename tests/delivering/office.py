"""Webhooks, events and deliveries by hand: each step of a delivery as one call, and every row as it is."""

from collections.abc import Sequence
from typing import NamedTuple, cast

from msgspec.structs import replace
from sqlalchemy import bindparam, delete, select

from deskwire.desk import outbox
from deskwire.desk.delivering.claiming import Claim, claim, find_due, redate, release, renew
from deskwire.desk.delivering.preparing import Prepared, prepare
from deskwire.desk.delivering.recording import Attempt, Ended, Recorded, Result, TriedInVain, record
from deskwire.desk.identity import new_id
from deskwire.desk.outbox import InChannel
from deskwire.desk.webhook_rows import load_webhook, put_webhook
from deskwire.model.deliveries import Delivered, Outcome, Unreachable
from deskwire.model.events import ChannelEventData, EventKind
from deskwire.model.moments import Moment
from deskwire.model.webhooks import WebhookRecord
from deskwire.store.kinds import Kind, R
from deskwire.store.records import put
from deskwire.store.statement import Row, Statement, Value
from deskwire.store.tables import DELIVERIES, DELIVERY_LOGS, NOTICES, WEBHOOKS
from deskwire.store.transaction import Tx
from tests.engines import AnyStore, Run, SetClock

SECOND = 1_000_000
DAY = 24 * 60 * 60 * SECOND
ROWS = Statement(
    select(
        DELIVERIES.c.event_id,
        DELIVERIES.c.due_at,
        DELIVERIES.c.held,
        DELIVERIES.c.counts,
        DELIVERIES.c.untried,
        DELIVERIES.c.cycles,
        DELIVERIES.c.holder,
        DELIVERIES.c.fence,
    )
    .where(DELIVERIES.c.webhook_id == bindparam("id"))
    .order_by(DELIVERIES.c.event_id)
)
LOG = Statement(
    select(
        DELIVERY_LOGS.c.id,
        DELIVERY_LOGS.c.event_id,
        DELIVERY_LOGS.c.success,
        DELIVERY_LOGS.c.http_status,
        DELIVERY_LOGS.c.error_message,
    )
    .where(DELIVERY_LOGS.c.webhook_id == bindparam("id"))
    .order_by(DELIVERY_LOGS.c.id)
)
NOTICED = Statement(
    select(NOTICES.c.subject, NOTICES.c.text, NOTICES.c.mail_due_at).where(
        NOTICES.c.webhook_id == bindparam("id")
    )
)
REMOVE = Statement(delete(WEBHOOKS).where(WEBHOOKS.c.id == bindparam("id")))
GONE = Unreachable(7, "connection refused")
OK = Delivered(204, 7)


class Waiting(NamedTuple):
    """A row of a delivery."""

    event_id: str
    due_at: int
    held: bool
    counts: bool
    untried: bool
    cycles: int
    holder: str | None
    fence: int


class Office:
    def __init__(self, store: AnyStore, run: Run, clock: SetClock) -> None:
        self.run = run
        self.store = store
        self.clock = clock
        self.workspace_id = new_id()

    def webhook(self, *, workspace_id: str | None = None, **fields: object) -> WebhookRecord:
        id = new_id()
        record = WebhookRecord(
            id=id,
            name="Orders",
            url="https://receiver.example/hook",
            event_filters=(),
            secret=b"sealed",
            created_at=self.clock(),
            updated_at=self.clock(),
        )
        record = replace(record, **fields)
        self.run(self.store.write(lambda tx: put_webhook(tx, workspace_id or self.workspace_id, record)))
        return record

    def put(self, webhook: WebhookRecord) -> None:
        self.run(self.store.write(lambda tx: put_webhook(tx, self.workspace_id, webhook)))

    def keep(self, kind: Kind[R], record: R, **beside: Value) -> None:
        self.run(self.store.write(lambda tx: put(tx, kind, self.workspace_id, record, shown=None, **beside)))

    def load(self, webhook: WebhookRecord) -> WebhookRecord:
        loaded = self.run(self.store.read(lambda tx: load_webhook(tx, self.workspace_id, webhook.id)))
        assert loaded is not None
        return loaded

    def remove(self, webhook: WebhookRecord) -> None:
        self.run(self.store.write(lambda tx: tx.run(REMOVE, id=webhook.id)))

    def emit(
        self,
        channel_id: str | None = None,
        kind: EventKind = "channel.closed",
        number: int = 1,
        subject_id: str | None = None,
    ) -> None:
        async def write(tx: Tx) -> None:
            for _ in range(number):
                id = channel_id or new_id()
                await outbox.emit(
                    tx,
                    self.workspace_id,
                    kind,
                    subject_id or id,
                    ChannelEventData(version=1),
                    InChannel(id, b"{}", None),
                )

        self.run(self.store.write(write))

    def rows(self, webhook: WebhookRecord) -> list[Waiting]:
        rows = self.run(self.store.read(lambda tx: tx.all(ROWS, id=webhook.id)))
        return [
            Waiting(
                str(row[0]),
                cast(int, row[1]),
                bool(row[2]),
                bool(row[3]),
                bool(row[4]),
                cast(int, row[5]),
                None if row[6] is None else str(row[6]),
                cast(int, row[7]),
            )
            for row in rows
        ]

    def log(self, webhook: WebhookRecord) -> list[tuple[object, ...]]:
        rows = self.run(self.store.read(lambda tx: tx.all(LOG, id=webhook.id)))
        return [(row[0], str(row[1]), bool(row[2]), row[3], row[4]) for row in rows]

    def notices(self, webhook: WebhookRecord) -> Sequence[Row]:
        return [tuple(row) for row in self.run(self.store.read(lambda tx: tx.all(NOTICED, id=webhook.id)))]

    def due(self, busy: Sequence[str] = (), limit: int = 100) -> list[str]:
        found = self.run(self.store.read(lambda tx: find_due(tx, list(busy), limit)))
        return [each.event_id for each in found]

    def claim(
        self, webhook: WebhookRecord, holder: str, event_ids: Sequence[str] | None = None
    ) -> list[Claim]:
        ids = [row.event_id for row in self.rows(webhook)] if event_ids is None else list(event_ids)
        return self.run(self.store.write(lambda tx: claim(tx, holder, self.workspace_id, webhook.id, ids)))

    def release(self, webhook: WebhookRecord, holder: str, event_ids: Sequence[str]) -> None:
        self.run(
            self.store.write(lambda tx: release(tx, holder, self.workspace_id, webhook.id, list(event_ids)))
        )

    def renew(self, holder: str, *claims: Claim) -> list[Claim]:
        return self.run(self.store.write(lambda tx: renew(tx, holder, claims)))

    def redate(self, *, was_seen: bool = False) -> None:
        self.run(self.store.write(lambda tx: redate(tx, was_seen=was_seen)))

    def prepare(self, claim: Claim) -> Prepared:
        [prepared] = self.prepare_all([claim])
        return prepared

    def prepare_all(self, claims: Sequence[Claim]) -> list[Prepared]:
        """Those of one webhook."""
        of = claims[0]
        return self.run(self.store.read(lambda tx: prepare(tx, of.workspace_id, of.webhook_id, claims)))

    def record(self, webhook: WebhookRecord, *results: Result) -> Recorded:
        return self.run(self.store.write(lambda tx: record(tx, self.workspace_id, webhook.id, results)))

    def attempt(self, outcome: Outcome) -> Attempt:
        return Attempt("channel.closed", Moment(self.clock()), outcome)

    def ended(self, claim: Claim, outcome: Outcome, jitter: float = 0.0) -> Ended:
        return Ended(claim, self.attempt(outcome), jitter)

    def in_vain(self, claim: Claim, outcome: Outcome = GONE) -> TriedInVain:
        return TriedInVain(claim, self.attempt(outcome))
