"""A bare aiohttp loop, a process: posts bodies as fast as it can and prints how many a second.

It reads as JSON from standard input where to, which bodies in turn, how many, and how many at once.
"""

import asyncio
import json
import sys
import time
from itertools import cycle, islice

import aiohttp
import uvloop

from bench.load import HOST


async def post_all(port: int, bodies: list[bytes], count: int, at_once: int) -> float:
    waiting = islice(cycle(bodies), count)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(f"http://{HOST}:{port}", connector=connector) as session:

        async def post() -> None:
            for body in waiting:
                async with session.post("/bare", data=body) as response:
                    await response.read()

        began_s = time.perf_counter()
        await asyncio.gather(*(post() for _ in range(at_once)))
        return count / (time.perf_counter() - began_s)


def main() -> None:
    plan = json.load(sys.stdin)
    bodies = [text.encode() for text in plan["bodies"]]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(runner.run(post_all(plan["port"], bodies, plan["count"], plan["at_once"])))


if __name__ == "__main__":
    main()
