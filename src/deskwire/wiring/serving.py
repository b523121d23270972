"""The job of a process that serves: builds the API on an open house and answers until told to stop."""

import asyncio
import gc
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

import msgspec

from deskwire import __version__
from deskwire.api import openapi, reference, server, site
from deskwire.api.app import Api
from deskwire.api.authentication import Authentication
from deskwire.api.downloads import Downloads
from deskwire.api.endpoint import Receivers
from deskwire.api.metrics import Metrics
from deskwire.api.rate_limit import RateLimiter
from deskwire.api.routes import PREFIX
from deskwire.api.table import ENDPOINTS
from deskwire.delivery.resolving import Names
from deskwire.model import limits
from deskwire.store.clock import system_clock
from deskwire.store.postgres import PostgresStore
from deskwire.store.sqlite import SqliteStore
from deskwire.wiring import logs
from deskwire.wiring.access_log import AccessLog
from deskwire.wiring.delivering import Deliveries, open_deliveries
from deskwire.wiring.keys import derived, secret_key, webhook_seal
from deskwire.wiring.listening import listen, url_of
from deskwire.wiring.observing import RequestObserver
from deskwire.wiring.opening import OpenHouse, open_house
from deskwire.wiring.receivers import PublicReceivers
from deskwire.wiring.settings import Address, Settings
from deskwire.wiring.worker import Place

# A long-lived server makes few cycles; looking for them seldom keeps the slowest answers quick.
GARBAGE_THRESHOLDS = (50_000, 20, 50)


@dataclass(frozen=True)
class Serving:
    """Pickled and called in each worker process."""

    settings: Settings
    host: str
    delivers: bool

    async def __call__(
        self,
        sockets: list[socket.socket],
        stop: asyncio.Event,
        ready: Callable[[], None],
        place: Place,
    ) -> None:
        logs.configure(self.settings.log)
        access_log = AccessLog(self.settings.log)
        try:
            async with (
                open_house(self.settings) as house,
                Names(limit_s=limits.REGISTRATION_LOOKUP_S) as names,
                AsyncExitStack() as edges,
            ):
                metrics = metrics_of(house.store, Metrics(place.boards, place.slot))
                observer = RequestObserver(metrics, access_log)
                receivers = PublicReceivers(self.settings.webhook_allow, names.resolve)
                deliveries = None
                if self.delivers:
                    opening = open_deliveries(self.settings, house, metrics, access_log)
                    deliveries = await edges.enter_async_context(opening)
                own_url = url_of(self.host, sockets)
                app = self._site(house, observer, metrics, receivers, own_url, deliveries)
                gc.collect()
                gc.freeze()
                gc.set_threshold(*GARBAGE_THRESHOLDS)
                figures_sockets = self._listen_for_figures(place)
                async with asyncio.TaskGroup() as tasks:
                    refreshing = tasks.create_task(refresh(metrics))
                    if deliveries is not None:
                        tasks.create_task(deliveries.run(stop))
                    pages = site.metrics_pages(metrics.render, observer)
                    figures = tasks.create_task(
                        server.serve(pages, figures_sockets, stop=stop, ready=lambda: None)
                    )
                    await server.serve(app, sockets, stop=stop, ready=ready, note_refused=observer.refused)
                    refreshing.cancel()
                    figures.cancel()
        finally:
            access_log.close()

    def _site(
        self,
        house: OpenHouse,
        observer: RequestObserver,
        metrics: Metrics,
        receivers: Receivers,
        own_url: str,
        deliveries: Deliveries | None,
    ) -> site.Site:
        base_url = self.settings.public_url or own_url
        api_url = base_url + PREFIX
        secret = secret_key(self.settings)
        downloads = Downloads(house.store, house.files, system_clock, derived(secret, "downloads"), base_url)
        api = Api(
            ENDPOINTS,
            house.store,
            system_clock,
            Authentication(house.store, system_clock),
            derived(secret, "cursors"),
            downloads,
            observer,
            webhook_seal(self.settings),
            receivers,
            self.settings.max_body,
            limiter_of(self.settings, house),
        )
        return site.Site(
            api,
            site.pages(
                house.store,
                downloads,
                observer,
                openapi=msgspec.json.encode(openapi.document(ENDPOINTS, api_url, __version__)),
                reference=reference.page(ENDPOINTS, api_url, __version__),
                metrics=metrics.render if self.settings.metrics == "on" else None,
                delivers=None if deliveries is None else deliveries.worker.is_working,
            ),
        )

    def _listen_for_figures(self, place: Place) -> list[socket.socket]:
        """None unless they have a port of their own, where any one worker knows those of all."""
        address = self.settings.metrics
        if not isinstance(address, Address) or place.slot != 0:
            return []
        return listen(address.host, address.port)


def limiter_of(settings: Settings, house: OpenHouse) -> RateLimiter | None:
    if settings.rate_limit is None:
        return None
    return RateLimiter(house.store, system_clock, settings.rate_limit)


def metrics_of(store: SqliteStore | PostgresStore, metrics: Metrics) -> Metrics:
    accepted = metrics.counter("deskwire_events_accepted", "Events accepted, for webhooks or without any.")
    store.tally.add = accepted.add
    match store:
        case SqliteStore():
            metrics.gauge(
                "deskwire_commit_groups", "Groups of writes committed.", lambda: store.figures.groups
            )
            metrics.gauge(
                "deskwire_committed_operations",
                "Writes committed in groups.",
                lambda: store.figures.operations,
            )
            metrics.gauge("deskwire_waiting_operations", "Writes waiting for a group.", lambda: store.waiting)
        case PostgresStore():
            metrics.gauge("deskwire_pool_connections", "Open connections to PostgreSQL.", store.pool.get_size)
            metrics.gauge("deskwire_pool_idle_connections", "Those that are idle.", store.pool.get_idle_size)
    return metrics


async def refresh(metrics: Metrics) -> None:
    """With several workers each keeps its own figures current for the one that is asked."""
    while True:
        metrics.refresh()
        await asyncio.sleep(limits.METRICS_REFRESH_S)
