"""The rate limit of a token, and the bound on requests at work."""

import asyncio
import re
from typing import Any

import pytest

from deskwire.api.app import Api
from deskwire.api.endpoint import Answers, Call, Endpoint
from deskwire.api.rate_limit import RateLimiter
from deskwire.model.limits import RATE_WINDOW_US
from deskwire.model.people import Workspace
from deskwire.store.transaction import Tx
from tests.api.asking import api_of, ask
from tests.api.client import Answer
from tests.api.desk import Desk, House


def limited(house: House, limit: int) -> Api:
    """The application of one process; another call stands for another process on the same database."""
    return api_of(house, limiter=RateLimiter(house.store, house.clock, limit))


def get(desk: Desk, app: Api, path: str = "/workspace", secret: str | None = None) -> Answer:
    return desk.house.run(ask(app, secret or desk.secret, "GET", path))


def standing(answer: Answer) -> tuple[int, int]:
    found = re.fullmatch(r'"token";r=(\d+);t=(\d+)', answer.header("ratelimit") or "")
    assert found is not None
    return int(found[1]), int(found[2])


def test_a_token_may_make_so_many_requests_a_minute(desk: Desk) -> None:
    app = limited(desk.house, 60)
    answers = [get(desk, app) for _ in range(61)]
    assert [answer.status for answer in answers] == [200] * 60 + [429]
    assert [standing(answer) for answer in answers] == [(59 - n, 60) for n in range(60)] + [(0, 60)]
    assert answers[-1].code == "RATE_LIMITED"
    assert answers[-1].header("retry-after") == "60"
    assert {answer.header("ratelimit-policy") for answer in answers} == {'"token";q=60;w=60'}


def test_a_window_begins_with_its_first_request_and_ends_a_minute_later(desk: Desk) -> None:
    app = limited(desk.house, 1)
    assert get(desk, app).status == 200
    desk.house.clock.advance(RATE_WINDOW_US - 1_500_000)
    refused = get(desk, app)
    assert (refused.status, refused.header("retry-after"), standing(refused)) == (429, "2", (0, 2))
    desk.house.clock.advance(1_500_000)
    assert standing(get(desk, app)) == (0, 60)
    assert get(desk, app).status == 429


def test_each_token_has_its_own_window(desk: Desk) -> None:
    app, other = limited(desk.house, 1), desk.token()
    assert get(desk, app).status == 200
    assert get(desk, app).status == 429
    assert get(desk, app, secret=other).status == 200


def test_what_is_refused_counts_and_tells_what_is_left(desk: Desk) -> None:
    app = limited(desk.house, 5)
    assert standing(get(desk, app, f"/contacts/{desk.owner_id}")) == (4, 60)
    assert standing(get(desk, app, "/contacts?limit=0")) == (3, 60)


def test_who_has_no_token_is_told_the_policy_alone(desk: Desk) -> None:
    answer = get(desk, limited(desk.house, 5), secret="dwp_unknown")
    assert answer.status == 401
    assert answer.header("ratelimit-policy") == '"token";q=5;w=60'
    assert answer.header("ratelimit") is None


def test_what_is_answered_before_the_token_does_not_count_and_tells_the_policy_alone(desk: Desk) -> None:
    app = limited(desk.house, 5)
    unknown = get(desk, app, "/nowhere")
    wrong = desk.house.run(ask(app, desk.secret, "DELETE", "/workspace"))
    assert [unknown.status, wrong.status] == [404, 405]
    for answer in (unknown, wrong):
        assert answer.header("ratelimit-policy") == '"token";q=5;w=60'
        assert answer.header("ratelimit") is None
    assert standing(get(desk, app)) == (4, 60)


def test_without_a_limit_no_answer_speaks_of_one(desk: Desk) -> None:
    answer = get(desk, api_of(desk.house))
    assert not [name for name, _ in answer.headers if name.startswith("ratelimit")]


@pytest.mark.parametrize("limit", [7, 300, 1_000])
def test_several_processes_together_let_through_the_limit_within_a_tenth(desk: Desk, limit: int) -> None:
    """All have begun to spend, then one asks alone: it loses what the others have taken and not spent."""
    apps = [limited(desk.house, limit) for _ in range(5)]
    through = sum(get(desk, app).status == 200 for app in apps)
    while get(desk, apps[0]).status == 200:
        through += 1
    assert 0.9 * limit <= through <= limit
    rest = sum(get(desk, app).status == 200 for app in apps for _ in range(limit // 50 + 1))
    assert through + rest <= limit


def test_simultaneous_requests_in_several_processes_stay_within_the_limit(desk: Desk) -> None:
    apps = [limited(desk.house, 100) for _ in range(3)]

    async def everybody() -> list[Answer]:
        return await asyncio.gather(
            *(ask(app, desk.secret, "GET", "/workspace") for app in apps for _ in range(60))
        )

    passed = [answer for answer in desk.house.run(everybody()) if answer.status == 200]
    assert 90 <= len(passed) <= 100


def test_beyond_so_many_requests_at_work_the_answer_is_503_at_once(desk: Desk) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()

    class SlowStore:
        async def read(self, operation: Any) -> bytes:
            begun.set()
            await may_end.wait()
            return b"{}"

    async def operation(tx: Tx, call: Call) -> bytes:
        raise AssertionError("the store does not run it")

    slow = Endpoint(
        method="GET",
        path="/slow",
        scopes=(),
        answers=Answers.OBJECT,
        shows=Workspace,
        operation=operation,
        summary="Slow",
    )

    async def all_of_them() -> tuple[Answer, Answer, Answer]:
        app = api_of(desk.house, [slow], most_at_work=1)
        app._store = SlowStore()  # type: ignore[assignment]
        first = asyncio.create_task(ask(app, desk.secret, "GET", "/slow"))
        await begun.wait()
        # Not even the token is looked at.
        second = await ask(app, "dwp_unknown", "GET", "/slow")
        may_end.set()
        return await first, second, await ask(app, desk.secret, "GET", "/slow")

    first, second, third = desk.house.run(all_of_them())
    assert (first.status, third.status) == (200, 200)
    assert second.failure == (503, "UNAVAILABLE")
    assert second.header("retry-after") == "1"
