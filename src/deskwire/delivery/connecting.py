"""Connections that lead only to addresses that were checked, and reused where they can be."""

import socket
import ssl
from functools import partial
from ipaddress import ip_address
from typing import cast

from aiohttp import AddrInfoType, ClientRequest, ClientTimeout, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

from deskwire.delivery.answers import BoundedConnection
from deskwire.delivery.exchange import Stage, current
from deskwire.delivery.resolving import Lookup
from deskwire.model.addresses import Address, refusal
from deskwire.model.limits import CONNECTION_IDLE_S


class AddressBarred(Exception):
    """Where a name leads that nothing is sent to."""


class Connector(TCPConnector):
    """aiohttp's, with names and sockets that are checked. How many there are is bounded elsewhere."""

    def __init__(self, lookup: Lookup, ssl_context: ssl.SSLContext) -> None:
        super().__init__(
            resolver=CheckedNames(lookup),
            socket_factory=open_checked_socket,
            ssl=ssl_context,
            use_dns_cache=False,
            limit=0,
            keepalive_timeout=CONNECTION_IDLE_S,
        )
        self._factory = cast("partial[ResponseHandler]", partial(BoundedConnection, loop=self._loop))

    async def connect(
        self,
        req: ClientRequest,
        traces: list[Trace],
        timeout: ClientTimeout,  # noqa: ASYNC109 - it is aiohttp's
    ) -> Connection:
        exchange = current.get()
        connection = await super().connect(req, traces, timeout)
        while exchange.needs_new_connection and _has_served(connection):
            connection.close()
            connection = await super().connect(req, traces, timeout)
        assert isinstance(connection.protocol, BoundedConnection)
        exchange.connection = connection.protocol
        exchange.stage = Stage.ANSWERING
        return connection


class CheckedNames(AbstractResolver):
    """Hands on the addresses of a name if every one of them may be sent to."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = await self._lookup(host)
        for address in addresses:
            check_address(address, host)
        return [_resolved(host, port, address) for address in addresses]

    async def close(self) -> None:
        """The look-up is closed by whoever made it."""


def check_address(address: Address, host: str) -> None:
    """Raises AddressBarred, unless the operator allows the target of this exchange whatever its addresses."""
    if current.get().target.is_allowed:
        return
    reason = refusal(address)
    if reason is not None:
        raise AddressBarred(f"{host} leads to {address}, {reason}")


def open_checked_socket(info: AddrInfoType) -> socket.socket:
    """The address is looked at once more where it is used, whatever way it came."""
    family, kind, protocol, _, address = info
    exchange = current.get()
    check_address(ip_address(str(address[0])), exchange.target.host)
    exchange.stage = Stage.CONNECTING
    return socket.socket(family=family, type=kind, proto=protocol)


def _has_served(connection: Connection) -> bool:
    return isinstance(connection.protocol, BoundedConnection) and connection.protocol.requests > 0


def _resolved(host: str, port: int, address: Address) -> ResolveResult:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    return ResolveResult(hostname=host, host=str(address), port=port, family=family, proto=0, flags=0)
