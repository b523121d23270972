"""The way to receivers for the command line: as deliveries go, under the same rules, but past the queue."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from deskwire.delivery.examining import examine
from deskwire.delivery.resolving import Lookup, Names
from deskwire.delivery.sending import Sender
from deskwire.delivery.signing import send_signed
from deskwire.desk.sealing import Seal
from deskwire.model.deliveries import Outcome
from deskwire.model.examinations import Examination
from deskwire.model.limits import ATTEMPT_S
from deskwire.model.webhook_urls import Allow
from deskwire.model.webhooks import WebhookRecord
from deskwire.store.clock import system_clock
from deskwire.wiring.keys import webhook_seal
from deskwire.wiring.settings import load_given


@dataclass(frozen=True)
class Messenger:
    lookup: Lookup
    sender: Sender
    seal: Seal
    allow: Allow

    async def send(self, webhook: WebhookRecord, body: bytes) -> Outcome:
        return await send_signed(
            self.sender,
            self.seal,
            webhook_id=webhook.id,
            url=webhook.url,
            sealed_secret=webhook.secret,
            body=body,
            now=system_clock(),
            limit_s=ATTEMPT_S,
        )

    async def examine(self, url: str) -> Examination:
        return await examine(url, self.lookup, allow=self.allow)


@asynccontextmanager
async def open_messenger(options: Mapping[str, str]) -> AsyncIterator[Messenger]:
    said = load_given(options)
    async with Names() as names, Sender(names.resolve, allow=said.webhook_allow) as sender:
        yield Messenger(names.resolve, sender, webhook_seal(said), said.webhook_allow)
