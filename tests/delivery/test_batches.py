"""What is asked while a batch is under way makes the next one, and each gets an answer of its own."""

import asyncio
from collections.abc import Sequence

import pytest

from deskwire.delivery.batches import Batches


class Work:
    """Answers with ten times what is asked, once it is let; remembers its batches."""

    def __init__(self) -> None:
        self.batches: list[tuple[str, list[int]]] = []
        self.has_begun, self.may_end = asyncio.Event(), asyncio.Event()
        self.may_end.set()

    async def __call__(self, key: str, asked: list[int]) -> Sequence[int]:
        self.batches.append((key, asked))
        self.has_begun.set()
        await self.may_end.wait()
        if 13 in asked:
            raise ValueError("13 is asked")
        return [10 * each for each in asked]


def test_what_is_asked_in_one_turn_is_one_batch_for_each_key() -> None:
    async def run() -> None:
        work = Work()
        batches = Batches(work)
        answers = await asyncio.gather(*(batches.ask(key, n) for n in range(3) for key in "ab"))
        assert answers == [0, 0, 10, 10, 20, 20]
        assert sorted(work.batches) == [("a", [0, 1, 2]), ("b", [0, 1, 2])]

    asyncio.run(run())


def test_what_is_asked_meanwhile_is_the_next_batch() -> None:
    async def run() -> None:
        work = Work()
        work.may_end.clear()
        batches = Batches(work)
        asked = [asyncio.create_task(batches.ask("a", 1))]
        await work.has_begun.wait()
        asked += [asyncio.create_task(batches.ask("a", n)) for n in (2, 3)]
        await asyncio.sleep(0)
        work.may_end.set()
        assert await asyncio.gather(*asked) == [10, 20, 30]
        assert work.batches == [("a", [1]), ("a", [2, 3])]

    asyncio.run(run())


def test_a_failure_reaches_all_of_its_batch_and_nobody_else() -> None:
    async def run() -> None:
        batches = Batches(Work())
        asked = [batches.ask("a", 1), batches.ask("a", 13), batches.ask("b", 2)]
        first, second, other = await asyncio.gather(*asked, return_exceptions=True)
        assert isinstance(first, ValueError) and isinstance(second, ValueError)
        assert other == 20
        assert await batches.ask("a", 3) == 30

    asyncio.run(run())


def test_one_that_waits_no_longer_takes_nothing_from_the_others() -> None:
    async def run() -> None:
        work = Work()
        work.may_end.clear()
        batches = Batches(work)
        gone, stays = (asyncio.create_task(batches.ask("a", n)) for n in (1, 2))
        await work.has_begun.wait()
        gone.cancel()
        await asyncio.sleep(0)
        work.may_end.set()
        assert await stays == 20
        with pytest.raises(asyncio.CancelledError):
            await gone

    asyncio.run(run())


def test_what_takes_longer_than_it_may_is_given_up() -> None:
    async def run() -> None:
        work = Work()
        work.may_end.clear()
        batches = Batches(work)
        asked = [asyncio.create_task(batches.ask("a", n)) for n in (1, 2)]
        await work.has_begun.wait()
        await batches.finish(0)
        for each in asked:
            with pytest.raises(asyncio.CancelledError):
                await each

    asyncio.run(run())


def test_to_finish_is_to_answer_what_was_asked_before() -> None:
    async def run() -> None:
        work = Work()
        batches = Batches(work)
        asked = asyncio.create_task(batches.ask("a", 1))
        await asyncio.sleep(0)
        await batches.finish(60)
        assert work.batches == [("a", [1])]
        assert await asked == 10

    asyncio.run(run())
