"""Looks at the way to the URL of a webhook, step by step, for whoever asks why nothing arrives."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from cryptography import x509

from deskwire.delivery.explaining import explain_certificate, explain_connection, explain_handshake
from deskwire.delivery.resolving import Lookup, ResolutionFailed, addresses_of
from deskwire.model.addresses import Address, refusal
from deskwire.model.examinations import Certificate, Examination
from deskwire.model.limits import ATTEMPT_S
from deskwire.model.webhook_urls import Allow, Target, UrlRefused, parse_target


async def examine(
    url: str,
    lookup: Lookup,
    *,
    allow: Allow = (),
    ssl_context: ssl.SSLContext | None = None,
    limit_s: float = ATTEMPT_S,
) -> Examination:
    """The URL is checked, its name resolved, a connection made, the certificate read; no request is sent."""
    try:
        target = parse_target(url, allow)
    except UrlRefused as refused:
        return Examination(problem=f"the URL {refused}")
    try:
        addresses = tuple(await addresses_of(target.host, lookup))
    except ResolutionFailed as failure:
        return Examination(target, problem=f"the name does not resolve: {failure}")
    refused_ones = {} if target.is_allowed else _refused(addresses)
    if refused_ones:
        address, reason = next(iter(refused_ones.items()))
        problem = f"{target.host} leads to {address}, {reason}"
        return Examination(target, addresses, refused_ones, problem=problem)
    context = ssl_context or ssl.create_default_context()
    return await _connect(target, addresses, context if target.scheme == "https" else None, limit_s)


def _refused(addresses: Sequence[Address]) -> dict[Address, str]:
    reasons = {address: refusal(address) for address in addresses}
    return {address: reason for address, reason in reasons.items() if reason is not None}


async def _connect(
    target: Target, addresses: tuple[Address, ...], context: ssl.SSLContext | None, limit_s: float
) -> Examination:
    """To the first address that takes the connection, as a delivery does."""
    problem = ""
    for address in addresses:
        try:
            async with asyncio.timeout(limit_s), _connection(target, address, context) as writer:
                return _examined(target, addresses, address, writer)
        except TimeoutError:
            problem = f"no connection within {limit_s:g} s"
        except ssl.SSLCertVerificationError as failure:
            return await _with_bad_certificate(
                target, addresses, address, explain_certificate(failure), limit_s
            )
        except ssl.SSLError as failure:
            problem = explain_handshake(failure)
        except OSError as failure:
            problem = explain_connection(failure)
    return Examination(target, addresses, problem=problem)


@asynccontextmanager
async def _connection(
    target: Target, address: Address, context: ssl.SSLContext | None
) -> AsyncIterator[asyncio.StreamWriter]:
    name = target.host if context else None
    _, writer = await asyncio.open_connection(str(address), target.port, ssl=context, server_hostname=name)
    try:
        yield writer
    finally:
        # There is nothing to be said any more, and no answer to wait for.
        writer.transport.abort()


def _examined(
    target: Target,
    addresses: tuple[Address, ...],
    address: Address,
    writer: asyncio.StreamWriter,
    problem: str | None = None,
) -> Examination:
    connection: ssl.SSLObject | None = writer.get_extra_info("ssl_object")
    version = connection.version() if connection else None
    encoded = connection.getpeercert(binary_form=True) if connection else None
    certificate = _read_certificate(encoded) if encoded else None
    return Examination(target, addresses, {}, address, version, certificate, problem)


async def _with_bad_certificate(
    target: Target, addresses: tuple[Address, ...], address: Address, problem: str, limit_s: float
) -> Examination:
    """A second connection that trusts anybody, to show what there is instead; nothing is sent on it."""
    trusting = ssl.create_default_context()
    trusting.check_hostname = False
    trusting.verify_mode = ssl.CERT_NONE
    try:
        async with asyncio.timeout(limit_s), _connection(target, address, trusting) as writer:
            return _examined(target, addresses, address, writer, problem)
    except OSError:
        # It was the certificate that was in the way; that the second connection failed adds nothing.
        return Examination(target, addresses, {}, address, problem=problem)


def _read_certificate(encoded: bytes) -> Certificate | None:
    try:
        certificate = x509.load_der_x509_certificate(encoded)
        return Certificate(
            certificate.subject.rfc4514_string(),
            certificate.issuer.rfc4514_string(),
            _names(certificate),
            certificate.not_valid_before_utc,
            certificate.not_valid_after_utc,
        )
    except ValueError:
        # OpenSSL takes some that the stricter reader does not; they are shown as none.
        return None


def _names(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return ()
    return tuple(extension.value.get_values_for_type(x509.DNSName))
