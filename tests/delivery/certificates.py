"""Certificates for tests: good ones and bad ones, from an authority that only these tests know."""

import ssl
from datetime import UTC, datetime

import trustme

from tests.delivery.receivers import HOST

AUTHORITY = trustme.CA()
STRANGER = trustme.CA()
PAST, NEAR_PAST = datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 2, 1, tzinfo=UTC)
FUTURE, FAR_FUTURE = datetime(2120, 1, 1, tzinfo=UTC), datetime(2120, 2, 1, tzinfo=UTC)


def trusting() -> ssl.SSLContext:
    """What a sender trusts."""
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    return context


def showing(certificate: trustme.LeafCert) -> ssl.SSLContext:
    """What a receiver shows."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


def good() -> trustme.LeafCert:
    return AUTHORITY.issue_cert(HOST)


def expired() -> trustme.LeafCert:
    return AUTHORITY.issue_cert(HOST, not_before=PAST, not_after=NEAR_PAST)


def not_valid_yet() -> trustme.LeafCert:
    return AUTHORITY.issue_cert(HOST, not_before=FUTURE, not_after=FAR_FUTURE)


def for_another_name() -> trustme.LeafCert:
    return AUTHORITY.issue_cert("other.example.com")


def for_the_address() -> trustme.LeafCert:
    return AUTHORITY.issue_cert("127.0.0.1")


def of_a_stranger() -> trustme.LeafCert:
    return STRANGER.issue_cert(HOST)


def showing_self_signed() -> ssl.SSLContext:
    """An authority that shows itself."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with STRANGER.cert_pem.tempfile() as certificate, STRANGER.private_key_pem.tempfile() as key:
        context.load_cert_chain(certificate, key)
    return context
