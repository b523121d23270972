"""What a worker tells of its deliveries, to whoever counts them and writes them down."""

from typing import Protocol

from deskwire.desk.delivering.claiming import Claim
from deskwire.desk.delivering.preparing import Ready
from deskwire.desk.delivering.recording import Verdict
from deskwire.model.deliveries import Outcome
from deskwire.model.webhooks import WebhookRecord


class Observer(Protocol):
    def attempted(self, claim: Claim, ready: Ready, attempt: int, outcome: Outcome) -> None: ...

    def decided(self, claim: Claim, verdict: Verdict, reason: str | None) -> None: ...

    def stopped(self, workspace_id: str, webhook: WebhookRecord) -> None:
        """A webhook failed so often that nothing more is sent to it."""
        ...
