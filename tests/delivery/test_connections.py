"""Which connections serve again, which do not, and which of several addresses is taken."""

import asyncio

import pytest

from deskwire.delivery import connections
from deskwire.model.deliveries import Delivered, Outcome, Refused, Unreachable
from tests.delivery import certificates
from tests.delivery.receivers import BODY, HEADERS, OK, Receiver, leads_to, receiver, sender

NO = b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"


async def outcomes_of_two(to: Receiver, body: bytes = BODY) -> list[Outcome]:
    async with sender(to) as one:
        return [await one.send(to.url, HEADERS, body, 30) for _ in range(2)]


@pytest.mark.parametrize(
    "answer",
    [
        OK + NO,
        OK + b"?",
        OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"),
        OK.replace(b"HTTP/1.1", b"HTTP/1.0"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n" + NO,
    ],
)
def test_what_follows_an_answer_is_never_taken_for_the_next_one(answer: bytes) -> None:
    async def run() -> None:
        async with receiver(answer) as to:
            assert all(isinstance(each, Delivered) for each in await outcomes_of_two(to))
            assert to.connections == 2

    asyncio.run(run())


@pytest.mark.parametrize(
    "answer",
    [
        OK,
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n" + b"x" * 60_000,
    ],
)
def test_after_a_whole_answer_a_connection_serves_again(answer: bytes) -> None:
    async def run() -> None:
        async with receiver(answer) as to:
            assert all(isinstance(each, Delivered) for each in await outcomes_of_two(to))
            assert (to.connections, len(to.requests)) == (1, 2)

    asyncio.run(run())


def test_an_answer_that_does_not_wait_for_the_whole_request_ends_its_connection() -> None:
    """What has not been sent yet would be in front of the next request."""
    answered = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal answered
        answered += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(NO)
        await writer.drain()
        await is_over.wait()
        writer.transport.abort()

    async def run() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        to = Receiver(server.sockets[0].getsockname()[1], "http")
        # More than the sockets of both sides take while nobody reads.
        outcomes = await outcomes_of_two(to, b"x" * 20_000_000)
        assert all(isinstance(each, Refused) for each in outcomes)
        assert answered == 2
        is_over.set()
        server.close()

    is_over = asyncio.Event()
    asyncio.run(run())


def test_an_idle_connection_is_closed_before_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "CONNECTION_IDLE_S", 0.2)

    async def run() -> None:
        async with receiver() as to, sender(to) as one:
            assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Delivered)
            await asyncio.wait_for(to.ends[0].wait(), 30)
            assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Delivered)
            assert to.connections == 2

    asyncio.run(run())


def test_the_connection_that_was_used_last_serves_first() -> None:
    async def run() -> None:
        async with receiver() as to, sender(to) as one:
            await asyncio.gather(*(one.send(to.url, HEADERS, BODY, 30) for _ in range(3)))
            assert to.connections == 3
            for _ in range(5):
                await one.send(to.url, HEADERS, BODY, 30)
            assert to.connections == 3

    asyncio.run(run())


def test_connections_to_one_port_are_not_used_for_another() -> None:
    async def run() -> None:
        async with receiver() as first, receiver() as second, sender(first) as one:
            one._allow |= set(second.allow)
            for to in (first, second, first):
                assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Delivered)
            assert (len(first.requests), len(second.requests)) == (2, 1)

    asyncio.run(run())


async def sent_by_way_of(to: Receiver, *addresses: str) -> Outcome:
    async with sender(to, lookup=leads_to(*addresses), trust=certificates.trusting()) as one:
        return await one.send(to.url, HEADERS, BODY, 30)


def test_of_several_addresses_the_first_that_takes_the_connection_gets_it() -> None:
    async def run() -> None:
        async with receiver() as to:
            assert isinstance(await sent_by_way_of(to, "127.0.0.2", "::1", "127.0.0.1"), Delivered)
            assert to.connections == 1

    asyncio.run(run())


def test_an_address_where_nobody_speaks_tls_is_no_obstacle_to_the_next_one() -> None:
    async def run() -> None:
        context = certificates.showing(certificates.good())
        async with receiver(context=context) as to:
            plain = await asyncio.start_server(hang_up, "127.0.0.2", to.port)
            assert isinstance(await sent_by_way_of(to, "127.0.0.2", "127.0.0.1"), Delivered)
            alone = await sent_by_way_of(to, "127.0.0.2")
            assert isinstance(alone, Unreachable)
            plain.close()

    asyncio.run(run())


def test_a_bad_certificate_is_told_whatever_another_address_would_do() -> None:
    async def run() -> str:
        async with receiver(context=certificates.showing(certificates.expired())) as to:
            outcome = await sent_by_way_of(to, "127.0.0.1", "127.0.0.2")
            assert isinstance(outcome, Unreachable)
            return outcome.error

    assert asyncio.run(run()) == "the certificate is not valid: expired"


async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"220 mail.example.com ESMTP\r\n")
    await writer.drain()
    writer.close()


def test_the_host_is_named_with_its_port_where_it_is_not_the_usual_one() -> None:
    async def run() -> None:
        async with receiver() as to, sender(to) as one:
            await one.send(to.url, HEADERS, BODY, 30)
            assert to.requests[0].split(b"\r\n")[1] == b"Host: hooks.example.com:%d" % to.port

    asyncio.run(run())
