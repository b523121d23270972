"""One attempt: what arrives at the receiver, and what its answer is taken for."""

import asyncio
import errno
import socket
from collections.abc import Sequence

import pytest

from deskwire.delivery import connecting
from deskwire.model.addresses import Address
from deskwire.model.deliveries import Barred, Delivered, Refused, Unreachable
from deskwire.model.limits import DELIVERY_ERROR_CHARACTERS
from tests.delivery.receivers import (
    BODY,
    HEADERS,
    HOST,
    leads_to,
    receiver,
    send,
    send_to_answer,
    sender,
    unknown,
)


def answer_of(status: str, *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", "Content-Length: 0", *headers, "", ""]).encode()


def test_a_request_carries_the_given_headers_and_body_and_nothing_of_the_library() -> None:
    async def run() -> bytes:
        async with receiver() as to:
            assert isinstance(await send(to), Delivered)
            return to.requests[0]

    head, _, body = asyncio.run(run()).partition(b"\r\n\r\n")
    start, *lines = head.decode().split("\r\n")
    names = {line.partition(":")[0] for line in lines}
    assert start == "POST /hook HTTP/1.1"
    assert names == {"Host", "Content-Type", "X-Webhook-Signature", "Content-Length"}
    assert body == BODY


@pytest.mark.parametrize("status", [200, 201, 202, 204, 226, 299])
def test_any_2xx_is_a_delivery(status: int) -> None:
    outcome = asyncio.run(send_to_answer(answer_of(f"{status} Fine")))
    assert isinstance(outcome, Delivered) and outcome.http_status == status


@pytest.mark.parametrize("status", [101, 301, 302, 303, 307, 308, 400, 401, 404, 410, 429, 500, 503, 999])
def test_any_other_status_is_a_refusal(status: int) -> None:
    outcome = asyncio.run(send_to_answer(answer_of(f"{status} Odd", "Location: http://127.0.0.1:1/")))
    assert isinstance(outcome, Refused) and outcome.http_status == status
    assert outcome.error == f"the receiver answered {status}"


def test_a_redirect_is_not_followed() -> None:
    async def run() -> None:
        async with receiver() as other:
            moved = answer_of("307 Moved", f"Location: http://{HOST}:{other.port}/")
            assert isinstance(await send_to_answer(moved), Refused)
            assert other.connections == 0

    asyncio.run(run())


@pytest.mark.parametrize(
    ("status", "asked", "wait_s"),
    [
        (429, "7", 7),
        (503, "Tue, 14 Nov 2023 22:13:30 GMT", 10),
        (503, "soon", None),
        (429, "0", 0),
        (500, "7", None),
        (404, "7", None),
    ],
)
def test_retry_after_is_taken_from_429_and_503(status: int, asked: str, wait_s: int | None) -> None:
    outcome = asyncio.run(send_to_answer(answer_of(f"{status} Wait", f"Retry-After: {asked}")))
    assert isinstance(outcome, Refused) and outcome.retry_after_s == wait_s


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 103 E\r\nRetry-After: 7\r\n\r\nHTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nRetry-After: 7\r\n\r\n",
    ],
)
def test_retry_after_counts_in_the_head_of_the_final_answer_alone(answer: bytes) -> None:
    outcome = asyncio.run(send_to_answer(answer))
    assert isinstance(outcome, Refused) and outcome.retry_after_s is None


def test_interim_answers_are_passed_over() -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    assert isinstance(asyncio.run(send_to_answer(interim + answer_of("200 OK"))), Delivered)


def test_no_cookie_is_kept() -> None:
    async def run() -> list[bytes]:
        async with receiver(answer_of("200 OK", "Set-Cookie: a=b")) as to, sender(to) as one:
            for _ in range(2):
                await one.send(to.url, HEADERS, BODY, 10)
            return to.requests

    assert all(b"cookie" not in request.lower() for request in asyncio.run(run()))


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("all_proxy", "http://127.0.0.1:1")
    assert isinstance(asyncio.run(send_to_answer(answer_of("200 OK"))), Delivered)


def test_a_connection_serves_many_attempts() -> None:
    async def run() -> int:
        async with receiver() as to, sender(to) as one:
            for _ in range(5):
                assert isinstance(await one.send(to.url, HEADERS, BODY, 10), Delivered)
            return to.connections

    assert asyncio.run(run()) == 1


def test_a_large_body_arrives_whole() -> None:
    async def run() -> bytes:
        async with receiver() as to, sender(to) as one:
            await one.send(to.url, HEADERS, b"x" * 900_000, 10)
            return to.requests[0]

    assert asyncio.run(run()).endswith(b"\r\n\r\n" + b"x" * 900_000)


def test_a_refused_connection_is_told_as_one() -> None:
    async def run() -> None:
        async with receiver() as to:
            pass
        outcome = await send(to)
        assert isinstance(outcome, Unreachable) and outcome.error == "connection refused"

    asyncio.run(run())


def test_a_name_that_does_not_resolve_is_told_as_one() -> None:
    async def run() -> None:
        async with sender(lookup=unknown) as one:
            outcome = await one.send(f"https://{HOST}/", HEADERS, BODY, 10)
            assert isinstance(outcome, Unreachable)
            assert outcome.error == "the name does not resolve: there is no such name"

    asyncio.run(run())


def test_a_url_that_breaks_a_rule_is_barred() -> None:
    async def run() -> None:
        async with sender() as one:
            outcome = await one.send("http://hooks.example.com/", HEADERS, BODY, 10)
            assert isinstance(outcome, Barred) and outcome.error == "the URL must begin with https://"

    asyncio.run(run())


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["::1"], ["93.184.216.34", "127.0.0.1"], ["2606:4700::1", "fd00::1"]]
)
def test_one_bad_address_bars_the_name_and_nothing_is_connected(addresses: list[str]) -> None:
    async def run() -> None:
        async with receiver() as to, sender(lookup=leads_to(*addresses)) as one:
            outcome = await one.send(f"https://{HOST}:{to.port}/", HEADERS, BODY, 10)
            assert isinstance(outcome, Barred)
            assert outcome.error.startswith(f"{HOST} leads to {addresses[-1]}, a")
            assert to.connections == 0

    asyncio.run(run())


def test_a_name_that_is_bound_anew_after_its_registration_is_barred() -> None:
    answers = iter(["93.184.216.34", "127.0.0.1"])

    async def run() -> None:
        async def lookup(host: str) -> Sequence[Address]:
            return await leads_to(next(answers))(host)

        async with receiver() as to, sender(lookup=lookup) as one:
            await lookup(HOST)
            outcome = await one.send(f"https://{HOST}:{to.port}/", HEADERS, BODY, 10)
            assert isinstance(outcome, Barred) and to.connections == 0

    asyncio.run(run())


def test_a_name_is_asked_once_for_a_connection_so_that_no_second_answer_can_slip_in() -> None:
    asked: list[str] = []

    async def run() -> None:
        async def lookup(host: str) -> Sequence[Address]:
            asked.append(host)
            return await leads_to("127.0.0.1")(host)

        async with receiver() as to, sender(to, lookup=lookup) as one:
            await one.send(to.url, HEADERS, BODY, 10)

    asyncio.run(run())
    assert asked == [HOST]


def test_the_socket_looks_at_the_address_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def check_but_not_names(target: object, address: object) -> None:
        seen.append(address)
        if len(seen) > 1:
            raise connecting.AddressBarred("caught at the socket")

    monkeypatch.setattr(connecting, "check_address", check_but_not_names)

    async def run() -> None:
        async with receiver() as to, sender(lookup=leads_to("127.0.0.1")) as one:
            outcome = await one.send(f"https://{HOST}:{to.port}/", HEADERS, BODY, 10)
            assert isinstance(outcome, Barred) and outcome.error == "caught at the socket"
            assert to.connections == 0

    asyncio.run(run())


def test_what_this_machine_lacks_is_no_failure_of_the_receiver(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(target: object, info: object) -> socket.socket:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(connecting, "open_checked_socket", full)

    async def run() -> None:
        async with receiver() as to:
            with pytest.raises(OSError, match="open files"):
                await send(to)

    asyncio.run(run())


def test_an_error_is_cut_to_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async def lookup(host: str) -> Sequence[Address]:
            raise connecting.AddressBarred("x" * 10_000)

        async with sender(lookup=lookup) as one:
            outcome = await one.send(f"https://{HOST}/", HEADERS, BODY, 10)
            assert isinstance(outcome, Barred) and len(outcome.error) == DELIVERY_ERROR_CHARACTERS

    asyncio.run(run())


def test_the_limit_holds_for_all_of_an_attempt_and_is_named() -> None:
    async def hang(host: str) -> Sequence[Address]:
        await asyncio.Event().wait()
        return []

    async def run() -> None:
        async with sender(lookup=hang) as one:
            outcome = await one.send(f"https://{HOST}/", HEADERS, BODY, 0.2)
            assert isinstance(outcome, Unreachable)
            assert outcome.error == "the name was not resolved within 0.2 s"
            assert 150 <= outcome.duration_ms < 5_000

    asyncio.run(run())
