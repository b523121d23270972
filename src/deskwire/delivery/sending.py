"""One attempt: one HTTP request to a receiver, and how it ended."""

import asyncio
import ssl
from collections.abc import Mapping
from functools import lru_cache
from time import monotonic
from types import TracebackType
from typing import Self

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar
from aiohttp.client_exceptions import ClientConnectionError
from yarl import URL

from deskwire.delivery.answers import HeadTooLong, let_go_of_frames, read_body
from deskwire.delivery.connecting import AddressBarred, Connector
from deskwire.delivery.exchange import Exchange, current
from deskwire.delivery.explaining import FAULTS_OF_OUR_OWN, explain
from deskwire.delivery.resolving import Lookup, ResolutionFailed
from deskwire.model.deliveries import Barred, Delivered, Outcome, Refused, Unreachable
from deskwire.model.limits import ANSWER_HEADER_MAX_BYTES, ANSWER_PIECE_BYTES, DELIVERY_ERROR_CHARACTERS
from deskwire.model.retry_after import parse_retry_after
from deskwire.model.webhook_urls import Allow, Target, UrlRefused, parse_target
from deskwire.store.clock import Clock, system_clock

TARGETS_REMEMBERED = 4096
# What aiohttp would add to every request by itself.
HEADERS_LEFT_OUT = ("Accept", "Accept-Encoding", "User-Agent", "Content-Type")


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
        self._clock = clock
        self._allow = frozenset(allow)
        self._target = lru_cache(TARGETS_REMEMBERED)(self._parse)
        self._session = ClientSession(
            connector=Connector(lookup, ssl_context or ssl.create_default_context()),
            cookie_jar=DummyCookieJar(),
            skip_auto_headers=HEADERS_LEFT_OUT,
            auto_decompress=False,
            read_bufsize=ANSWER_PIECE_BYTES,
            # The time is taken here: aiohttp rounds it up to whole seconds.
            timeout=ClientTimeout(total=None, sock_connect=None),
            max_line_size=ANSWER_HEADER_MAX_BYTES,
            max_field_size=ANSWER_HEADER_MAX_BYTES,
        )

    async def send(self, url: str, headers: Mapping[str, str], body: bytes, limit_s: float) -> Outcome:
        """One request within the limit, from the name to the end of the answer.

        Raises OSError where this machine lacks what a connection needs, which says nothing of the receiver.
        """
        started = monotonic()
        try:
            target, parsed_url = self._target(url)
        except UrlRefused as refused:
            return Barred(_ms_since(started), f"the URL {refused}")
        exchange = Exchange(target)
        token = current.set(exchange)
        try:
            async with asyncio.timeout(limit_s):
                await self._post(exchange, parsed_url, headers, body)
        except TimeoutError:
            error = f"{exchange.stage.value} within {round(limit_s, 1):g} s"
        except AddressBarred as barred:
            return Barred(_ms_since(started), _cut(str(barred)))
        except (ClientError, OSError, ResolutionFailed, HeadTooLong) as failure:
            if isinstance(failure, OSError) and failure.errno in FAULTS_OF_OUR_OWN:
                raise
            error = explain(failure)
            let_go_of_frames(failure)
        else:
            error = ""
        finally:
            current.reset(token)
        return self._outcome(exchange, _ms_since(started), error)

    async def close(self) -> None:
        """What is under way fails; idle connections are closed."""
        await self._session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _parse(self, url: str) -> tuple[Target, URL]:
        target = parse_target(url, self._allow)
        return target, URL(target.url, encoded=True)

    async def _post(self, exchange: Exchange, url: URL, headers: Mapping[str, str], body: bytes) -> None:
        try:
            await self._post_once(exchange, url, headers, body)
        except ClientConnectionError:
            if not exchange.met_a_dead_connection:
                raise
            exchange.needs_new_connection = True
            await self._post_once(exchange, url, headers, body)

    async def _post_once(self, exchange: Exchange, url: URL, headers: Mapping[str, str], body: bytes) -> None:
        response = await self._session.request("POST", url, headers=headers, data=body, allow_redirects=False)
        exchange.status = response.status
        exchange.retry_after = response.headers.get("Retry-After", "")
        await read_body(response)

    def _outcome(self, exchange: Exchange, duration_ms: int, error: str) -> Outcome:
        """The head of an answer decides, whatever becomes of its body.

        A receiver that has said 2xx has taken the event; to send it again because the rest did not come in
        time would be a duplicate.
        """
        match exchange.status:
            case None:
                return Unreachable(duration_ms, _cut(error))
            case status if 200 <= status <= 299:
                return Delivered(status, duration_ms)
            case status if status < 100:
                return Unreachable(duration_ms, "the answer is not valid HTTP")
            case status:
                return Refused(status, duration_ms, f"the receiver answered {status}", self._wait(exchange))

    def _wait(self, exchange: Exchange) -> int | None:
        if exchange.status not in (429, 503) or not exchange.retry_after:
            return None
        return parse_retry_after(exchange.retry_after, self._clock())


def _ms_since(started: float) -> int:
    return round((monotonic() - started) * 1000)


def _cut(text: str) -> str:
    return text[:DELIVERY_ERROR_CHARACTERS]
