"""Receiving webhooks on this machine: every request is verified, shown and answered as wanted."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus

import click

from deskwire.cli.house import Invocation, StartError
from deskwire.cli.interruption import handle
from deskwire.cli.output import complain, print_json
from deskwire.cli.receiver import Connection, Manners, Receiver, Refused, Told
from deskwire.cli.reception import Receptionist
from deskwire.cli.reception_text import block_of

SECOND_US = 1_000_000


def listen(
    invocation: Invocation,
    *,
    host: str,
    port: int,
    secret: tuple[str, ...],
    status: int | None,
    delay: int | None,
    retry_after: int | None,
    drop: bool,
    fail_first: int | None,
    json: bool,
) -> None:
    if drop and (status is not None or retry_after is not None):
        raise click.UsageError(
            "Give either --drop, which answers nothing, or --status and --retry-after.",
            click.get_current_context(),
        )
    usual = HTTPStatus.OK if fail_first is None else HTTPStatus.SERVICE_UNAVAILABLE
    manners = Manners(
        status=usual if status is None else status,
        delay_s=(delay or 0) / SECOND_US,
        retry_after_s=None if retry_after is None else retry_after // SECOND_US,
        drop=drop,
        fail_first=fail_first,
    )
    asyncio.run(receive(host, port, manners, Teller(Receptionist(secret), json)))


class Teller:
    """Prints what was received."""

    def __init__(self, receptionist: Receptionist, json: bool) -> None:
        self._receptionist = receptionist
        self._json = json

    def tell_ready(self, url: str) -> None:
        if self._json:
            print_json({"listening": url})
        else:
            click.echo(f"listening on {url}")

    def tell(self, what: Told | Refused) -> None:
        match what:
            case Told(request, answered):
                reception = self._receptionist.receive(request, answered)
                if self._json:
                    print_json(reception)
                else:
                    click.echo(block_of(reception, indented=sys.stdout.isatty()))
            case Refused(status):
                complain(
                    f"a client was answered {status.value} {status.phrase} before its request was complete"
                )


async def receive(host: str, port: int, manners: Manners, teller: Teller) -> None:
    """Until a signal ends it."""
    loop = asyncio.get_running_loop()
    told: asyncio.Queue[Told | Refused | None] = asyncio.Queue()
    receiver = Receiver(manners, told.put_nowait)
    server = await start(host, port, lambda: Connection(receiver))
    try:
        with heeding_signals(lambda: loop.call_soon_threadsafe(told.put_nowait, None)):
            teller.tell_ready(url_of(server))
            while (what := await told.get()) is not None:
                teller.tell(what)
    finally:
        server.close()
        receiver.close()


@contextmanager
def heeding_signals(end: Callable[[], object]) -> Iterator[None]:
    before = handle(lambda _number, _frame: end())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def start(host: str, port: int, connect: Callable[[], asyncio.Protocol]) -> asyncio.Server:
    try:
        return await asyncio.get_running_loop().create_server(connect, host, port)
    except (OSError, UnicodeError) as error:
        number = getattr(error, "errno", None) or 0
        problem = os.strerror(number) if number > 0 else str(error)
        raise StartError(f"cannot listen on {host} port {port}: {problem}") from error


def url_of(server: asyncio.Server) -> str:
    host, port = server.sockets[0].getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
