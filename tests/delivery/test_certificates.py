"""Certificates are verified, and what is wrong with one is said."""

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme

from deskwire.model.deliveries import Delivered, Unreachable
from tests.delivery import certificates
from tests.delivery.receivers import BODY, HEADERS, receiver, send, sender

BAD: list[tuple[Callable[[], trustme.LeafCert], str]] = [
    (certificates.expired, "expired"),
    (certificates.not_valid_yet, "not valid yet"),
    (certificates.for_another_name, "it is for another name"),
    (certificates.for_the_address, "it is for another name"),
    (certificates.of_a_stranger, "its issuer is not known"),
]


def test_a_good_certificate_is_taken_and_its_connection_reused() -> None:
    async def run() -> int:
        context = certificates.showing(certificates.good())
        async with receiver(context=context) as to, sender(to, trust=certificates.trusting()) as one:
            for _ in range(3):
                assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Delivered)
            return to.connections

    assert asyncio.run(run()) == 1


@pytest.mark.parametrize(("issue", "said"), BAD)
def test_a_bad_certificate_is_refused_and_nothing_is_sent(
    issue: Callable[[], trustme.LeafCert], said: str
) -> None:
    error = refused_with(certificates.showing(issue()))
    assert error.startswith(f"the certificate is not valid: {said}")


def test_a_self_signed_certificate_is_refused() -> None:
    error = refused_with(certificates.showing_self_signed())
    assert error.startswith("the certificate is not valid: ")
    assert "self-signed" in error or "another name" in error


def refused_with(context: ssl.SSLContext) -> str:
    async def run() -> str:
        async with receiver(context=context) as to:
            outcome = await send(to, trust=certificates.trusting(), limit_s=30)
            assert isinstance(outcome, Unreachable)
            assert to.requests == []
            return outcome.error

    return asyncio.run(run())


def test_without_a_context_the_file_of_the_environment_is_trusted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "authority.pem"
    certificates.AUTHORITY.cert_pem.write_to_path(str(file))

    async def run() -> type:
        async with receiver(context=certificates.showing(certificates.good())) as to:
            return type(await send(to, limit_s=30))

    assert asyncio.run(run()) is Unreachable
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    assert asyncio.run(run()) is Delivered


@pytest.mark.parametrize(
    ("greeting", "said"),
    [
        (b"220 mail.example.com ESMTP\r\n", "no TLS connection: "),
        (b"", "the connection was"),
    ],
)
def test_a_receiver_that_speaks_no_tls_is_told_as_one(greeting: bytes, said: str) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        writer.close()

    async def run() -> str:
        async with receiver(greet, has_no_tls=True) as to:
            outcome = await send(to, limit_s=30)
            assert isinstance(outcome, Unreachable)
            return outcome.error

    assert asyncio.run(run()).startswith(said)


def test_a_handshake_that_hangs_ends_in_time() -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def run() -> str:
        async with receiver(hang, has_no_tls=True) as to:
            outcome = await send(to, limit_s=0.3)
            assert isinstance(outcome, Unreachable)
            return outcome.error

    assert asyncio.run(run()) == "no connection within 0.3 s"
