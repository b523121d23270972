"""Opens the sockets that the API listens on, so that a port that is taken is known before anything starts."""

import errno
import os
import socket

from deskwire.cli.house import StartError
from deskwire.model import limits


def listen(host: str, port: int) -> list[socket.socket]:
    """One socket for each address of the host, all on one port, also when the port is 0."""
    addresses = _resolve(host, port)
    families = {family for family, _ in addresses}
    sockets: list[socket.socket] = []
    for family, address in addresses:
        # A name may stand for an address that this machine does not have, such as ::1: one is enough.
        is_last_hope = not sockets and address == addresses[-1][1]
        actual_port = sockets[0].getsockname()[1] if sockets else port
        try:
            sockets.append(_open(family, address, actual_port, only_ipv6=len(families) > 1))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL and not is_last_hope:
                continue
            for each in sockets:
                each.close()
            raise StartError(f"cannot listen on {host} port {port}: {_reason(error)}") from error
    return sockets


def url_of(host: str, sockets: list[socket.socket]) -> str:
    port = sockets[0].getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _resolve(host: str, port: int) -> list[tuple[socket.AddressFamily, str]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError, OverflowError) as error:
        raise StartError(f"cannot listen on {host} port {port}: {_reason(error)}") from error
    return list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))


def _open(family: socket.AddressFamily, address: str, port: int, *, only_ipv6: bool) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only_ipv6)
        sock.bind((address, port))
        sock.listen(limits.LISTEN_BACKLOG)
    except BaseException:
        sock.close()
        raise
    sock.setblocking(False)
    return sock


def _reason(error: Exception) -> str:
    if not isinstance(error, OSError) or error.errno is None:
        return str(error)
    match error.errno:
        case errno.EADDRINUSE:
            return "another program listens there; stop it or choose another --port"
        case errno.EACCES:
            return "this user may not use the port; choose one above 1023"
        case errno.EADDRNOTAVAIL:
            return "this machine does not have that address"
        case number if isinstance(error, socket.gaierror):
            return error.strerror or str(number)
        case number:
            return os.strerror(number)
