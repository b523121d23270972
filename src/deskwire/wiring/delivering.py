"""The delivery worker and what it is built of: names, sender, seal, and what it tells."""

import asyncio
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog

from deskwire.api.metrics import Metrics
from deskwire.cli.house import SettingsError
from deskwire.delivery.mailing import Mailing, MailServer, NoSender
from deskwire.delivery.resolving import Names
from deskwire.delivery.sending import Sender
from deskwire.delivery.trimming import Trimming
from deskwire.delivery.worker import Worker
from deskwire.desk.delivering.claiming import Claim
from deskwire.desk.delivering.preparing import Ready
from deskwire.desk.delivering.recording import Verdict
from deskwire.model.deliveries import Delivered, Outcome
from deskwire.model.limits import OPEN_FILES
from deskwire.model.webhooks import WebhookRecord
from deskwire.store.clock import system_clock
from deskwire.wiring.access_log import AccessLog
from deskwire.wiring.keys import webhook_seal
from deskwire.wiring.opening import OpenHouse
from deskwire.wiring.redaction import redact
from deskwire.wiring.settings import Settings

LOGGER = "deskwire.delivery"

log = structlog.get_logger(LOGGER)


@dataclass(frozen=True)
class Deliveries:
    """All that a delivering process does."""

    worker: Worker
    mailing: Mailing
    trimming: Trimming

    async def run(self, stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.worker.run(stop))
            tasks.create_task(self.mailing.run(stop))
            tasks.create_task(self.trimming.run(stop))


@asynccontextmanager
async def open_deliveries(
    settings: Settings, house: OpenHouse, metrics: Metrics, access_log: AccessLog
) -> AsyncIterator[Deliveries]:
    allow_connections()
    seal = webhook_seal(settings)
    async with Names() as names, Sender(names.resolve, allow=settings.webhook_allow) as sender:
        worker = Worker(house.store, sender, seal, system_clock, DeliveryObserver(metrics, access_log))
        metrics.gauge(
            "deskwire_deliveries_claimed",
            "Deliveries that this worker has taken on.",
            lambda: worker.lanes.claimed,
        )
        metrics.gauge(
            "deskwire_delivery_lanes", "Webhooks with a delivery under way.", lambda: worker.lanes.in_use
        )
        metrics.gauge(
            "deskwire_deliveries_oldest_due_seconds",
            "For how long the oldest due delivery has been waiting.",
            lambda: worker.oldest_due_s,
            is_shared=True,
        )
        yield Deliveries(worker, Mailing(house.store, mail_server(settings)), Trimming(house.store))


def mail_server(settings: Settings) -> MailServer | None:
    try:
        return None if settings.smtp_url is None else MailServer(settings.smtp_url)
    except NoSender as error:
        raise SettingsError(f"DESKWIRE_SMTP_URL cannot be used: {error}") from error


def allow_connections() -> None:
    """As many open files as the machine lets us have: each delivery under way holds one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class DeliveryObserver:
    """Counts deliveries, and writes a line for each attempt and for what is not delivered in the end."""

    def __init__(self, metrics: Metrics, access_log: AccessLog) -> None:
        self._access_log = access_log
        self._attempts = metrics.counter("deskwire_delivery_attempts", "Requests sent to webhooks.")
        self._failed_attempts = metrics.counter(
            "deskwire_delivery_attempts_failed", "Requests to webhooks that failed."
        )
        self._stopped = metrics.counter("deskwire_webhooks_stopped", "Webhooks that were put into error.")
        self._verdicts = {
            Verdict.DELIVERED: metrics.counter("deskwire_deliveries_delivered", "Deliveries that arrived."),
            Verdict.REQUEUED: metrics.counter(
                "deskwire_deliveries_failed", "Cycles that failed and are to be tried again."
            ),
            Verdict.HELD: metrics.counter(
                "deskwire_deliveries_held", "Deliveries put aside, as their webhook is not active."
            ),
            Verdict.DISCARDED: metrics.counter(
                "deskwire_deliveries_discarded", "Deliveries given up after 24 hours or with their webhook."
            ),
            Verdict.LATE: metrics.counter(
                "deskwire_deliveries_late", "Results refused, as another worker had taken over."
            ),
        }

    def attempted(self, claim: Claim, ready: Ready, attempt: int, outcome: Outcome) -> None:
        self._attempts.add()
        values = {
            "request_id": ready.cause,
            "workspace_id": claim.workspace_id,
            "webhook_id": claim.webhook_id,
            "event_id": claim.event_id,
            "kind": ready.kind,
            "cycle": claim.cycles + 1,
            "attempt": attempt,
            "http_status": getattr(outcome, "http_status", None),
            "duration_ms": outcome.duration_ms,
        }
        if not isinstance(outcome, Delivered):
            self._failed_attempts.add()
            values["error"] = redact(outcome.error)
        self._access_log.note_event("delivery attempt", LOGGER, values)

    def decided(self, claim: Claim, verdict: Verdict, reason: str | None) -> None:
        counter = self._verdicts.get(verdict)
        if counter is not None:
            counter.add()
        if verdict in (Verdict.DISCARDED, Verdict.LATE):
            log.warning(
                f"delivery {verdict.value}",
                workspace_id=claim.workspace_id,
                webhook_id=claim.webhook_id,
                event_id=claim.event_id,
                reason=reason,
            )

    def stopped(self, workspace_id: str, webhook: WebhookRecord) -> None:
        self._stopped.add()
        log.warning(
            "webhook stopped",
            workspace_id=workspace_id,
            webhook_id=webhook.id,
            failures=webhook.failure_count,
            error=webhook.error_message,
        )
