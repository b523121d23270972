"""Sends attempts at once, in a process that its test stops, and prints how they ended."""

import asyncio
import sys

import uvloop

from deskwire.delivery.sending import Sender
from tests.delivery.receivers import BODY, HEADERS, HOST, leads_to

LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


async def send(port: int, attempts: int, limit_s: float) -> None:
    async with Sender(leads_to("127.0.0.1"), allow=[(HOST, port)]) as sender:
        url = f"http://{HOST}:{port}/hook"
        sending = (sender.send(url, HEADERS, BODY, limit_s) for _ in range(attempts))
        for outcome in await asyncio.gather(*sending):
            print(getattr(outcome, "error", "delivered"))


def main(loop: str, port: str, attempts: str, limit_s: str) -> None:
    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        runner.run(send(int(port), int(attempts), float(limit_s)))


if __name__ == "__main__":
    main(*sys.argv[1:])
