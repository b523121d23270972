"""Where webhooks may lead, as is checked when one is registered: its URL, and the addresses of its name."""

from deskwire.delivery.resolving import Lookup, ResolutionFailed
from deskwire.model.addresses import refusal as address_refusal
from deskwire.model.webhook_urls import Allow, UrlRefused, parse_target


class PublicReceivers:
    """The lookup is to be bounded in time. What is found is looked at again at each sending."""

    def __init__(self, allow: Allow, lookup: Lookup) -> None:
        self._allow = allow
        self._lookup = lookup

    async def refusal(self, url: str) -> str | None:
        try:
            target = parse_target(url, self._allow)
        except UrlRefused as error:
            return error.problem
        if target.is_allowed:
            return None
        try:
            addresses = await self._lookup(target.host)
        except ResolutionFailed:
            # A name may be registered before it is set up; sending to it fails.
            return None
        reasons = filter(None, map(address_refusal, addresses))
        return next((f"must not lead to {target.host}, which has {reason}" for reason in reasons), None)
