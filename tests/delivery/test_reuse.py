"""An attempt is one request; what died while idle costs none; a cancelled attempt leaves nothing behind."""

import asyncio
import gc
import os
import socket
import ssl
import struct
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack

import pytest
import uvloop

from deskwire.delivery import connections
from deskwire.delivery.sending import Sender
from deskwire.model.deliveries import Delivered, Outcome, Unreachable
from deskwire.model.limits import CONNECTION_IDLE_S
from tests.delivery import certificates
from tests.delivery.receivers import BODY, HEADERS, OK, Answer, Receiver, receiver, sender

CLOSED = "the connection was closed before an answer"
RESET = "the connection was reset"

Run = Callable[[Coroutine[object, None, None]], None]


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def run_on_loop(request: pytest.FixtureRequest) -> Run:
    def run(coroutine: Coroutine[object, None, None]) -> None:
        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(coroutine)

    return run


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
def test_a_kept_connection_without_an_answer_is_a_failed_attempt_of_one_request(
    run_on_loop: Run, is_reset: bool, has_tls: bool
) -> None:
    async def run() -> None:
        context = certificates.showing(certificates.good()) if has_tls else None
        async with (
            receiver(answer_once(is_reset=is_reset), context) as to,
            sender(to, trust=certificates.trusting()) as one,
        ):
            outcomes = [await one.send(to.url, HEADERS, BODY, 30) for _ in range(3)]
            first, second, third = outcomes
            assert isinstance(first, Delivered) and isinstance(third, Delivered)
            assert isinstance(second, Unreachable) and second.error in (CLOSED, RESET)
            assert (to.connections, len(to.requests)) == (2, 3)

    run_on_loop(run())


def test_of_many_kept_connections_that_give_no_answer_one_is_met() -> None:
    async def run() -> None:
        async with receiver(answer_once()) as to, sender(to) as one:
            outcomes = await asyncio.gather(*(one.send(to.url, HEADERS, BODY, 30) for _ in range(5)))
            assert to.connections == 5 and are_delivered(outcomes)
            assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Unreachable)
            assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Delivered)
            assert (to.connections, len(to.requests)) == (6, 7)

    asyncio.run(run())


def test_a_receiver_that_begins_to_hang_up_gets_one_request_an_attempt() -> None:
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
            for number in range(1, 4):
                assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Unreachable)
                assert len(to.requests) == 5 + number

    asyncio.run(run())


async def fail_once(one: Sender, to: Receiver) -> None:
    """At a receiver that gives no second answer on a connection."""
    assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Delivered)
    assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Unreachable)


def test_a_receiver_that_closes_behind_its_answers_costs_one_attempt_in_a_while() -> None:
    async def run() -> None:
        async with receiver(answer_once()) as to, sender(to) as one:
            await fail_once(one, to)
            outcomes = [await one.send(to.url, HEADERS, BODY, 30) for _ in range(3)]
            assert are_delivered(outcomes)
            assert (to.connections, len(to.requests)) == (1 + 3, 2 + 3)

    asyncio.run(run())


def test_what_is_under_way_when_a_receiver_fails_so_is_not_kept_either() -> None:
    closing = answer_once()

    async def run() -> None:
        last = asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if len(to.requests) == 2:
                await last.wait()
            await closing(reader, writer)

        async with receiver(answer) as to, sender(to) as one:
            tasks = [asyncio.create_task(one.send(to.url, HEADERS, BODY, 30)) for _ in range(2)]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Unreachable)
            last.set()
            assert are_delivered([*await asyncio.gather(*tasks), await one.send(to.url, HEADERS, BODY, 30)])
            assert (to.connections, len(to.requests)) == (3, 4)

    asyncio.run(run())


def test_after_a_while_its_connections_are_kept_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "UNKEPT_S", 0.0)

    async def run() -> None:
        async with receiver(answer_once()) as to, sender(to) as one:
            for _ in range(2):
                await fail_once(one, to)
            assert (to.connections, len(to.requests)) == (2, 4)

    asyncio.run(run())


def test_of_the_places_that_are_not_kept_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "UNKEPT_PLACES_REMEMBERED", 1)

    async def run() -> None:
        async with receiver(answer_once()) as first, receiver(answer_once()) as second, sender(first) as one:
            one._allow |= set(second.allow)
            for to in (first, second, first):
                await fail_once(one, to)
            assert (first.connections, second.connections) == (2, 1)

    asyncio.run(run())


def close(opened: socket.socket) -> None:
    opened.shutdown(socket.SHUT_RDWR)


def send_unasked(opened: socket.socket) -> None:
    opened.send(b"HTTP/1.1 408 Request Timeout\r\n\r\n")


@pytest.mark.parametrize("end", [close, send_unasked])
@pytest.mark.parametrize("has_tls", [False, True])
def test_connections_that_end_while_nobody_looks_cost_no_attempt(
    run_on_loop: Run, end: Callable[[socket.socket], None], has_tls: bool
) -> None:
    """The loop has no turn in which it could have read that they have."""

    async def run() -> None:
        context = certificates.showing(certificates.good()) if has_tls else None
        async with receiver(context=context) as to, sender(to, trust=certificates.trusting()) as one:
            await asyncio.gather(*(one.send(to.url, HEADERS, BODY, 30) for _ in range(3)))
            for writer in to.writers:
                with socket.socket(fileno=os.dup(writer.get_extra_info("socket").fileno())) as opened:
                    end(opened)
            assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Delivered)
            assert (to.connections, len(to.requests)) == (4, 4)

    run_on_loop(run())


@pytest.mark.parametrize("which", [0, 1])
def test_a_connection_that_was_reset_is_passed_over_and_another_one_serves(
    run_on_loop: Run, which: int
) -> None:
    async def run() -> None:
        async with receiver() as to, sender(to) as one:
            await asyncio.gather(*(one.send(to.url, HEADERS, BODY, 30) for _ in range(2)))
            reset(to.writers[which])
            # It is closed in this turn, and nobody has read so.
            await asyncio.sleep(0)
            assert isinstance(await one.send(to.url, HEADERS, BODY, 30), Delivered)
            assert (to.connections, len(to.requests)) == (2, 3)

    run_on_loop(run())


def reset(writer: asyncio.StreamWriter) -> None:
    at_once = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
    writer.transport.abort()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_tls_connection_serves_again_whatever_tickets_came_with_it(
    run_on_loop: Run, version: ssl.TLSVersion
) -> None:
    async def run() -> None:
        context = certificates.showing(certificates.good())
        context.minimum_version = context.maximum_version = version
        async with receiver(context=context) as to, sender(to, trust=certificates.trusting()) as one:
            outcomes = [await one.send(to.url, HEADERS, BODY, 30) for _ in range(5)]
            assert are_delivered(outcomes)
            assert (to.connections, len(to.requests)) == (1, 5)

    run_on_loop(run())


def are_delivered(outcomes: Sequence[Outcome]) -> bool:
    return all(isinstance(each, Delivered) for each in outcomes)


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
