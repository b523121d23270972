"""The delivery worker: what is due is claimed, prepared, sent and recorded, until it is told to stop."""

import asyncio
import logging
import math
import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby

from deskwire.delivery.database import Database
from deskwire.delivery.lanes import Lane, Lanes
from deskwire.delivery.observing import Observer
from deskwire.delivery.preparer import Preparer
from deskwire.delivery.recorder import Recorder
from deskwire.delivery.signing import Post, send_signed
from deskwire.desk.delivering.claiming import (
    Claim,
    Due,
    claim,
    find_due,
    oldest_due_us,
    redate,
    release,
    renew,
)
from deskwire.desk.delivering.preparing import Lost, Prepared, Ready, Stopped, Useless
from deskwire.desk.delivering.recording import (
    Attempt,
    Ended,
    GivenUp,
    PutAside,
    Result,
    TriedInVain,
    Verdict,
)
from deskwire.desk.identity import new_id
from deskwire.desk.sealing import Seal
from deskwire.model.deliveries import Delivered, Outcome, attempt_limit_s, wait_within_cycle_s
from deskwire.model.limits import (
    AILING_LOOKED_AT,
    ATTEMPT_S,
    CLAIM_START_S,
    CLOCK_STEP_S,
    DELIVERIES_LOOKED_AT,
    DELIVERY_BACK_OFF_MAX_S,
    DELIVERY_POLL_S,
    DELIVERY_STALLED_S,
    RENEWED_AT_ONCE,
    RENEWED_EVERY_S,
    WEBHOOKS_CLAIMED_FOR_AT_ONCE,
)
from deskwire.store.clock import Clock
from deskwire.store.transaction import Store, Tx

SECOND_US = 1_000_000
# Should it take longer, a lease that runs out does the same.
GIVE_BACK_S = 2.0
OLDEST_DUE_EVERY_S = 5.0

# A webhook, and events that are due for it.
Wanted = tuple[str, list[str]]

logger = logging.getLogger("deskwire.delivery")


class Worker:
    def __init__(
        self,
        store: Store,
        post: Post,
        seal: Seal,
        clock: Clock,
        observer: Observer,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.lanes = Lanes()
        self._database = Database(store)
        self._post = post
        self._seal = seal
        self._clock = clock
        self._observer = observer
        self._chance = chance
        self._holder = new_id()
        self._preparer = Preparer(self._database)
        self._recorder = Recorder(self._database, observer)
        self._deliveries: set[asyncio.Task[None]] = set()
        self._claimed_at: dict[tuple[str, str], float] = {}
        self._being_recorded: set[tuple[str, str]] = set()
        # Webhooks for which nothing could be claimed, until all others have been looked at.
        self._passed_over: set[str] = set()
        self._stopping = asyncio.Event()
        self._looked_at = self._measured_at = self._renewed_at = -math.inf
        self.oldest_due_s = 0.0

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set; then what travels may arrive, and the rest is left to others."""
        self._looked_at = asyncio.get_running_loop().time()
        claiming = asyncio.create_task(self._claim_until_stopped())
        try:
            await stop.wait()
        finally:
            self._stopping.set()
            self._database.bell.ring()
            # A claim under way is better known than left to its lease.
            await asyncio.wait([claiming], timeout=GIVE_BACK_S)
            claiming.cancel()
            await asyncio.wait([claiming])
            await self._finish()

    def is_working(self) -> bool:
        """Whether it has looked for work lately."""
        return asyncio.get_running_loop().time() - self._looked_at < DELIVERY_STALLED_S

    async def _finish(self) -> None:
        """Attempts under way end within their own time; waits within cycles are cut short."""
        for claims in self.lanes.empty():
            await self._give_back(claims)
        if self._deliveries:
            await asyncio.wait(self._deliveries, timeout=ATTEMPT_S)
        unfinished = list(self._deliveries)
        for task in unfinished:
            task.cancel()
        if unfinished:
            await asyncio.wait(unfinished)
        await self._preparer.finish(0)
        await self._recorder.finish(GIVE_BACK_S)

    async def _claim_until_stopped(self) -> None:
        # What an earlier clock dated is looked at first.
        drift_s = math.inf
        while not self._stopping.is_set():
            try:
                now_s = self._drift_s()
                if now_s < drift_s - CLOCK_STEP_S:
                    was_seen = drift_s < math.inf
                    await self._database.write(partial(redate, was_seen=was_seen))
                drift_s = now_s
                await self._renew_waiting()
                if not await self._claim_some():
                    await self._database.bell.wait(DELIVERY_POLL_S)
            except Exception:
                logger.exception("claiming deliveries failed; it is tried again")
                await asyncio.sleep(DELIVERY_BACK_OFF_MAX_S)

    def _drift_s(self) -> float:
        """How far the clock is ahead of one that nobody can set."""
        return self._clock() / SECOND_US - asyncio.get_running_loop().time()

    async def _claim_some(self) -> bool:
        """Whether there may be more."""
        now = asyncio.get_running_loop().time()
        if now - self._measured_at > OLDEST_DUE_EVERY_S:
            self.oldest_due_s = await self._database.read(oldest_due_us) / SECOND_US
            self._measured_at = now
        self._looked_at = now
        # Those that fail may have much that is due: what is due for the others is found before it.
        ailing = self.lanes.ailing
        is_more = await self._claim_among([*self.lanes.full, *ailing], DELIVERIES_LOOKED_AT)
        if not ailing:
            return is_more
        return await self._claim_among(self.lanes.full, AILING_LOOKED_AT) or is_more

    async def _claim_among(self, busy: list[str], limit: int) -> bool:
        """Claims what is due but for the webhooks that are busy; whether there may be more."""
        room = min(self.lanes.room, limit)
        if room <= 0:
            return False
        busy = [*busy, *self._passed_over]
        due = await self._database.read(lambda tx: find_due(tx, busy, room))
        free = [each for each in due if not self.lanes.holds(each.webhook_id, each.event_id)]
        claiming = [self._claim(workspace_id, each) for workspace_id, each in self._chosen(free)]
        claimed = set[str]().union(*await asyncio.gather(*claiming))
        if len(due) < room:
            self._passed_over.clear()
            return False
        # What others have, or what waits for them, would be found again before anything else.
        self._passed_over |= {each.webhook_id for each in due}.difference(claimed)
        return True

    def _chosen(self, due: list[Due]) -> Iterator[tuple[str, list[Wanted]]]:
        """What to claim in a transaction each: some webhooks of a workspace, those that fail last."""

        def place(each: Due) -> tuple[int, str, str]:
            return self.lanes.doubt(each.webhook_id), each.workspace_id, each.webhook_id

        for (_, workspace_id), rows in groupby(sorted(due, key=place), key=lambda each: place(each)[:2]):
            wanted = []
            for webhook_id, its_rows in groupby(rows, key=lambda each: each.webhook_id):
                # Older ones first: of a channel, one whose lease ran out comes before those that waited.
                ids = sorted(row.event_id for row in its_rows)[: max(0, self.lanes.room_of(webhook_id))]
                if ids:
                    wanted.append((webhook_id, ids))
            for start in range(0, len(wanted), WEBHOOKS_CLAIMED_FOR_AT_ONCE):
                yield workspace_id, wanted[start : start + WEBHOOKS_CLAIMED_FOR_AT_ONCE]

    async def _claim(self, workspace_id: str, wanted: list[Wanted]) -> set[str]:
        """The webhooks for which something was claimed."""

        async def claim_all(tx: Tx) -> dict[str, list[Claim]]:
            return {id: await claim(tx, self._holder, workspace_id, id, events) for id, events in wanted}

        claimed = await self._database.write(claim_all)
        now = asyncio.get_running_loop().time()
        for webhook_id, claims in claimed.items():
            for each in claims:
                self._claimed_at[each.delivery] = now
            if claims:
                self._start(self.lanes.add(webhook_id, claims))
        return {webhook_id for webhook_id, claims in claimed.items() if claims}

    def _start(self, lane: Lane) -> None:
        if self._stopping.is_set():
            return
        for each in self.lanes.start(lane):
            task = asyncio.create_task(self._deliver(each))
            self._deliveries.add(task)
            task.add_done_callback(self._deliveries.discard)

    async def _deliver(self, claim: Claim) -> None:
        try:
            await self._run_cycle(claim)
        except asyncio.CancelledError:
            # What came of it is written down even though nobody waits for that any more.
            if claim.delivery not in self._being_recorded:
                await self._give_back([claim])
            raise
        except OSError as error:
            logger.warning("this machine cannot connect to anything just now: %s", error)
            await self._is_stopped_within(1)
            await self._give_back([claim])
        except Exception:
            # Its lease runs out, and it is due again.
            logger.exception("delivery of event %s to webhook %s failed", claim.event_id, claim.webhook_id)
        finally:
            self._claimed_at.pop(claim.delivery)
            self._being_recorded.discard(claim.delivery)
            self._start(self.lanes.finish(claim))
            self._database.bell.ring()

    def _is_in_time(self, claim: Claim) -> bool:
        since = self._claimed_at[claim.delivery]
        return asyncio.get_running_loop().time() - since < CLAIM_START_S

    async def _renew(self, claims: list[Claim]) -> list[Claim]:
        now = asyncio.get_running_loop().time()
        renewed = await self._database.write(lambda tx: renew(tx, self._holder, claims))
        for each in renewed:
            # It may have set out and ended meanwhile.
            if each.delivery in self._claimed_at:
                self._claimed_at[each.delivery] = now
        return renewed

    async def _renew_waiting(self) -> None:
        """What a slow receiver keeps waiting stays here: elsewhere, what waits behind it could pass it."""
        now = asyncio.get_running_loop().time()
        if now - self._renewed_at < RENEWED_EVERY_S:
            return
        self._renewed_at = now
        claims = [each for each in self.lanes.waiting if not self._is_in_time(each)]
        for start in range(0, len(claims), RENEWED_AT_ONCE):
            await self._renew(claims[start : start + RENEWED_AT_ONCE])

    async def _run_cycle(self, claim: Claim) -> None:
        loop = asyncio.get_running_loop()
        lane = self.lanes.lane_of(claim)
        began_at = loop.time()
        attempts = 0
        while True:
            match await self._preparer.prepare(claim):
                case Ready() as ready:
                    began_at = began_at if attempts else loop.time()
                case other:
                    await self._set_aside(claim, other)
                    return
            limit_s = attempt_limit_s(loop.time() - began_at)
            # What passed while this process stood still is not the receiver's.
            if limit_s <= 0:
                await self._give_back([claim])
                return
            if not attempts and not self._is_in_time(claim):
                # Given back, it would be passed by what waits for it.
                if await self._renew([claim]):
                    continue
                self._observer.decided(claim, Verdict.LATE, None)
                return
            attempts += 1
            outcome = await self._attempt(claim, ready, limit_s)
            lane.learn(outcome)
            self._observer.attempted(claim, ready, attempts, outcome)
            attempt = Attempt(ready.kind, self._clock(), outcome)
            wait_s = self._wait_s(attempts, outcome, loop.time() - began_at)
            if wait_s is None:
                if isinstance(outcome, Delivered):
                    # The receiver is free for the next one; writing this one down takes as long again.
                    lane.rest(claim)
                    self._start(lane)
                await self._record(Ended(claim, attempt, self._chance()))
                return
            if await self._record(TriedInVain(claim, attempt)) is Verdict.LATE:
                return
            claim = claim._replace(fence=claim.fence + 1)
            lane.rest(claim)
            self._start(lane)
            if await self._is_stopped_within(wait_s):
                await self._give_back([claim])
                return
            lane.resume(claim)

    @staticmethod
    def _wait_s(attempts: int, outcome: Outcome, elapsed_s: float) -> float | None:
        """Before the cycle's next attempt; None when the cycle is over."""
        if isinstance(outcome, Delivered):
            return None
        return wait_within_cycle_s(attempts, outcome, elapsed_s)

    async def _is_stopped_within(self, wait_s: float) -> bool:
        try:
            async with asyncio.timeout(wait_s):
                return await self._stopping.wait()
        except TimeoutError:
            return False

    async def _attempt(self, claim: Claim, ready: Ready, limit_s: float) -> Outcome:
        return await send_signed(
            self._post,
            self._seal,
            webhook_id=claim.webhook_id,
            url=ready.url,
            sealed_secret=ready.secret,
            body=ready.body,
            now=self._clock(),
            limit_s=limit_s,
        )

    async def _set_aside(self, claim: Claim, prepared: Prepared) -> None:
        match prepared:
            case Stopped():
                await self._record(PutAside(claim))
            case Useless(reason):
                await self._record(GivenUp(claim), reason)
            case Lost():
                self._observer.decided(claim, Verdict.LATE, None)

    async def _record(self, result: Result, reason: str | None = None) -> Verdict:
        claim = result.claim
        self._being_recorded.add(claim.delivery)
        verdict = await self._recorder.record(result)
        self._being_recorded.discard(claim.delivery)
        self._observer.decided(claim, verdict, reason)
        return verdict

    async def _give_back(self, claims: list[Claim]) -> None:
        """To whoever claims them next; should that fail, their lease runs out before long."""
        first = claims[0]
        ids = [each.event_id for each in claims]
        try:
            async with asyncio.timeout(GIVE_BACK_S):
                await self._database.write(
                    lambda tx: release(tx, self._holder, first.workspace_id, first.webhook_id, ids)
                )
        except TimeoutError:
            logger.warning("%d claimed deliveries could not be given back; their leases run out", len(ids))
