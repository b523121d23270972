"""One attempt: one HTTP request to a receiver, and how it ended."""

import asyncio
import ssl
from collections.abc import Mapping
from functools import lru_cache
from time import monotonic
from types import TracebackType
from typing import Self

from deskwire.delivery.answers import Connection, NotHttp
from deskwire.delivery.connecting import AddressBarred, connect, find_addresses
from deskwire.delivery.connections import Connections
from deskwire.delivery.exchange import Exchange, Stage
from deskwire.delivery.explaining import explain_answer, explain_way, is_our_own, let_go_of_frames
from deskwire.delivery.limiting import within
from deskwire.delivery.resolving import Lookup, ResolutionFailed
from deskwire.model.deliveries import Barred, Delivered, Outcome, Refused, Unreachable
from deskwire.model.limits import DELIVERY_ERROR_CHARACTERS
from deskwire.model.retry_after import parse_retry_after
from deskwire.model.webhook_urls import Allow, Target, UrlRefused, parse_target
from deskwire.store.clock import Clock, system_clock

TARGETS_REMEMBERED = 4096


class Sender:
    """Sends to any number of receivers at once. To be made while a loop runs, and closed.

    `ssl_context` is for tests; without one, the machine's certificates and SSL_CERT_FILE are trusted.
    """

    def __init__(
        self,
        lookup: Lookup,
        *,
        allow: Allow = (),
        ssl_context: ssl.SSLContext | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self._lookup = lookup
        self._clock = clock
        self._allow = frozenset(allow)
        self._target = lru_cache(TARGETS_REMEMBERED)(self._parse)
        self._ssl_context = ssl_context or ssl.create_default_context()
        self._connections = Connections()

    async def send(self, url: str, headers: Mapping[str, str], body: bytes, limit_s: float) -> Outcome:
        """One request within the limit, from the name to the end of the answer.

        Raises OSError where this machine lacks what a connection needs, which says nothing of the receiver.
        """
        started = monotonic()
        try:
            target, start = self._target(url)
        except UrlRefused as refused:
            return Barred(_ms_since(started), f"the URL {refused}")
        exchange = Exchange()
        error = ""
        try:
            await within(limit_s, self._post(exchange, target, _request(start, headers, body)))
        except TimeoutError:
            error = f"{exchange.stage.value} within {round(limit_s, 1):g} s"
        except AddressBarred as barred:
            return Barred(_ms_since(started), _cut(str(barred)))
        except (OSError, ResolutionFailed) as failure:
            if is_our_own(failure):
                raise
            error = explain_way(failure)
            let_go_of_frames(failure)
        return self._outcome(exchange, _ms_since(started), error)

    async def close(self) -> None:
        """What is under way fails; idle connections are closed."""
        self._connections.close()
        # What was aborted ends in the next turn.
        await asyncio.sleep(0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _parse(self, url: str) -> tuple[Target, str]:
        target = parse_target(url, self._allow)
        return target, f"POST {target.path} HTTP/1.1\r\nHost: {target.authority}\r\n"

    async def _post(self, exchange: Exchange, target: Target, request: bytes) -> None:
        """Once, whatever becomes of it: the contract counts requests."""
        connection = self._connections.take(target) or await self._connect(exchange, target)
        exchange.stage = Stage.ANSWERING
        try:
            await connection.ask(exchange, request)
        finally:
            self._connections.give_back(target, connection)
        if exchange.failure is None:
            return
        if connection.was_dead:
            self._connections.mistrust(target)
        if is_our_own(exchange.failure):
            raise exchange.failure

    async def _connect(self, exchange: Exchange, target: Target) -> Connection:
        addresses = await find_addresses(target, self._lookup)
        exchange.stage = Stage.CONNECTING
        return await connect(target, addresses, self._ssl_context, self._connections.make)

    def _outcome(self, exchange: Exchange, duration_ms: int, error: str) -> Outcome:
        """The head of an answer decides, whatever becomes of its body.

        A receiver that has said 2xx has taken the event; to send it again because the rest did not come in
        time would be a duplicate.
        """
        match exchange.status:
            case None:
                return Unreachable(duration_ms, _cut(error or explain_answer(exchange.failure)))
            case status if 200 <= status <= 299:
                return Delivered(status, duration_ms)
            case status if status < 100:
                return Unreachable(duration_ms, explain_answer(NotHttp()))
            case status:
                return Refused(status, duration_ms, f"the receiver answered {status}", self._wait_s(exchange))

    def _wait_s(self, exchange: Exchange) -> int | None:
        if exchange.status not in (429, 503) or not exchange.retry_after:
            return None
        return parse_retry_after(exchange.retry_after.decode("latin-1"), self._clock())


def _request(start: str, headers: Mapping[str, str], body: bytes) -> bytes:
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    return f"{start}{lines}Content-Length: {len(body)}\r\n\r\n".encode("ascii") + body


def _ms_since(started: float) -> int:
    return round((monotonic() - started) * 1000)


def _cut(text: str) -> str:
    return text[:DELIVERY_ERROR_CHARACTERS]
