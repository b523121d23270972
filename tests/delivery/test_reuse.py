"""A connection that died while it was idle costs a reconnect; a cancelled attempt leaves nothing behind."""

import asyncio
import gc
from collections import Counter
from contextlib import AsyncExitStack

import pytest

from deskwire.model.deliveries import Delivered, Unreachable
from deskwire.model.limits import CONNECTION_IDLE_S
from tests.delivery import certificates
from tests.delivery.receivers import BODY, HEADERS, OK, Answer, receiver, sender


def answer_once(last_words: bytes = b"", is_reset: bool = False) -> Answer:
    """Says that the connection stays open, and is gone when a second request comes on it."""
    served: Counter[object] = Counter()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = writer.get_extra_info("peername")
        served[client] += 1
        if served[client] == 1:
            writer.write(OK)
            await writer.drain()
            return
        writer.write(last_words)
        await writer.drain()
        if is_reset:
            writer.transport.abort()
        else:
            writer.close()

    return answer


@pytest.mark.parametrize("is_reset", [False, True])
@pytest.mark.parametrize("has_tls", [False, True])
def test_a_dead_connection_costs_one_reconnect_and_no_attempt(is_reset: bool, has_tls: bool) -> None:
    async def run() -> None:
        context = certificates.showing(certificates.good()) if has_tls else None
        async with (
            receiver(answer_once(is_reset=is_reset), context) as to,
            sender(to, trust=certificates.trusting()) as one,
        ):
            for _ in range(2):
                assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Delivered)
            assert (to.connections, len(to.requests)) == (2, 3)

    asyncio.run(run())


def test_of_many_dead_connections_one_attempt_meets_one() -> None:
    async def run() -> None:
        async with receiver(answer_once()) as to, sender(to) as one:
            outcomes = await asyncio.gather(*(one.send(to.url, HEADERS, BODY, 30) for _ in range(5)))
            assert to.connections == 5
            outcomes += [await one.send(to.url, HEADERS, BODY, 30)]
            assert all(isinstance(outcome, Delivered) for outcome in outcomes)
            assert len(to.requests) == 5 + 2

    asyncio.run(run())


def test_a_receiver_that_begins_to_hang_up_costs_one_reconnect_in_all() -> None:
    is_gone = False

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if is_gone:
            writer.close()
        else:
            writer.write(OK)

    async def run() -> None:
        nonlocal is_gone
        async with receiver(answer) as to, sender(to) as one:
            await asyncio.gather(*(one.send(to.url, HEADERS, BODY, 30) for _ in range(5)))
            is_gone = True
            for number in range(3):
                assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Unreachable)
                assert len(to.requests) == 5 + 2 + number

    asyncio.run(run())


def test_a_new_connection_that_is_closed_is_not_tried_again() -> None:
    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async def run() -> None:
        async with receiver(close) as to, sender(to) as one:
            assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Unreachable)
            assert len(to.requests) == 1

    asyncio.run(run())


def test_a_reused_connection_that_began_an_answer_is_not_tried_again() -> None:
    async def run() -> None:
        async with receiver(answer_once(b"HTTP/1.1 200 ")) as to, sender(to) as one:
            assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Delivered)
            assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Unreachable)
            assert len(to.requests) == 2

    asyncio.run(run())


def test_a_connection_that_the_receiver_closes_while_it_is_idle_is_replaced() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK)
        await writer.drain()
        writer.close()

    async def run() -> None:
        async with receiver(answer) as to, sender(to) as one:
            for _ in range(5):
                assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Delivered)
            assert to.connections == 5

    asyncio.run(run())


def test_a_dead_connection_and_a_receiver_that_is_gone_is_a_failure() -> None:
    async def run() -> None:
        closing = AsyncExitStack()
        to = await closing.enter_async_context(receiver(answer_once()))
        async with sender(to) as one:
            assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Delivered)
            await closing.aclose()
            outcome = await one.send(to.url, HEADERS, BODY, 30)
            assert isinstance(outcome, Unreachable) and outcome.error == "connection refused"

    asyncio.run(run())


async def hang_on_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def hang_in_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
    await reader.read()


@pytest.mark.parametrize("has_tls", [False, True])
@pytest.mark.parametrize("answer", [hang_on_answer, hang_in_body])
def test_a_cancelled_attempt_closes_its_connection(answer: Answer, has_tls: bool) -> None:
    async def run() -> None:
        context = certificates.showing(certificates.good()) if has_tls else None
        async with receiver(answer, context) as to, sender(to, trust=certificates.trusting()) as one:
            attempt = asyncio.create_task(one.send(to.url, HEADERS, BODY, 60))
            await asyncio.wait_for(to.arrived.wait(), 30)
            attempt.cancel()
            with pytest.raises(asyncio.CancelledError):
                await attempt
            # One that was kept would be closed as well, but later.
            await asyncio.wait_for(to.ends[0].wait(), CONNECTION_IDLE_S / 2)

    asyncio.run(run())
    gc.collect()


def test_an_answer_whose_time_ran_out_within_its_body_ends_its_connection() -> None:
    async def run() -> None:
        async with receiver(hang_in_body) as to, sender(to) as one:
            for _ in range(2):
                assert isinstance(await one.send(to.url, HEADERS, BODY, 0.3), Delivered)
            assert (to.connections, len(to.requests)) == (2, 2)

    asyncio.run(run())


@pytest.mark.parametrize("turns", range(0, 40, 3))
def test_an_attempt_may_be_cancelled_at_any_turn(turns: int) -> None:
    async def run() -> None:
        context = certificates.showing(certificates.good())
        async with (
            receiver(context=context) as to,
            sender(to, trust=certificates.trusting()) as one,
        ):
            attempt = asyncio.create_task(one.send(to.url, HEADERS, BODY, 60))
            for _ in range(turns):
                await asyncio.sleep(0)
            attempt.cancel()
            await asyncio.gather(attempt, return_exceptions=True)
            assert isinstance(await one.send(to.url, HEADERS, BODY, 60), Delivered)

    asyncio.run(run())
    gc.collect()


def test_what_is_under_way_fails_when_the_sender_is_closed() -> None:
    async def run() -> None:
        async with receiver(hang_on_answer) as to, sender(to) as one:
            attempt = asyncio.create_task(one.send(to.url, HEADERS, BODY, 60))
            await asyncio.wait_for(to.arrived.wait(), 30)
            await one.close()
            assert isinstance(await attempt, Unreachable)

    asyncio.run(run())
    gc.collect()
