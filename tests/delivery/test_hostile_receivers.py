"""Whatever a receiver does, an attempt ends in time, takes little memory and says what happened."""

import asyncio
import gc
import gzip
import time
import tracemalloc
from itertools import count

import pytest

from deskwire.delivery.answers import Connection
from deskwire.model.deliveries import Delivered, Outcome, Refused, Unreachable
from tests.delivery.receivers import BODY, HEADERS, OK, Answer, receiver, send_to_answer, sender

LIMIT_S = 1.5
# Of a slow machine; what hangs takes for ever.
ALLOWED_S = 15
GROWTH_MAX_BYTES = 20 * 1024 * 1024

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
TOO_LONG = "the head of the answer is longer than 64 KiB"
NO_HTTP = "the answer is not valid HTTP"
CLOSED = "the connection was closed before an answer"
NO_ANSWER = f"no answer within {LIMIT_S} s"


def flood(start: bytes, again: bytes) -> Answer:
    """Sends as fast as it is read, until the other side has had enough."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        many = again * (128 * 1024 // len(again))
        while True:
            writer.write(many)
            await writer.drain()

    return answer


def drip(start: bytes) -> Answer:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        for number in count():
            writer.write(b"%d" % (number % 10))
            await writer.drain()
            await asyncio.sleep(0.05)

    return answer


def last_words(words: bytes, is_reset: bool = False) -> Answer:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(words)
        await writer.drain()
        if is_reset:
            writer.transport.abort()
        else:
            writer.close()
            await writer.wait_closed()

    return answer


def byte_by_byte(words: bytes) -> Answer:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for byte in words:
            writer.write(bytes([byte]))
            await writer.drain()

    return answer


async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


UNREACHABLE: dict[str, tuple[Answer | bytes, str | tuple[str, ...]]] = {
    "never answers": (silence, NO_ANSWER),
    "drips its status line": (drip(b"HTTP/1.1 200 "), NO_ANSWER),
    "drips a header": (drip(HEAD + b"A: "), NO_ANSWER),
    "sends small headers without end": (flood(HEAD, b"A: b\r\n"), (TOO_LONG, NO_HTTP)),
    "sends long headers without end": (flood(HEAD, b"A: " + b"b" * 8000 + b"\r\n"), (TOO_LONG, NO_HTTP)),
    "sends one header without end": (flood(HEAD + b"A: ", b"b"), (TOO_LONG, NO_HTTP)),
    "sends a reason without end": (flood(b"HTTP/1.1 200 ", b"b"), (TOO_LONG, NO_HTTP)),
    "sends interim answers without end": (flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), TOO_LONG),
    "sends interim answers with headers": (flood(b"", b"HTTP/1.1 103 E\r\nA: b\r\nC: d\r\n\r\n"), TOO_LONG),
    "sends empty lines without end": (flood(b"", b"\r\n"), (TOO_LONG, NO_HTTP)),
    "sends no HTTP": (flood(b"", b"\x00\xff\x1b[2J"), NO_HTTP),
    "speaks another protocol": (b"220 mail.example.com ESMTP\r\n", NO_HTTP),
    "speaks RTSP": (OK.replace(b"HTTP/1.1", b"RTSP/1.0"), NO_HTTP),
    "speaks ICE": (OK.replace(b"HTTP/1.1", b"ICE/1.0"), NO_HTTP),
    "speaks HTTP/2": (b"\x00\x00\x12\x04\x00\x00\x00\x00\x00", NO_HTTP),
    "has status 000": (b"HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n", NO_HTTP),
    "has a status without end": (flood(b"HTTP/1.1 2", b"0"), NO_HTTP),
    "has a length that is none": (HEAD + b"Content-Length: abc\r\n\r\n", NO_HTTP),
    "has a negative length": (HEAD + b"Content-Length: -1\r\n\r\n", NO_HTTP),
    "has two lengths": (HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", NO_HTTP),
    "closes at once": (last_words(b""), CLOSED),
    "closes within the head": (last_words(HEAD + b"A: b\r\n"), CLOSED),
    "resets at once": (last_words(b"", is_reset=True), (CLOSED, "the connection was reset")),
    "resets within the head": (
        last_words(HEAD + b"A: b\r\n", is_reset=True),
        (CLOSED, "the connection was reset"),
    ),
}

# Each of them has said 200 before it went wrong.
DELIVERED: dict[str, Answer | bytes] = {
    "sends a body without end": flood(HEAD + b"\r\n", b"x"),
    "sends chunks without end": flood(CHUNKED, b"1\r\nx\r\n"),
    "sends a long body of a given length": flood(HEAD + b"Content-Length: 99999999999\r\n\r\n", b"x"),
    "drips its body": drip(HEAD + b"Content-Length: 1000\r\n\r\n"),
    "drips the size of a chunk": drip(CHUNKED),
    "sends more than the length": OK + b"\r\n\r\n",
    "sends more than the length, byte by byte": byte_by_byte(OK + b"?"),
    "ends its lines with line feeds alone": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok?",
    "sends much more than the length": flood(HEAD + b"Content-Length: 10\r\n\r\n", b"x"),
    "has a chunk of a monstrous size": CHUNKED + b"FFFFFFFFFFFFFFFFFFFFFFFF\r\n",
    "has a large chunk": flood(CHUNKED + b"FFFFFFFFFFFFFFF\r\n", b"x"),
    "has a size of a chunk without end": flood(CHUNKED, b"0"),
    "has an extension of a chunk without end": flood(CHUNKED + b"1;", b"x"),
    "has trailers without end": flood(CHUNKED + b"0\r\n", b"A: b\r\n"),
    "has a trailer without end": flood(CHUNKED + b"0\r\nA: ", b"b"),
    "closes within the body": last_words(HEAD + b"Content-Length: 10\r\n\r\nabc"),
    "resets within the body": last_words(HEAD + b"Content-Length: 10\r\n\r\nabc", is_reset=True),
    "sends answers without end": flood(b"", OK),
    "sends answers without bodies without end": flood(b"", b"HTTP/1.1 204 N\r\n\r\n"),
    "answers an upgrade that nobody asked for": flood(HEAD + b"Upgrade: h2c\r\n\r\n", b"x"),
    "compresses zeros": flood(HEAD + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(bytes(10_000_000))),
    "says that it compresses and does not": flood(HEAD + b"Content-Encoding: gzip\r\n\r\n", b"x"),
}


@pytest.mark.parametrize("doing", UNREACHABLE)
def test_a_receiver_without_a_valid_head_is_unreachable(doing: str) -> None:
    answer, said = UNREACHABLE[doing]
    outcome = attempt(answer)
    assert isinstance(outcome, Unreachable)
    assert outcome.error in ((said,) if isinstance(said, str) else said)


@pytest.mark.parametrize("doing", DELIVERED)
def test_a_receiver_that_said_200_has_the_event_whatever_follows(doing: str) -> None:
    assert isinstance(attempt(DELIVERED[doing]), Delivered)


def test_a_refusal_with_a_body_without_end_is_a_refusal() -> None:
    outcome = attempt(flood(b"HTTP/1.1 503 No\r\n\r\n", b"x"))
    assert isinstance(outcome, Refused) and outcome.http_status == 503


def test_no_more_than_64_kib_of_a_body_is_read_and_then_the_connection_is_closed() -> None:
    async def run() -> None:
        async with receiver(flood(HEAD + b"\r\n", b"x")) as to, sender(to) as one:
            assert isinstance(await one.send(to.url, HEADERS, BODY, 60), Delivered)
            await asyncio.wait_for(to.ends[0].wait(), ALLOWED_S)

    asyncio.run(run())


def test_a_body_that_stops_beyond_64_kib_is_not_waited_for() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: 100000\r\n\r\n" + b"x" * 70_000)
        await silence(reader, writer)

    started = time.monotonic()
    assert isinstance(asyncio.run(send_to_answer(answer, 60)), Delivered)
    assert time.monotonic() - started < ALLOWED_S


@pytest.mark.parametrize("unasked", [OK, b"HTTP/1.1 100 Continue\r\n\r\n", HEAD + b"A: b\r\n", b"\x00"])
def test_an_idle_connection_on_which_something_comes_unasked_is_closed(unasked: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK)
        await writer.drain()
        await is_told.wait()
        await flood(b"", unasked)(reader, writer)

    async def run() -> None:
        async with receiver(answer) as to, sender(to) as one:
            assert isinstance(await one.send(to.url, HEADERS, BODY, 60), Delivered)
            is_told.set()
            await asyncio.wait_for(to.ends[0].wait(), ALLOWED_S)

    is_told = asyncio.Event()
    tracemalloc.start()
    try:
        asyncio.run(run())
        assert tracemalloc.get_traced_memory()[1] < GROWTH_MAX_BYTES
    finally:
        tracemalloc.stop()


def test_nothing_of_an_answer_waits_for_the_garbage_collector() -> None:
    """A server collects seldom, and a circle would keep what each hostile answer brought until then."""
    answers = [*DELIVERED.values(), *(answer for answer, _ in UNREACHABLE.values())]

    def connections() -> list[object]:
        return [each for each in gc.get_objects() if type(each) is Connection]

    async def attempt_one(answer: Answer | bytes) -> None:
        async with receiver(answer) as to, sender(to) as one:
            await one.send(to.url, HEADERS, BODY, LIMIT_S)

    async def run() -> None:
        await asyncio.gather(*map(attempt_one, answers))
        for _ in range(ALLOWED_S * 20):
            if not connections():
                return
            await asyncio.sleep(0.05)
        pytest.fail(f"{len(connections())} connections are still there")

    gc.collect()
    gc.disable()
    try:
        asyncio.run(run())
    finally:
        gc.enable()


def attempt(answer: Answer | bytes) -> Outcome:
    """One attempt, within its time and within the memory that it may take."""
    tracemalloc.start()
    started = time.monotonic()
    try:
        outcome = asyncio.run(send_to_answer(answer, LIMIT_S))
        assert tracemalloc.get_traced_memory()[1] < GROWTH_MAX_BYTES
    finally:
        tracemalloc.stop()
    assert time.monotonic() - started < ALLOWED_S
    return outcome
