"""A process of many receivers, each bad in its own way; prints their ports and goes on until killed."""

import asyncio
from contextlib import AsyncExitStack

from tests.delivery.receivers import receiver
from tests.delivery.test_hostile_receivers import DELIVERED, UNREACHABLE


async def main() -> None:
    async with AsyncExitStack() as stack:
        answers = [*DELIVERED.values(), *(answer for answer, _ in UNREACHABLE.values())]
        opened = [await stack.enter_async_context(receiver(answer)) for answer in answers]
        print(*(each.port for each in opened), flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
