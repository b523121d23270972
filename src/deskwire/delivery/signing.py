"""Sending the body of an event as its webhook expects it: signed with the webhook's secret."""

from collections.abc import Mapping
from typing import Protocol

from deskwire import __version__
from deskwire.desk.sealing import Seal, WrongSeal
from deskwire.model.deliveries import Barred, Outcome
from deskwire.model.moments import Moment
from deskwire.model.signatures import SIGNATURE_HEADER, TIMESTAMP_HEADER, sign

SECOND_US = 1_000_000
USER_AGENT = f"Deskwire/{__version__}"


class Post(Protocol):
    async def send(self, url: str, headers: Mapping[str, str], body: bytes, limit_s: float) -> Outcome: ...


async def send_signed(
    post: Post,
    seal: Seal,
    *,
    webhook_id: str,
    url: str,
    sealed_secret: bytes,
    body: bytes,
    now: Moment,
    limit_s: float,
) -> Outcome:
    try:
        secret = seal.open(sealed_secret, webhook_id).decode()
    except WrongSeal as error:
        return Barred(0, f"it cannot be signed: {error}")
    headers = {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        SIGNATURE_HEADER: sign(secret, body),
        TIMESTAMP_HEADER: str(now // SECOND_US),
    }
    return await post.send(url, headers, body, limit_s)
