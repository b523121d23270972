"""One seed's world: webhooks with their receivers, workers on one database, an operator, and mishaps."""

import asyncio
import itertools
import logging
import math
import random
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import Context
from functools import cache
from typing import TypeVar

import apsw
from sqlalchemy import BigInteger, bindparam, false, null, or_, true, update

import deskwire.delivery.recorder
import deskwire.delivery.worker
import deskwire.desk.notices
import deskwire.desk.outbox
from deskwire.delivery.worker import Worker
from deskwire.desk.delivering.claiming import Claim
from deskwire.desk.delivering.recording import Recorded, Result
from deskwire.desk.sealing import Seal
from deskwire.desk.webhook_rows import lock_webhook, put_webhook
from deskwire.model.deliveries import Delivered, Outcome, Refused, Unreachable
from deskwire.model.errors import Unavailable
from deskwire.model.events import ChannelEventData, EventKind
from deskwire.model.moments import Moment
from deskwire.model.webhooks import WebhookRecord, toggled
from deskwire.store import sqlite_figures
from deskwire.store.migration import script
from deskwire.store.sqlite_search import Later
from deskwire.store.sqlite_transaction import perform
from deskwire.store.statement import Statement
from deskwire.store.tables import DELIVERIES, WEBHOOKS
from deskwire.store.transaction import Bell, Tx
from tests.simulation.laws import Broken, Ledger
from tests.simulation.receivers import TEMPERS, Answer, Receiver
from tests.simulation.virtual_loop import PROCESS, Process, VirtualLoop

T = TypeVar("T")

HOUR_S = 3600.0
END_S = 26 * HOUR_S
# After the last mishap everything has time to become as it should be.
CALM_END_S = 15 * 60.0
MISHAPS_MOST = 12
NEW_YEAR_US = 1_767_225_600_000_000
WORKSPACE = "00000000-0000-7000-8000-00000000beef"
SECRET = "5a" * 32
SEAL = Seal(b"\x07" * 32)
KINDS: tuple[EventKind, ...] = ("channel.assigned", "channel.closed", "channel.reopened")

DUE = DELIVERIES.c
NOW = bindparam("now", type_=BigInteger())
RESUME = Statement(
    update(DELIVERIES)
    .where(
        DUE.workspace_id == bindparam("workspace_id"),
        DUE.webhook_id == bindparam("webhook_id"),
        DUE.accepted_at > bindparam("horizon", type_=BigInteger()),
        or_(DUE.holder.is_(None), DUE.due_at <= NOW),
    )
    .values(
        held=false(), due_at=NOW, cycles=0, counts=true(), untried=true(), holder=null(), fence=DUE.fence + 1
    )
)
REMOVE = Statement(WEBHOOKS.delete().where(WEBHOOKS.c.id == bindparam("id")))


@cache
def empty_database() -> bytes:
    connection = apsw.Connection(":memory:")
    connection.execute(script("sqlite", None)).fetchall()
    sqlite_figures.assume(connection)
    return connection.serialize("main")


class Webhook:
    def __init__(self, number: int, receiver: Receiver, filters: tuple[EventKind, ...]) -> None:
        self.id = f"00000000-0000-7000-8000-{number:012d}"
        self.url = f"https://{receiver.temper.replace('_', '-')}-{number}.example/hook"
        self.receiver = receiver
        self.filters = filters


class QuietBell(Bell):
    """Leaves out the looks that would find nothing: wakes at the first one with something to be found."""

    def __init__(self, world: "World") -> None:
        super().__init__()
        self._world = world
        self._is_nudged = False

    async def wait(self, longest_s: float) -> None:
        await super().wait(longest_s * math.ceil(max(1.0, self._world.due_in_s() / longest_s)))

    def nudge(self, after_s: float) -> None:
        """Something was written elsewhere: the next look may find it."""
        if not self._is_nudged:
            self._is_nudged = True
            self._world.loop.call_later(after_s, self._nudged, context=Context())

    def _nudged(self) -> None:
        self._is_nudged = False
        self.ring()


class WorldStore:
    """What one process sees of the database: some milliseconds away, and now and then not there."""

    def __init__(self, world: "World", bell: QuietBell) -> None:
        self.bell = bell
        self._world = world

    async def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        await self._travel()
        outcome = perform(self._world.connection, operation, self._world.clock())
        await asyncio.sleep(0)
        return outcome

    async def write(self, operation: Callable[[Tx], Awaitable[T]], cause: str | None = None) -> T:
        await self._travel()
        outcome = self._world.commit(operation, self.bell)
        if self._world.chance.random() < self._world.lost_answers:
            raise Unavailable("the connection was lost before it was known what became of the commit")
        await self._travel()
        return outcome

    async def _travel(self) -> None:
        await asyncio.sleep(self._world.chance.uniform(0.0001, 0.002))
        if self._world.loop.time() < self._world.away_until_s:
            raise Unavailable("the database is away")


class Receivers:
    """A worker's way to the receivers."""

    def __init__(self, world: "World") -> None:
        self._world = world

    async def send(self, url: str, headers: Mapping[str, str], body: bytes, limit_s: float) -> Outcome:
        world = self._world
        await asyncio.sleep(world.chance.uniform(0.0005, 0.003))
        webhook = world.by_url[url]
        arrival = world.ledger.arrive(webhook.id, headers, body, limit_s)
        answer = webhook.receiver.answer(world.loop.time())
        await asyncio.sleep(min(answer.after_s, max(limit_s, 0.0)))
        arrival.outcome = outcome_of(answer, limit_s)
        arrival.answered_s = world.loop.time()
        return arrival.outcome


def outcome_of(answer: Answer, limit_s: float) -> Outcome:
    duration_ms = int(min(answer.after_s, limit_s) * 1000)
    if answer.after_s >= limit_s:
        return Unreachable(duration_ms, "no answer in time")
    if answer.status is None:
        return Unreachable(duration_ms, "connection refused")
    if 200 <= answer.status <= 299:
        return Delivered(answer.status, duration_ms)
    return Refused(answer.status, duration_ms, f"the receiver answered {answer.status}", answer.retry_after_s)


class Silence:
    """Nobody counts what a worker tells."""

    def attempted(self, *told: object) -> None: ...

    def decided(self, *told: object) -> None: ...

    def stopped(self, *told: object) -> None: ...


class Complaints(logging.Handler):
    """Whatever a worker logs as an error breaks the laws."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(logging.ERROR)
        self._ledger = ledger

    def emit(self, record: logging.LogRecord) -> None:
        reason = record.exc_info[1] if record.exc_info else None
        if isinstance(reason, Broken):
            return
        self._ledger.complain(f"a worker logged: {record.getMessage()}: {reason!r}")


class World:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.chance = random.Random(seed)
        self.loop = VirtualLoop()
        self.connection = apsw.Connection(":memory:")
        self.connection.deserialize("main", empty_database())
        self.connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        self.bells: list[QuietBell] = []
        self.away_until_s = 0.0
        self.lost_answers = 0.0
        self._offset_us = 0
        self._ids = 0
        self._mishaps = 0
        self._workers: list[tuple[Process, Worker, asyncio.Event]] = []
        self._plan()
        self.ledger = Ledger(self.connection, self.loop, self.clock, self.is_calm, SECRET)
        for webhook in self.webhooks:
            self.ledger.register(webhook.id, webhook.filters, webhook.receiver.temper)

    def _plan(self) -> None:
        chance = self.chance
        mishaps = ["crash", "freeze", "outage", "lost answer", "jump", "restart", "wavering"]
        self.mishaps = [] if self.seed % 4 == 0 else chance.sample(mishaps, chance.randint(1, 4))
        self.slots = chance.choice((1, 2, 2, 3))
        self.webhooks = [self._webhook(number) for number in range(chance.choice((1, 1, 2, 2, 3)))]
        self.by_url = {each.url: each for each in self.webhooks}
        self.quiet_since_s = 0.0

    def _webhook(self, number: int) -> Webhook:
        temper = self.chance.choice(list(TEMPERS))
        receiver = Receiver(temper, TEMPERS[temper], self.chance)
        filters = self.chance.choice(((), (), KINDS[:1], KINDS[1:]))
        return Webhook(number, receiver, filters)

    def clock(self) -> Moment:
        return Moment(NEW_YEAR_US + int(self.loop.time() * 1_000_000) + self._offset_us)

    def new_id(self) -> str:
        """As version 7 has it: by the clock, and then in the order in which they are made."""
        self._ids += 1
        number = (self.clock() // 1000 << 80) | (7 << 76) | (2 << 62) | self._ids
        self._last_id = str(uuid.UUID(int=number))
        return self._last_id

    def due_in_s(self) -> float:
        row = self.connection.execute("SELECT min(due_at) FROM deliveries").fetchone()
        due_at = row[0] if row else None
        return HOUR_S if due_at is None else min(HOUR_S, (due_at - self.clock()) / 1_000_000)

    def is_calm(self, since_s: float) -> bool:
        """Whether nothing has gone wrong, on our side, since then."""
        return since_s >= self.quiet_since_s

    def disturb(self, effect_s: float) -> None:
        self.quiet_since_s = max(self.quiet_since_s, self.loop.time() + effect_s)

    def commit(self, operation: Callable[[Tx], Awaitable[T]], bell: QuietBell | None) -> T:
        later = Later()
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            outcome = perform(self.connection, operation, self.clock(), later)
        except BaseException:
            self.connection.execute("ROLLBACK")
            self.ledger.forget()
            raise
        self.connection.execute("COMMIT")
        self.ledger.settle()
        for each in self.bells:
            if each is not bell:
                each.nudge(0.2)
        if later.rings and bell is not None:
            bell.ring()
        return outcome

    def run(self) -> None:
        """To the end of its time, or until a law is broken."""
        logger = logging.getLogger("deskwire.delivery")
        complaints = Complaints(self.ledger)
        kept = logger.propagate, logger.level
        logger.propagate = False
        logger.addHandler(complaints)
        try:
            with watched(self):
                asyncio.set_event_loop(self.loop)
                self.loop.run_until_complete(self._live())
                self.ledger.check_end()
        finally:
            logger.removeHandler(complaints)
            logger.propagate, _ = kept
            self._bury()

    def _bury(self) -> None:
        for process, worker, _ in self._workers:
            worker._stopping.set()
            process.bury()
        asyncio.set_event_loop(None)
        with suppress(RuntimeError):
            self.loop.close()
        self.connection.close(True)

    async def _live(self) -> None:
        self._api_bell = QuietBell(self)
        await self._register()
        lives = [asyncio.create_task(self._tend_slot(number)) for number in range(self.slots)]
        others = [self._accept_events(), self._operate(), self._mishandle()]
        lives += [asyncio.create_task(each) for each in others]
        await asyncio.wait(
            [*lives, self.ledger.broken], timeout=END_S + CALM_END_S, return_when=asyncio.FIRST_EXCEPTION
        )
        failed = [each.exception() for each in lives if each.done()]
        for each in lives:
            each.cancel()
        await asyncio.gather(*lives, return_exceptions=True)
        for failure in failed:
            if failure is not None:
                raise failure

    async def _register(self) -> None:
        async def register(tx: Tx) -> None:
            for each in self.webhooks:
                await put_webhook(
                    tx,
                    WORKSPACE,
                    WebhookRecord(
                        id=each.id,
                        name=each.receiver.temper,
                        url=each.url,
                        event_filters=each.filters,
                        secret=SEAL.seal(SECRET.encode(), each.id),
                        created_at=tx.now,
                        updated_at=tx.now,
                    ),
                )

        self.commit(register, None)

    async def _tend_slot(self, number: int) -> None:
        """One worker after another, for as long as the world lasts."""
        for life in itertools.count():
            gone = asyncio.Event()
            process = Process(f"worker {number}.{life}", self._fate(gone))
            stop = asyncio.Event()
            bell = self._api_bell if number == 0 else QuietBell(self)
            bell = bell if life == 0 else QuietBell(self)
            if number == 0:
                self._api_bell = bell
            self.bells.append(bell)
            worker = Worker(
                WorldStore(self, bell),  # type: ignore[arg-type]
                Receivers(self),
                SEAL,
                self.clock,
                Silence(),
                self.chance.random,
            )
            self._workers.append((process, worker, stop))
            task = self.loop.start(process, worker.run(stop))
            task.add_done_callback(lambda _, gone=gone: gone.set(), context=Context())  # type: ignore[misc]
            restart = "restart" in self.mishaps and life < 4
            if restart:
                await self._wait_or(gone, self.chance.choice((5.0, 30.0, 700.0, 5000.0)))
                stop.set()
                self.disturb(20.0)
            await gone.wait()
            if not process.is_dead:
                task.result()
            process.bury()
            self.bells.remove(bell)
            pause_s = self.chance.choice((0.05, 1.0, 60.0))
            self.disturb(pause_s + 40.0)
            await asyncio.sleep(pause_s)

    async def _wait_or(self, gone: asyncio.Event, longest_s: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(longest_s):
                await gone.wait()

    def _fate(self, gone: asyncio.Event) -> Callable[[Process], None]:
        """After a number of steps the process dies, or freezes for a while."""
        kinds = [each for each in ("crash", "freeze") if each in self.mishaps]
        left = self.chance.choice((30, 100, 300, 1000)) if kinds and self._mishaps < MISHAPS_MOST else 0
        left = self.chance.randint(1, left) if left else 0

        def fate(process: Process) -> None:
            nonlocal left
            if left == 0 or self.loop.time() > END_S:
                return
            left -= 1
            if left > 0:
                return
            self._mishaps += 1
            if self.chance.choice(kinds) == "crash":
                process.is_dead = True
                self.disturb(100.0)
                gone.set()
            else:
                process.is_frozen = True
                pause_s = self.chance.choice((2.0, 20.0, 60.0))
                self.disturb(pause_s + 70.0)
                self.loop.call_later(pause_s, process.thaw, self.loop, context=Context())
            left = self.chance.randint(1, 1000) if self._mishaps < MISHAPS_MOST else 0

        return fate

    async def _accept_events(self) -> None:
        """Most at the beginning, so that their 24 hours end within the world's time."""
        chance = self.chance
        moments = [chance.uniform(0, 120) for _ in range(chance.randint(2, 8))]
        if chance.random() < 0.15:
            burst = chance.uniform(0, 120)
            moments += [burst + 0.001 * number for number in range(24)]
        moments += [chance.uniform(0, END_S) for _ in range(chance.randint(1, 3))]
        channels = [f"00000000-0000-7000-9000-{number:012d}" for number in range(chance.choice((1, 2, 5)))]
        version = 0
        for moment_s in sorted(moments):
            await asyncio.sleep(max(0.0, moment_s - self.loop.time()))
            version += 1
            kind, channel = chance.choice(KINDS), chance.choice(channels)
            data = ChannelEventData(version=version)

            async def accept(
                tx: Tx, kind: EventKind = kind, channel: str = channel, data: ChannelEventData = data
            ) -> None:
                await deskwire.desk.outbox.emit(tx, WORKSPACE, kind, channel, data)
                self.ledger.accepted(self._last_id, tx.now)

            self.commit(accept, self._api_bell)
            if "wavering" in self.mishaps:
                await self._waver(chance.choice(self.webhooks).id)

    async def _waver(self, id: str) -> None:
        """Switched off, and on again at once, while something is on its way to it."""
        for _ in range(2):
            await asyncio.sleep(self.chance.uniform(0.0, 0.005))
            if self.ledger.status(id) not in ("error", "deleted"):
                self.commit(lambda tx: self._toggle(tx, id), self._api_bell)

    async def _operate(self) -> None:
        """Somebody who switches on again what has stopped, and sometimes off what works."""
        chance = self.chance
        patience_s = chance.choice((20.0, 900.0, 2 * HOUR_S, 9 * HOUR_S))
        moments = [chance.uniform(0, END_S) for _ in range(3)] + [chance.uniform(0, 200) for _ in range(2)]
        for moment_s in sorted(
            [*moments, *(k * patience_s for k in range(1, min(13, int(END_S / patience_s))))]
        ):
            await asyncio.sleep(max(0.0, moment_s - self.loop.time()))
            webhook = chance.choice(self.webhooks)
            status = self.ledger.status(webhook.id)
            roll = chance.random()
            if (
                status == "error"
                or (status == "inactive" and roll < 0.8)
                or (status == "active" and roll < 0.1)
            ):
                self.commit(lambda tx, id=webhook.id: self._toggle(tx, id), self._api_bell)  # type: ignore[misc]
                webhook.receiver.is_healed = True
            elif roll > 0.97:
                self.commit(lambda tx, id=webhook.id: self._delete(tx, id), self._api_bell)  # type: ignore[misc]

    async def _toggle(self, tx: Tx, id: str) -> None:
        webhook = await lock_webhook(tx, WORKSPACE, id)
        assert webhook is not None
        webhook = toggled(webhook, tx.now)
        await put_webhook(tx, WORKSPACE, webhook)
        if webhook.status == "active":
            day_us = 24 * 3600 * 1_000_000
            await tx.run(RESUME, workspace_id=WORKSPACE, webhook_id=id, now=tx.now, horizon=tx.now - day_us)
            tx.ring()
        self.ledger.toggled(id, tx.now)

    async def _delete(self, tx: Tx, id: str) -> None:
        await tx.run(REMOVE, id=id)
        self.ledger.deleted(id)

    async def _mishandle(self) -> None:
        chance = self.chance
        moments = [chance.uniform(0, 300) for _ in range(3)] + [chance.uniform(0, END_S - HOUR_S)]
        for moment_s in sorted(moments):
            await asyncio.sleep(max(0.0, moment_s - self.loop.time()))
            if "outage" in self.mishaps:
                self.away_until_s = self.loop.time() + chance.choice((0.5, 10.0, 45.0, 200.0))
                self.disturb(self.away_until_s - self.loop.time() + 60.0)
            if "lost answer" in self.mishaps:
                self.lost_answers = chance.choice((0.0, 0.02, 0.1))
                self.disturb(END_S)
            if "jump" in self.mishaps:
                step_s = chance.choice((1.0, 20.0, 600.0, 2400.0)) * chance.choice((-1, 1))
                self._offset_us += int(step_s * 1_000_000)
                self.ledger.jumped()
                self.disturb(abs(step_s) + 100.0)
                for bell in self.bells:
                    bell.nudge(0.2)


@contextmanager
def watched(world: World) -> Iterator[None]:
    """The operations of deliveries tell the ledger what they did; ids are the world's."""
    worker, recorder = deskwire.delivery.worker, deskwire.delivery.recorder
    claim, release, redate, record = worker.claim, worker.release, worker.redate, recorder.record

    async def watched_claim(
        tx: Tx, holder: str, workspace_id: str, webhook_id: str, event_ids: Sequence[str]
    ) -> list[Claim]:
        claims = await claim(tx, holder, workspace_id, webhook_id, event_ids)
        world.ledger.claimed(claims, tx.now, PROCESS.get())
        return claims

    async def watched_release(
        tx: Tx, holder: str, workspace_id: str, webhook_id: str, event_ids: Sequence[str]
    ) -> None:
        await release(tx, holder, workspace_id, webhook_id, event_ids)
        world.ledger.released(webhook_id, event_ids, tx.now, PROCESS.get())

    async def watched_redate(tx: Tx) -> None:
        await redate(tx)
        world.ledger.redated(tx.now)

    async def watched_record(
        tx: Tx, workspace_id: str, webhook_id: str, results: Sequence[Result]
    ) -> Recorded:
        recorded = await record(tx, workspace_id, webhook_id, results)
        world.ledger.recorded(webhook_id, results, recorded.verdicts, tx.now, PROCESS.get())
        return recorded

    replaced: list[tuple[object, str, object]] = [
        (worker, "claim", watched_claim),
        (worker, "release", watched_release),
        (worker, "redate", watched_redate),
        (recorder, "record", watched_record),
        *(
            (module, "new_id", world.new_id)
            for module in (worker, deskwire.desk.outbox, deskwire.desk.notices)
        ),
    ]
    kept = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    for module, name, ours in replaced:
        setattr(module, name, ours)
    try:
        yield
    finally:
        for module, name, theirs in kept:
            setattr(module, name, theirs)
