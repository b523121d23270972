"""What the URL of a webhook may be, and what it leads to."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import SplitResult, quote, urlsplit

import idna

from deskwire.model.addresses import Address
from deskwire.model.limits import (
    WEBHOOK_LOWEST_FREE_PORT,
    WEBHOOK_PORT_MAXIMUM,
    WEBHOOK_PORTS,
    WEBHOOK_URL_CHARACTERS,
)

# Hosts and ports to which deliveries may go in spite of the rules.
Allow = Collection[tuple[str, int]]

DEFAULT_PORTS = {"https": 443, "http": 80}
HOST_CHARACTERS = 253

# Every address is checked when the name is resolved; these names are refused at registration already, since
# they lead nowhere else on any network.
REFUSED_NAMES = {
    "localhost": "the machine itself",
    "localdomain": "the machine itself",
    "local": "machines of the local network",
    "internal": "machines of an internal network",
    "home.arpa": "machines of the local network",
    "svc": "machines of an internal network",
    "metadata": "a cloud's metadata",
    "instance-data": "a cloud's metadata",
    "metadata.goog": "a cloud's metadata",
    "metadata.tencentyun.com": "a cloud's metadata",
    "metadata.packet.net": "a cloud's metadata",
    "metadata.platformequinix.com": "a cloud's metadata",
}

UNSPEAKABLE = re.compile(r"[\x00-\x20\x7f-\x9f\\]|\s")
LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
# A host whose last label looks like this is read as an IPv4 address: 127.1, 0x7f.1, 2130706433, 0177.0.0.1.
NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
UNQUOTED = "%/:?@!$&'()*+,;=~[]"


class UrlRefused(ValueError):
    """What the URL breaks, as the end of a sentence that begins with "The URL …"."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Target:
    """Where a URL leads; `host` is in ASCII and lower case, an IPv6 address without brackets."""

    scheme: str
    host: str
    port: int
    # Path and query, as they are sent.
    path: str
    # The operator allows this host and port in spite of the rules, whatever its addresses are.
    is_allowed: bool

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


def parse_target(url: str, allow: Allow = ()) -> Target:
    """Raises UrlRefused."""
    parts = _split(url)
    if parts.scheme not in DEFAULT_PORTS:
        raise UrlRefused("must begin with https://")
    if "@" in parts.netloc:
        raise UrlRefused("must not contain a user name or password")
    if "#" in url:
        raise UrlRefused("must not have a fragment (the part from # on), since it would not be sent")
    if "[" in parts.netloc and ":" not in (parts.hostname or ""):
        raise UrlRefused("must have a valid domain name")
    host = normalise_host(parts.hostname or "")
    port = _port(parts)
    is_allowed = (host, port) in {(_spelled_alike(name), number) for name, number in allow}
    if not is_allowed:
        _check(parts.scheme, host, port)
    return Target(parts.scheme, host, port, _sent_path(parts), is_allowed)


def normalise_host(text: str) -> str:
    """The host as it is looked up: mapped as browsers do, in ASCII; an IP address in its usual spelling."""
    if ":" in text:
        return _ipv6(text)
    try:
        mapped = idna.uts46_remap(text, std3_rules=False, transitional=False)
        host = ".".join(_ascii_label(label) for label in mapped.removesuffix(".").split("."))
    except UnicodeError:
        raise UrlRefused("must have a valid domain name") from None
    if not host:
        raise UrlRefused("must have a domain name after https://")
    if len(host) > HOST_CHARACTERS or not all(LABEL.fullmatch(label) for label in host.split(".")):
        raise UrlRefused("must have a valid domain name")
    return host


def ip_address_of(host: str) -> Address | None:
    """The address that a normalised host spells in the usual way, if it is one."""
    try:
        return IPv6Address(host) if ":" in host else IPv4Address(host)
    except AddressValueError:
        return None


def _split(url: str) -> SplitResult:
    if len(url) > WEBHOOK_URL_CHARACTERS:
        raise UrlRefused(f"must be at most {WEBHOOK_URL_CHARACTERS} characters")
    if UNSPEAKABLE.search(url):
        raise UrlRefused("must not contain spaces, control characters or backslashes")
    try:
        url.encode()
        return urlsplit(url)
    except ValueError:
        raise UrlRefused("must be a valid URL") from None


def _ipv6(text: str) -> str:
    try:
        return str(IPv6Address(text))
    except AddressValueError:
        raise UrlRefused("must have a valid domain name") from None


def _ascii_label(label: str) -> str:
    return label if label.isascii() else idna.alabel(label).decode()


def _port(parts: SplitResult) -> int:
    try:
        port = parts.port
    except ValueError:
        raise UrlRefused("must have a port from 1 to 65535") from None
    return DEFAULT_PORTS[parts.scheme] if port is None else port


def _spelled_alike(host: str) -> str:
    try:
        return normalise_host(host)
    except UrlRefused:
        return host


def _check(scheme: str, host: str, port: int) -> None:
    if scheme != "https":
        raise UrlRefused("must begin with https://")
    if ":" in host or NUMERIC_LABEL.fullmatch(host.rpartition(".")[2]):
        raise UrlRefused("must have a domain name, not an IP address")
    refused = next((name for name in REFUSED_NAMES if host == name or host.endswith("." + name)), None)
    if refused is not None:
        raise UrlRefused(f"must not lead to {refused}, which names {REFUSED_NAMES[refused]}")
    if "." not in host:
        raise UrlRefused("must have a complete domain name, such as hooks.example.com")
    if port not in WEBHOOK_PORTS and not WEBHOOK_LOWEST_FREE_PORT <= port <= WEBHOOK_PORT_MAXIMUM:
        raise UrlRefused("must have port 443, 8443 or one above 1023")


def _sent_path(parts: SplitResult) -> str:
    query = "?" + quote(parts.query, safe=UNQUOTED) if parts.query else ""
    return (quote(parts.path, safe=UNQUOTED) or "/") + query
