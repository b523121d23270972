"""A clock that is set back by a day and forward by 25 hours while the desk is served."""

import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from deskwire.model.limits import CYCLE_ATTEMPTS
from tests.faults.arrivals import REFUSED, TAKEN, Arrivals
from tests.faults.desk import FaultyDesk
from tests.faults.moved_clock import FILE
from tests.faults.report import Report
from tests.system.conftest import Hire
from tests.system.operators import Client, until
from tests.system.writers import REPLIES, TIMES

DAY_S, HOUR_S = 24 * 60 * 60, 60 * 60
SERVING = (sys.executable, "-P", "-m", "tests.faults.moved_clock")
WAITING = 3
# In seconds, since a machine may have much else to do; without the cure it would be hours.
SOON_S = 60


class MovedDesk(FaultyDesk):
    """Its replies are told apart by their numbers, and its clock is where `move` put it."""

    def __init__(self, hire: Hire, engine: str, arrivals: Arrivals) -> None:
        operator = hire(engine)
        self._clock = operator.folder / "clock"
        operator.command = SERVING
        operator.settings |= arrivals.settings | {FILE: str(self._clock)}
        self.move(0)
        self.ids: list[str] = []
        super().__init__(operator)

    def move(self, seconds: int) -> None:
        new = self._clock.with_suffix(".new")
        new.write_text(str(seconds))
        new.replace(self._clock)

    def reply(self, client: Client, number: int) -> list[str]:
        """The texts of that many new ones."""
        texts = [f"reply {len(self.ids) + at}" for at in range(number)]
        for text in texts:
            answer = client.post(REPLIES, {"content_type": "text", "content": text})
            assert answer.status == 201, answer.body
            self.ids.append(answer.json["data"]["id"])
        return texts


def wait_until_refused(arrivals: Arrivals, texts: Sequence[str]) -> None:
    """A whole cycle of each was in vain, so that it waits for the next one."""
    until(lambda: all(arrivals.refused[text] == CYCLE_ATTEMPTS for text in texts), SOON_S)


def token_for_half_a_day(desk: FaultyDesk) -> str:
    made = desk.operator.run(
        *("token", "create", "--workspace", desk.workspace, "--name", "short", "--all-scopes"),
        *("--expires-in", "12h", "--json"),
    )
    return str(made.json["token"])


def ids_by_pages(client: Client) -> list[str]:
    """Of the channel's messages, two at a time, from days before the clock was set back until after all."""
    now = datetime.now(UTC)
    since, until = ((now + timedelta(days=days)).strftime(TIMES) for days in (-3, 3))
    found: list[str] = []
    cursor = ""
    while True:
        answer = client.api(f"{REPLIES}?limit=2&since={since}&until={until}{cursor}")
        found += [message["id"] for message in answer.data]
        if not answer.json["meta"]["has_more"]:
            return found
        cursor = f"&cursor={answer.json['meta']['next_cursor']}"


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.stress)])
def test_a_clock_that_is_set_back_and_forward_is_borne(
    hire: Hire, engine: str, arrivals: Arrivals, report: Report
) -> None:
    desk = MovedDesk(hire, engine, arrivals)
    with desk.client() as client, desk.served.client(token_for_half_a_day(desk)) as brief:
        arrivals.subscribe(client)
        for name in ("Kim", "Lee", "Park"):
            assert client.post("/contacts", {"name": name}).status == 201
        page = f"/contacts?limit=1&cursor={client.api('/contacts?limit=1').json['meta']['next_cursor']}"

        arrivals.status = REFUSED
        waiting = desk.reply(client, WAITING)
        wait_until_refused(arrivals, waiting)
        arrivals.status = TAKEN
        desk.move(-DAY_S)
        began_at = time.monotonic()
        waiting += desk.reply(client, WAITING)
        until(lambda: arrivals.taken.keys() == set(waiting), SOON_S)
        after_back_s = time.monotonic() - began_at
        assert client.api(page).status == brief.api("/workspace").status == 200

        desk.move(0)
        arrivals.status = REFUSED
        lapsing = desk.reply(client, WAITING)
        wait_until_refused(arrivals, lapsing)
        arrivals.status = TAKEN
        desk.move(25 * HOUR_S)
        began_at = time.monotonic()
        new = desk.reply(client, WAITING)
        until(lambda: set(new) <= arrivals.taken.keys(), SOON_S)
        after_forward_s = time.monotonic() - began_at
        until(lambda: desk.served.log().count("delivery discarded") == WAITING, SOON_S)
        assert arrivals.taken.keys() == {*waiting, *new}
        assert client.api(page).code == "INVALID_QUERY"
        assert brief.api("/workspace").code == "INVALID_TOKEN"
        assert len(set(desk.ids)) == len(desk.ids)
        assert sorted(ids_by_pages(client)) == sorted(desk.ids)
    desk.move(0)
    assert desk.served.stop() == 0
    desk.assert_sound()
    report(
        fired=3,
        replies=len(desk.ids),
        lost=0,
        delivered_after_going_back_s=after_back_s,
        delivered_after_going_forward_s=after_forward_s,
        given_up_beyond_24_hours=WAITING,
    )
