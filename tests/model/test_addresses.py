"""Every range that is refused, at both of its ends, and what lies beside it."""

from ipaddress import IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskwire.model.addresses import refusal

REFUSED = [
    "0.0.0.0",
    "0.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "169.254.255.255",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.0",
    "192.0.0.192",
    "192.0.2.1",
    "192.31.196.1",
    "192.52.193.1",
    "192.88.99.1",
    "192.168.0.0",
    "192.168.255.255",
    "192.175.48.6",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.255",
    "203.0.113.0",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.0",
    "255.255.255.254",
    "255.255.255.255",
    "168.63.129.16",
    "::",
    "::1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b::808:808",
    "64:ff9b:1::1",
    "64:ff9b:1:ffff::1",
    "100::1",
    "100:0:0:1::1",
    "2001::1",
    "2001:0:ffff::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:1::1",
    "2001:1ff::1",
    "2001:db8::1",
    "2001:db8:ffff::1",
    "2002:7f00:1::1",
    "2002:808:808::1",
    "2620:4f:8000::1",
    "3ffe::1",
    "3fff::1",
    "3fff:fff::1",
    "4000::1",
    "5f00::1",
    "8000::1",
    "1fff::1",
    "200::1",
    "fc00::1",
    "fd00::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fdff::1",
    "fe80::1",
    "fe80::1%eth0",
    "febf::1",
    "fec0::1",
    "feff::1",
    "ff02::1",
    "ff0e::1",
    "ffff::1",
    "2606:4700::1%1",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.0.3.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "203.0.112.255",
    "203.0.114.0",
    "223.255.255.255",
    "168.63.129.15",
    "168.63.129.17",
    "2000::1",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2003::1",
    "2606:4700::1111",
    "2a00:1450::1",
    "3fff:1000::1",
    "2620:4f:8001::1",
]


@pytest.mark.parametrize("text", REFUSED)
def test_an_address_that_is_not_public_is_refused_with_a_reason(text: str) -> None:
    reason = refusal(ip_address(text))
    assert reason is not None and reason.startswith(("a ", "an ", "the "))


@pytest.mark.parametrize("text", PUBLIC)
def test_a_public_address_passes(text: str) -> None:
    assert refusal(ip_address(text)) is None


def test_a_metadata_address_is_called_one() -> None:
    assert refusal(ip_address("169.254.169.254")) == "a cloud's metadata address"


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_that_the_standard_library_calls_local_is_refused(address: object) -> None:
    found = ip_address(str(address))
    if not found.is_global or found.is_multicast:
        assert refusal(found) is not None


@given(st.ip_addresses(v=4))
def test_no_ipv4_address_passes_as_an_ipv6_one(address: object) -> None:
    number = int(ip_address(str(address)))
    for prefix in ("::", "::ffff:0:0", "64:ff9b::", "::ffff:0:0:0"):
        assert refusal(IPv6Address(int(IPv6Address(prefix)) | number)) is not None
    assert refusal(IPv6Address(int(IPv6Address("2002::")) | number << 80)) is not None


@given(st.ip_addresses(v=6))
def test_an_ipv6_address_that_the_standard_library_calls_local_is_refused(address: object) -> None:
    found = ip_address(str(address))
    if not found.is_global:
        assert refusal(found) is not None
