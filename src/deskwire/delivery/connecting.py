"""Connections that lead only to addresses that were checked."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Sequence
from functools import partial
from ipaddress import ip_address

from aiohappyeyeballs import AddrInfoType, remove_addr_infos, start_connection

from deskwire.delivery.answers import Connection
from deskwire.delivery.resolving import Lookup, addresses_of
from deskwire.model.addresses import Address, refusal
from deskwire.model.limits import NEXT_ADDRESS_AFTER_S
from deskwire.model.webhook_urls import Target


class AddressBarred(Exception):
    """Where a name leads that nothing is sent to."""


async def find_addresses(target: Target, lookup: Lookup) -> Sequence[Address]:
    """The addresses of the target, if every one of them may be sent to; raises AddressBarred."""
    addresses = await addresses_of(target.host, lookup)
    for address in addresses:
        check_address(target, address)
    return addresses


async def connect(
    target: Target,
    addresses: Sequence[Address],
    ssl_context: ssl.SSLContext,
    make: Callable[[], Connection],
) -> Connection:
    """To the first address that takes the connection."""
    left = [_info(address, target.port) for address in addresses]
    open_one = partial(open_checked_socket, target)
    while True:
        opened = await start_connection(
            left, happy_eyeballs_delay=NEXT_ADDRESS_AFTER_S, socket_factory=open_one
        )
        try:
            peer = opened.getpeername()
        except OSError:
            # It was reset already.
            opened.close()
            raise
        try:
            return await _speak(opened, target, ssl_context, make)
        except ssl.SSLCertVerificationError:
            # Worth more to whoever reads it than how the next address would fail.
            raise
        except OSError:
            remove_addr_infos(left, peer)
            if not left:
                raise


def check_address(target: Target, address: Address) -> None:
    """Raises AddressBarred, unless the operator allows the target whatever its addresses."""
    if target.is_allowed:
        return
    reason = refusal(address)
    if reason is not None:
        raise AddressBarred(f"{target.host} leads to {address}, {reason}")


def open_checked_socket(target: Target, info: AddrInfoType) -> socket.socket:
    """The address is looked at once more where it is used, whatever way it came."""
    family, kind, protocol, _, address = info
    check_address(target, ip_address(str(address[0])))
    opened = socket.socket(family=family, type=kind, proto=protocol)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return opened


async def _speak(
    opened: socket.socket, target: Target, ssl_context: ssl.SSLContext, make: Callable[[], Connection]
) -> Connection:
    has_tls = target.scheme == "https"
    _, connection = await asyncio.get_running_loop().create_connection(
        make,
        sock=opened,
        ssl=ssl_context if has_tls else None,
        server_hostname=target.host if has_tls else None,
    )
    return connection


def _info(address: Address, port: int) -> AddrInfoType:
    place = (str(address), port) if address.version == 4 else (str(address), port, 0, 0)
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    return family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", place
