"""One seed's world: webhooks with their receivers, workers on one database, an operator, and mishaps."""

import asyncio
import itertools
import logging
import random
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import Context
from functools import cache
from typing import TypeVar

import apsw

import deskwire.desk.outbox
from deskwire.delivery.worker import Worker
from deskwire.desk.sealing import Seal
from deskwire.desk.webhook_rows import put_webhook
from deskwire.desk.webhooks import delete_webhook, toggle_webhook
from deskwire.model.events import ChannelEventData, EventKind
from deskwire.model.moments import Moment
from deskwire.model.webhooks import WebhookRecord
from deskwire.store import sqlite_figures
from deskwire.store.migration_script import script
from deskwire.store.sqlite_search import Later
from deskwire.store.sqlite_transaction import perform
from deskwire.store.transaction import Tx
from tests.simulation.laws import WORKSPACE, Ledger
from tests.simulation.receivers import TEMPERS, Receiver
from tests.simulation.surroundings import Complaints, QuietBell, Receivers, Silence, WorldStore
from tests.simulation.virtual_loop import Process, VirtualLoop
from tests.simulation.watching import watched

T = TypeVar("T")

HOUR_S = 3600.0
END_S = 26 * HOUR_S
# After the last mishap everything has time to become as it should be.
CALM_END_S = 15 * 60.0
MISHAPS_MOST = 12
NEW_YEAR_US = 1_767_225_600_000_000
SECRET = "5a" * 32
SEAL = Seal(b"\x07" * 32)
KINDS: tuple[EventKind, ...] = ("channel.assigned", "channel.closed", "channel.reopened")


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
            with watched(self.ledger, self.new_id):
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
        for version, moment_s in enumerate(sorted(moments), 1):
            await asyncio.sleep(max(0.0, moment_s - self.loop.time()))
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
            elif roll > 0.97 and status != "deleted":
                self.commit(lambda tx, id=webhook.id: self._delete(tx, id), self._api_bell)  # type: ignore[misc]

    async def _toggle(self, tx: Tx, id: str) -> None:
        await toggle_webhook(tx, WORKSPACE, id)
        self.ledger.toggled(id, tx.now)

    async def _delete(self, tx: Tx, id: str) -> None:
        await delete_webhook(tx, WORKSPACE, id)
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
