"""What stands between here and the URL of a webhook, as far as one comes."""

from dataclasses import dataclass, field
from datetime import datetime

from deskwire.model.addresses import Address
from deskwire.model.webhook_urls import Target


@dataclass(frozen=True, slots=True)
class Certificate:
    """What the receiver shows."""

    subject: str
    issuer: str
    names: tuple[str, ...]
    valid_from: datetime
    valid_until: datetime


@dataclass(frozen=True, slots=True)
class Examination:
    """How far one comes; `problem` is a sentence, or None where a delivery could be sent."""

    target: Target | None = None
    addresses: tuple[Address, ...] = ()
    # Why nothing is sent to those of the addresses that are refused.
    refused: dict[Address, str] = field(default_factory=dict)
    # The one that took the connection.
    connected_to: Address | None = None
    tls_version: str | None = None
    certificate: Certificate | None = None
    problem: str | None = None
