"""The job of `deskwire worker`: delivers on an open house until told to stop, and shows its figures."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass

from deskwire.api import server, site
from deskwire.api.metrics import Metrics
from deskwire.wiring import logs
from deskwire.wiring.access_log import AccessLog
from deskwire.wiring.delivering import open_deliveries
from deskwire.wiring.listening import listen
from deskwire.wiring.observing import RequestObserver
from deskwire.wiring.opening import open_house
from deskwire.wiring.serving import metrics_of
from deskwire.wiring.settings import Address, Settings
from deskwire.wiring.worker import Place


@dataclass(frozen=True)
class Working:
    settings: Settings

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
            async with open_house(self.settings) as house:
                metrics = metrics_of(house.store, Metrics(place.boards, place.slot))
                pages = site.metrics_pages(metrics.render, RequestObserver(metrics, access_log))
                async with (
                    open_deliveries(self.settings, house, metrics, access_log) as deliveries,
                    asyncio.TaskGroup() as tasks,
                ):
                    figures = tasks.create_task(
                        server.serve(pages, self._listen_for_figures(), stop=stop, ready=lambda: None)
                    )
                    ready()
                    await deliveries.run(stop)
                    figures.cancel()
        finally:
            access_log.close()

    def _listen_for_figures(self) -> list[socket.socket]:
        """None unless they have a port of their own."""
        address = self.settings.metrics
        return listen(address.host, address.port) if isinstance(address, Address) else []
