"""What is told of a webhook's URL, step by step."""

import asyncio
from collections.abc import Callable
from ipaddress import ip_address

import pytest
import trustme

from deskwire.delivery.examining import examine
from deskwire.delivery.resolving import Lookup
from deskwire.model.examinations import Examination
from tests.delivery import certificates
from tests.delivery.receivers import HOST, leads_to, receiver, unknown


def examined(url: str, lookup: Lookup, limit_s: float = 30) -> Examination:
    return asyncio.run(examine(url, lookup, limit_s=limit_s))


def examined_with(certificate: trustme.LeafCert) -> Examination:
    async def run() -> Examination:
        async with receiver(context=certificates.showing(certificate)) as to:
            found = await examine(
                to.url, leads_to("127.0.0.1"), allow=to.allow, ssl_context=certificates.trusting()
            )
            assert to.requests == []
            return found

    return asyncio.run(run())


def test_a_url_that_breaks_a_rule_goes_no_further() -> None:
    found = examined("https://127.0.0.1/", unknown)
    assert found == Examination(problem="the URL must have a domain name, not an IP address")


def test_a_name_that_does_not_resolve_goes_no_further() -> None:
    found = examined(f"https://{HOST}/", unknown)
    assert found.target is not None and found.addresses == ()
    assert found.problem == "the name does not resolve: there is no such name"


def test_every_refused_address_is_shown_and_none_is_connected_to() -> None:
    found = examined(f"https://{HOST}/", leads_to("93.184.216.34", "10.0.0.1", "fd00::1"))
    assert [str(address) for address in found.addresses] == ["93.184.216.34", "10.0.0.1", "fd00::1"]
    assert found.refused == {
        ip_address("10.0.0.1"): "a private address",
        ip_address("fd00::1"): "a private address",
    }
    assert found.problem == f"{HOST} leads to 10.0.0.1, a private address"
    assert found.connected_to is None


def test_a_good_receiver_is_shown_with_its_certificate() -> None:
    found = examined_with(certificates.good())
    assert found.problem is None and found.certificate is not None
    assert found.connected_to == ip_address("127.0.0.1")
    assert found.tls_version in ("TLSv1.2", "TLSv1.3")
    assert found.certificate.names == (HOST,)
    assert "trustme" in found.certificate.issuer and found.certificate.subject
    assert found.certificate.valid_from < found.certificate.valid_until


@pytest.mark.parametrize(
    ("issue", "said"),
    [
        (certificates.expired, "expired"),
        (certificates.for_another_name, "it is for another name"),
        (certificates.of_a_stranger, "its issuer is not known"),
    ],
)
def test_a_bad_certificate_is_shown_with_what_is_wrong(
    issue: Callable[[], trustme.LeafCert], said: str
) -> None:
    found = examined_with(issue())
    assert found.problem is not None and found.problem.startswith(f"the certificate is not valid: {said}")
    assert found.certificate is not None


def test_an_allowed_receiver_without_tls_has_no_certificate() -> None:
    async def run() -> Examination:
        async with receiver() as to:
            url = f"http://127.0.0.1:{to.port}/"
            return await examine(url, unknown, allow=[("127.0.0.1", to.port)])

    found = asyncio.run(run())
    assert (found.problem, found.certificate) == (None, None)
    assert found.connected_to == ip_address("127.0.0.1")


def test_a_refused_connection_is_told_as_one() -> None:
    async def run() -> Examination:
        async with receiver() as to:
            pass
        return await examine(to.url, leads_to("127.0.0.1"), allow=to.allow)

    assert asyncio.run(run()).problem == "connection refused"


def test_a_second_address_is_tried_where_the_first_refuses() -> None:
    async def run() -> Examination:
        async with receiver() as to:
            return await examine(to.url, leads_to("127.0.0.2", "127.0.0.1"), allow=to.allow)

    assert asyncio.run(run()).connected_to == ip_address("127.0.0.1")


def test_a_receiver_that_speaks_no_tls_is_told_as_one() -> None:
    async def run() -> Examination:
        async with receiver() as to:
            url = to.url.replace("http:", "https:")
            return await examine(url, leads_to("127.0.0.1"), allow=to.allow, limit_s=0.5)

    problem = asyncio.run(run()).problem
    assert problem is not None
    assert problem.startswith(("no TLS connection", "no connection within", "the connection was"))
