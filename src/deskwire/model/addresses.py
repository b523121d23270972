"""Where no delivery may go: the ranges of addresses that are refused, each with its reason."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address

PUBLIC_IPV6 = IPv6Network("2000::/3")

# The first that contains an address names the reason, so the narrow ones come first.
REFUSED_IPV4 = tuple(
    (IPv4Network(network), reason)
    for network, reason in (
        ("168.63.129.16/32", "a cloud's metadata address"),
        ("100.100.100.200/32", "a cloud's metadata address"),
        ("169.254.169.254/32", "a cloud's metadata address"),
        ("169.254.170.2/32", "a cloud's metadata address"),
        ("192.0.0.192/32", "a cloud's metadata address"),
        ("255.255.255.255/32", "the broadcast address"),
        ("0.0.0.0/8", "an address of this network"),
        ("10.0.0.0/8", "a private address"),
        ("100.64.0.0/10", "an address shared behind carriers' gateways"),
        ("127.0.0.0/8", "a loopback address"),
        ("169.254.0.0/16", "a link-local address"),
        ("172.16.0.0/12", "a private address"),
        ("192.0.0.0/24", "an address reserved for protocols"),
        ("192.0.2.0/24", "an address for documentation"),
        ("192.31.196.0/24", "an address reserved for name servers"),
        ("192.52.193.0/24", "a multicast relay"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "a private address"),
        ("192.175.48.0/24", "an address reserved for name servers"),
        ("198.18.0.0/15", "an address for benchmarks"),
        ("198.51.100.0/24", "an address for documentation"),
        ("203.0.113.0/24", "an address for documentation"),
        ("224.0.0.0/4", "a multicast address"),
        ("240.0.0.0/4", "a reserved address"),
    )
)
REFUSED_IPV6 = tuple(
    (IPv6Network(network), reason)
    for network, reason in (
        ("fd00:ec2::254/128", "a cloud's metadata address"),
        ("fd20:ce::254/128", "a cloud's metadata address"),
        ("::/128", "the unspecified address"),
        ("::1/128", "a loopback address"),
        ("::/96", "an IPv4 address written as an IPv6 one"),
        ("::ffff:0:0/96", "an IPv4 address written as an IPv6 one"),
        ("::ffff:0:0:0/96", "an IPv4 address written as an IPv6 one"),
        ("64:ff9b::/96", "a NAT64 address"),
        ("64:ff9b:1::/48", "a NAT64 address"),
        ("100::/64", "an address that is discarded"),
        ("2001::/32", "a Teredo address"),
        ("2001:2::/48", "an address for benchmarks"),
        ("2001:10::/28", "an address that is not routed"),
        ("2001:20::/28", "an address that is not routed"),
        ("2001::/23", "an address reserved for protocols"),
        ("2001:db8::/32", "an address for documentation"),
        ("2002::/16", "a 6to4 address"),
        ("2620:4f:8000::/48", "an address reserved for name servers"),
        ("3ffe::/16", "a reserved address"),
        ("3fff::/20", "an address for documentation"),
        ("fc00::/7", "a private address"),
        ("fe80::/10", "a link-local address"),
        ("fec0::/10", "a site-local address"),
        ("ff00::/8", "a multicast address"),
    )
)


@lru_cache(maxsize=4096)
def refusal(address: Address) -> str | None:
    """What the address is, if nothing is sent there; None: it is public."""
    if isinstance(address, IPv4Address):
        return next((reason for network, reason in REFUSED_IPV4 if address in network), None)
    if address.scope_id is not None:
        return "an address of one link"
    named = next((reason for network, reason in REFUSED_IPV6 if address in network), None)
    if named is None and address not in PUBLIC_IPV6:
        return "a reserved address"
    return named
