"""Names and their addresses, asked of a name server that the test runs."""

import asyncio
import struct
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import IPv4Address, ip_address
from typing import cast

import pytest

from deskwire.delivery.resolving import Names, ResolutionFailed
from deskwire.model.deliveries import Barred, Delivered, Unreachable
from tests.delivery.receivers import BODY, HEADERS, HOST, receiver, sender

A, AAAA = 1, 28
NO_ERROR, NO_SUCH_NAME, REFUSED = 0, 3, 5

# What the server knows; a name that is not here does not exist.
ZONE = {
    HOST: ["127.0.0.1"],
    "both.example.com": ["192.0.2.1", "2001:db8::1", "192.0.2.2"],
    "six.example.com": ["2001:db8::6"],
    "none.example.com": [],
}


class NameServer(asyncio.DatagramProtocol):
    """Knows its zone, and never answers for names that begin with "hang"."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        name, kind, question = read_question(data)
        self.asked.append(name)
        if not name.startswith("hang"):
            self._transport.sendto(answer_to(data[:2], name, kind, question), addr)


def read_question(data: bytes) -> tuple[str, int, bytes]:
    labels, at = [], 12
    while data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode())
        at += 1 + data[at]
    return ".".join(labels).lower(), struct.unpack("!H", data[at + 1 : at + 3])[0], data[12 : at + 5]


def answer_to(number: bytes, name: str, kind: int, question: bytes) -> bytes:
    code = NO_ERROR if name in ZONE else REFUSED if name.startswith("refused") else NO_SUCH_NAME
    addresses = [ip_address(text) for text in ZONE.get(name, [])]
    records = [each.packed for each in addresses if isinstance(each, IPv4Address) == (kind == A)]
    head = number + struct.pack("!HHHHH", 0x8180 | code, 1, len(records), 0, 0)
    return head + question + b"".join(record_of(kind, packed) for packed in records)


def record_of(kind: int, packed: bytes) -> bytes:
    return b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 0, len(packed)) + packed


@asynccontextmanager
async def names(limit_s: float = 20.0) -> AsyncIterator[Names]:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(NameServer, local_addr=("127.0.0.1", 0))
    port = transport.get_extra_info("sockname")[1]
    try:
        async with Names([f"127.0.0.1:{port}"], limit_s) as made:
            yield made
    finally:
        transport.close()


def resolve(host: str, limit_s: float = 20.0) -> set[str]:
    async def run() -> set[str]:
        async with names(limit_s) as made:
            return {str(address) for address in await made.resolve(host)}

    return asyncio.run(run())


@pytest.mark.parametrize("host", ["both.example.com", "six.example.com", HOST])
def test_all_addresses_of_both_families_are_found(host: str) -> None:
    assert resolve(host) == set(ZONE[host])


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("unknown.example.com", "there is no such name"),
        ("none.example.com", "it has no address"),
        ("hang.example.com", r"no answer within 0\.3 s"),
        ("refused.example.com", "refused"),
    ],
)
def test_a_name_without_addresses_is_told_with_the_reason(host: str, said: str) -> None:
    with pytest.raises(ResolutionFailed, match=said):
        resolve(host, 0.3 if host.startswith("hang") else 20)


def test_the_hosts_file_counts() -> None:
    assert "127.0.0.1" in resolve("localhost")


def test_names_that_hang_delay_no_other() -> None:
    async def run() -> None:
        async with names() as made:
            hanging = [asyncio.create_task(made.resolve(f"hang{n}.example.com")) for n in range(200)]
            await asyncio.sleep(0)
            started = time.monotonic()
            assert len(await made.resolve("both.example.com")) == 3
            took_s = time.monotonic() - started
            assert not any(task.done() for task in hanging)
            for task in hanging:
                task.cancel()
            await asyncio.gather(*hanging, return_exceptions=True)
            # The first of those that hang would give up after some seconds.
            assert took_s < 4

    asyncio.run(run())


def test_deliveries_to_names_that_hang_delay_no_other() -> None:
    async def run() -> None:
        async with names() as made, receiver() as to, sender(to, lookup=made.resolve) as one:
            hanging = [
                asyncio.create_task(one.send(f"https://hang{n}.example.com/", HEADERS, BODY, 60))
                for n in range(50)
            ]
            assert isinstance(await one.send(to.url, HEADERS, BODY, 60), Delivered)
            assert not any(task.done() for task in hanging)
            for task in hanging:
                task.cancel()
            await asyncio.gather(*hanging, return_exceptions=True)

    asyncio.run(run())


def test_a_delivery_goes_by_what_the_name_server_says() -> None:
    async def run() -> None:
        async with names() as made, receiver() as to, sender(lookup=made.resolve) as one:
            barred = await one.send(f"https://{HOST}:{to.port}/", HEADERS, BODY, 30)
            assert barred == Barred(barred.duration_ms, f"{HOST} leads to 127.0.0.1, a loopback address")
            unknown = await one.send("https://unknown.example.com/", HEADERS, BODY, 30)
            assert isinstance(unknown, Unreachable)
            assert unknown.error == "the name does not resolve: there is no such name"
            assert to.connections == 0

    asyncio.run(run())


def test_closing_ends_what_is_being_looked_up() -> None:
    async def run() -> None:
        async with names() as made:
            looking = asyncio.create_task(made.resolve("hang.example.com"))
            await asyncio.sleep(0)
            await made.close()
            with pytest.raises(ResolutionFailed):
                await looking

    asyncio.run(run())
