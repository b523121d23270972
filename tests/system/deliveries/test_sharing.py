"""Several workers on one database share the work and send nothing twice; one that froze is too late."""

import signal
from collections import Counter as Tally

import pytest

from tests.system.deliveries.conftest import OpenDesk
from tests.system.deliveries.desk import Counter
from tests.system.deliveries.hurried import HURRIED
from tests.system.deliveries.recording import HELD, Receiver

# Of one worker to a webhook that has not answered yet.
AT_ONCE = 4
# More than a worker looks at in one go.
MANY = 600
SOON_S = 3


@pytest.mark.parametrize("workers", [2, 4])
def test_workers_share_what_there_is_and_nothing_is_sent_twice(
    workers: int, open_desk: OpenDesk, receiver: Receiver
) -> None:
    desk = open_desk("postgres")
    served = desk.operator.serve("--no-delivery")
    everybody = [desk.operator.work() for _ in range(workers)]
    hook = receiver.hook(f"shared-{workers}", usual=HELD)
    with Counter(desk, served) as counter:
        webhook = counter.webhook(hook, "message.created")
        written = [counter.reply(channel)["id"] for channel in desk.channels for _ in range(2)]
        # Only all of them together can have so many under way while nobody is answered.
        hook.wait_for(AT_ONCE * workers)
        receiver.release(hook)
        hook.wait_for(len(written))
        logs = counter.logs(webhook, len(written))
    assert Tally(hook.message_ids) == Tally(written)
    assert all(entry["success"] for entry in logs)
    for worker in everybody:
        assert worker.stop() == 0
        assert worker.log().count("delivery attempt") >= AT_ONCE
        assert "delivery late" not in worker.log()
    assert served.stop() == 0
    assert len(hook.arrivals) == len(written)


def test_the_late_result_of_a_frozen_worker_is_refused(open_desk: OpenDesk, receiver: Receiver) -> None:
    desk = open_desk("postgres")
    desk.operator.command = HURRIED
    frozen = desk.operator.serve()
    hook = receiver.hook("frozen", HELD)
    with Counter(desk, frozen) as counter:
        webhook = counter.webhook(hook, "message.created")
        written = counter.reply()
        hook.wait_for(1)
        frozen.process.send_signal(signal.SIGSTOP)
        other = desk.operator.work()
        hook.wait_for(2)
        receiver.release(hook)
        other.wait_log("delivery attempt")
        frozen.process.send_signal(signal.SIGCONT)
        frozen.wait_log("delivery late")
        assert counter.figure("deskwire_deliveries_late") == 1
        assert counter.figure("deskwire_deliveries_delivered") == 0
        (entry,) = counter.logs(webhook, 1)
        assert entry["success"] is True
        assert counter.state(webhook)["failure_count"] == 0
    assert hook.message_ids == [written["id"]] * 2
    assert {frozen.stop(), other.stop()} == {0}


def test_what_a_dead_worker_had_keeps_nothing_back_for_longer_than_its_lease(
    open_desk: OpenDesk, receiver: Receiver
) -> None:
    desk = open_desk("postgres")
    desk.operator.command = HURRIED
    served, dead = desk.operator.serve("--no-delivery"), desk.operator.work()
    hook, beside = receiver.hook("survives", HELD, HELD, HELD, HELD), receiver.hook("beside")
    with Counter(desk, served) as counter:
        counter.webhook(hook, "message.created")
        counter.webhook(beside, "contact.created")
        written = [counter.reply(channel)["id"] for channel in desk.channels]
        hook.wait_for(AT_ONCE)
        dead.stop(signal.SIGKILL)
        written += [counter.reply(desk.channels[number % 4])["id"] for number in range(MANY)]
        other = desk.operator.work()
        counter.done("POST", "/contacts", {})
        beside.wait_for(1, SOON_S)
        hook.wait_for_messages(set(written), 40)
    assert {served.stop(), other.stop()} == {0}
