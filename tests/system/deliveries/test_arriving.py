"""What is written through the API arrives at webhooks: once, signed, and tried again as it should be."""

import re
import time
from collections.abc import Iterator
from uuid import uuid4

import pytest

from deskwire import __version__
from tests.system.deliveries.conftest import OpenDesk
from tests.system.deliveries.desk import Counter
from tests.system.deliveries.recording import OK, Arrival, Receiver, Reply
from tests.system.operators import Served, until

REFUSING = Reply(503)
LONGER_THAN_THE_FIRST_WAIT_S = 1.5
ENVELOPE = ["kind", "workspace_id", "timestamp", "data"]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def counter(request: pytest.FixtureRequest, open_desk: OpenDesk) -> Iterator[Counter]:
    """On PostgreSQL the worker is a process of its own."""
    desk = open_desk(request.param)
    processes: list[Served] = []
    if request.param == "sqlite":
        processes.append(desk.operator.serve())
    else:
        processes += [desk.operator.serve("--no-delivery"), desk.operator.work()]
    with Counter(desk, processes[0]) as counter:
        yield counter
    assert [each.stop() for each in processes] == [0] * len(processes)
    assert not any("Traceback" in each.log() for each in processes)


class Sink:
    """A hook and the webhook that leads there."""

    def __init__(
        self, receiver: Receiver, counter: Counter, *plan: Reply, kinds: tuple[str, ...] = ()
    ) -> None:
        self.hook = receiver.hook(str(uuid4()), *plan)
        self.webhook = counter.webhook(self.hook, *kinds)


@pytest.fixture
def sink(receiver: Receiver, counter: Counter) -> Iterator[Sink]:
    made = Sink(receiver, counter)
    yield made
    counter.of_webhook(made.webhook, verb="DELETE")


def test_each_write_that_tells_of_something_arrives_once_and_no_other(sink: Sink, counter: Counter) -> None:
    channel, owner = counter.desk.channels[0], counter.desk.owner
    reply = counter.reply()
    counter.act("read")
    counter.done("POST", f"/channels/{channel}/tags", {"actor_member_id": owner, "tags": ["new"]})
    counter.act("assign", member_id=owner)
    counter.act("assign", member_id=owner)
    counter.act("close")
    counter.act("close")
    counter.act("reopen")
    contact = counter.done("POST", "/contacts", {"name": "Ann"})
    counter.done("POST", f"/contacts/{contact['id']}/tags", {"tags": ["new"]})
    counter.done("PUT", f"/contacts/{contact['id']}/sms-consent", {"opted_in": True})
    counter.done("PATCH", f"/contacts/{contact['id']}", {"name": "Anna"})
    told = ["message.created", "channel.assigned", "channel.closed", "channel.assigned", "channel.reopened"]
    arrivals = sink.hook.wait_for(7)
    assert sorted(sink.hook.kinds) == sorted([*told, "contact.created", "contact.updated"])
    for arrival in arrivals:
        check_form(arrival, sink, counter.desk.workspace)
    by_kind = {arrival.kind: arrival.event for arrival in arrivals}
    assert by_kind["message.created"]["data"]["message_id"] == reply["id"]
    assert by_kind["message.created"]["data"]["content"] == reply["content"]
    assert by_kind["channel.reopened"]["channel"]["status"] == "open"
    assert by_kind["channel.reopened"]["data"]["actor_member_id"] == owner
    versions = [arrival.event["data"]["version"] for arrival in arrivals if "channel." in arrival.kind]
    assert [version - versions[0] for version in versions] == [0, 1, 1, 2]
    assert by_kind["contact.updated"]["data"]["contact"]["display_name"] == "Anna"
    assert [kind for kind in sink.hook.kinds if kind in told] == told
    assert all(entry["success"] for entry in counter.logs(sink.webhook, 7))


def check_form(arrival: Arrival, sink: Sink, workspace: str) -> None:
    """As the contract says, to the last header."""
    headers = dict(arrival.headers)
    assert arrival.line == f"POST /{sink.hook.url.rpartition('/')[2]} HTTP/1.1"
    assert arrival.is_signed_with(sink.webhook.secret)
    assert not arrival.is_signed_with("0" * 64)
    assert abs(arrival.sent_at - time.time()) < 60
    del headers["x-webhook-signature"], headers["x-webhook-timestamp"]
    assert headers == {
        "host": sink.hook.url.split("/")[2],
        "content-type": "application/json",
        "content-length": str(len(arrival.body)),
        "user-agent": f"Deskwire/{__version__}",
    }
    about = [] if arrival.kind.startswith("contact") else ["channel"]
    assert list(arrival.event) == [*ENVELOPE, *about, "assigned_member"]
    assert arrival.event["workspace_id"] == workspace
    assert re.search(rb"[:,] |\\u", arrival.body.replace("Hello, 여".encode(), b"")) is None


def test_a_failed_attempt_is_made_again_with_the_same_body_and_a_fresh_timestamp(
    receiver: Receiver, counter: Counter
) -> None:
    sink = Sink(receiver, counter, Reply(503), Reply(429), kinds=("message.created",))
    counter.reply()
    first, second, third = sink.hook.wait_for(3)
    assert first.body == second.body == third.body
    assert all(each.is_signed_with(sink.webhook.secret) for each in (first, second, third))
    assert first.sent_at < second.sent_at < third.sent_at
    # The receiver's clock and ours are one; what it takes to answer comes on top.
    assert 0.9 < second.at_s - first.at_s < 8
    assert 1.9 < third.at_s - second.at_s < 8
    logs = counter.logs(sink.webhook, 3)
    assert [entry["success"] for entry in logs] == [True, False, False]
    assert [entry.get("http_status") for entry in logs] == [200, 429, 503]
    assert ["error_message" in entry for entry in logs] == [False, True, True]
    assert {entry["event_type"] for entry in logs} == {"message.created"}
    state = counter.state(sink.webhook)
    assert state["failure_count"] == 0 and state["last_delivered_at"] and "error_message" not in state
    counter.of_webhook(sink.webhook, verb="DELETE")


def test_other_answers_end_the_cycle_at_once_and_the_next_one_comes_after_ten_seconds(
    receiver: Receiver, counter: Counter
) -> None:
    sinks = [Sink(receiver, counter, Reply(s), kinds=("contact.created",)) for s in (404, 410, 302)]
    counter.done("POST", "/contacts", {})
    for sink in sinks:
        sink.hook.wait_for(1)
        (entry,) = counter.logs(sink.webhook, 1)
        assert (entry["success"], entry["http_status"] in (404, 410, 302)) == (False, True)
        state = counter.state(sink.webhook)
        assert (state["status"], state["failure_count"]) == ("active", 1)
    for sink in sinks:
        first, second = sink.hook.wait_for(2, 40)
        assert second.at_s - first.at_s > 9.9
        assert second.body == first.body
        assert [entry["success"] for entry in counter.logs(sink.webhook, 2)] == [True, False]
        assert counter.state(sink.webhook)["failure_count"] == 0
        counter.of_webhook(sink.webhook, verb="DELETE")


def test_a_webhook_gets_the_kinds_that_it_asked_for(receiver: Receiver, counter: Counter) -> None:
    sink = Sink(receiver, counter, kinds=("channel.closed", "channel.reopened"))
    counter.reply()
    counter.act("close")
    counter.act("reopen")
    sink.hook.wait_for(2)
    counter.of_webhook(sink.webhook, verb="PATCH", body={"event_filters": []})
    counter.reply()
    sink.hook.wait_for(3)
    assert sink.hook.kinds == ["channel.closed", "channel.reopened", "message.created"]
    counter.of_webhook(sink.webhook, verb="DELETE")


def test_what_waits_is_held_while_a_webhook_is_inactive_and_what_arises_meanwhile_is_not_kept(
    receiver: Receiver, counter: Counter
) -> None:
    sink = Sink(receiver, counter, REFUSING, kinds=("message.created",))
    waiting = counter.reply()
    sink.hook.wait_for(1)
    assert counter.of_webhook(sink.webhook, "/toggle")["status"] == "inactive"
    counter.reply()
    time.sleep(LONGER_THAN_THE_FIRST_WAIT_S)
    assert len(sink.hook.arrivals) == 1
    assert counter.of_webhook(sink.webhook, "/toggle")["status"] == "active"
    later = counter.reply()
    sink.hook.wait_for(3)
    assert sorted(sink.hook.message_ids[1:]) == sorted([waiting["id"], later["id"]])
    counter.of_webhook(sink.webhook, verb="DELETE")


def test_a_deleted_webhook_gets_nothing_more(receiver: Receiver, counter: Counter, sink: Sink) -> None:
    gone = Sink(receiver, counter, REFUSING, kinds=("message.created",))
    counter.reply()
    gone.hook.wait_for(1)
    counter.of_webhook(gone.webhook, verb="DELETE")
    beside = len(sink.hook.arrivals)
    time.sleep(LONGER_THAN_THE_FIRST_WAIT_S)
    counter.reply()
    sink.hook.wait_for(beside + 1)
    assert len(gone.hook.arrivals) == 1
    assert counter.client.api(f"/outbound-webhooks/{gone.webhook.id}/delivery-logs").status == 404


def test_a_new_secret_signs_from_the_answer_on(sink: Sink, counter: Counter) -> None:
    counter.reply()
    sink.hook.wait_for(1)
    rotated = counter.of_webhook(sink.webhook, "/regenerate-secret")
    assert rotated["id"] == sink.webhook.id != rotated["secret"]
    counter.reply()
    before, after = sink.hook.wait_for(2)
    assert before.is_signed_with(sink.webhook.secret)
    assert after.is_signed_with(rotated["secret"]) and not after.is_signed_with(sink.webhook.secret)


def test_the_request_of_a_write_is_named_with_each_attempt(receiver: Receiver, counter: Counter) -> None:
    sink = Sink(receiver, counter, REFUSING, OK, kinds=("message.created",))
    mine = f"trace-{uuid4().hex}"
    counter.reply(X_Request_ID=mine)
    sink.hook.wait_for(2)

    def attempts() -> list[str]:
        logs = (file.read_text() for file in counter.desk.operator.folder.glob("serve-*.log"))
        lines = "".join(logs).splitlines()
        return [line for line in lines if mine in line and sink.webhook.id in line]

    until(lambda: len(attempts()) == 2)
    assert all("delivery attempt" in line and f"request_id={mine} " in line for line in attempts())
    assert ["http_status=503" in line for line in attempts()] == [True, False]
    counter.of_webhook(sink.webhook, verb="DELETE")
