"""From a name to its addresses, asked of the name servers anew and within a time of its own."""

import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address
from types import TracebackType
from typing import Self

import pycares
from aiodns import DNSResolver
from aiodns.error import ARES_ENODATA, ARES_ENOTFOUND, ARES_ETIMEOUT, DNSError

from deskwire.delivery.limiting import within
from deskwire.model.addresses import Address
from deskwire.model.limits import RESOLUTION_S, RESOLUTION_TRIES, RESOLUTION_TRY_S
from deskwire.model.webhook_urls import ip_address_of

Lookup = Callable[[str], Awaitable[Sequence[Address]]]

SAID = {
    ARES_ENODATA: "it has no address",
    ARES_ENOTFOUND: "there is no such name",
    ARES_ETIMEOUT: "the name servers do not answer",
}


async def addresses_of(host: str, lookup: Lookup) -> Sequence[Address]:
    """An address leads to itself and is not looked up."""
    literal = ip_address_of(host)
    return await lookup(host) if literal is None else [literal]


class ResolutionFailed(Exception):
    """Why a name has no addresses."""


class Names:
    """Looks names up, each by itself: one that hangs delays no other. To be made while a loop runs."""

    def __init__(self, nameservers: Sequence[str] = (), limit_s: float = RESOLUTION_S) -> None:
        self._limit_s = limit_s
        # Names of webhooks are complete: what the machine appends to short names leads into its own network.
        self._resolver = DNSResolver(
            nameservers or None,
            timeout=RESOLUTION_TRY_S,
            tries=RESOLUTION_TRIES,
            flags=pycares.ARES_FLAG_NOSEARCH | pycares.ARES_FLAG_EDNS,
        )

    async def resolve(self, host: str) -> list[Address]:
        """All addresses of both families, from /etc/hosts or the name servers; raises ResolutionFailed."""
        try:
            asked = self._resolver.getaddrinfo(host, family=socket.AF_UNSPEC, type=socket.SOCK_STREAM)
            found = await within(self._limit_s, asked)
        except TimeoutError:
            raise ResolutionFailed(f"no answer within {self._limit_s:g} s") from None
        except DNSError as error:
            code, text = error.args
            raise ResolutionFailed(SAID.get(code, str(text))) from None
        addresses = [ip_address(node.addr[0].decode()) for node in found.nodes]
        if not addresses:
            raise ResolutionFailed(SAID[ARES_ENODATA])
        return list(dict.fromkeys(addresses))

    async def close(self) -> None:
        await self._resolver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
