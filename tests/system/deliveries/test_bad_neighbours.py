"""Bad receivers beside a good one: it says why they fail, and neither memory nor the good one suffers."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import trustme

from tests.delivery import certificates
from tests.system.deliveries.conftest import OpenDesk
from tests.system.deliveries.desk import Counter, Desk, Webhook
from tests.system.deliveries.recording import HELD, Hook, Receiver
from tests.system.operators import ROOT, Served

AUTHORITY = certificates.AUTHORITY
CERTIFICATES = {
    "good": (AUTHORITY.issue_cert("localhost"), None),
    "expired": (
        AUTHORITY.issue_cert("localhost", not_before=certificates.PAST, not_after=certificates.NEAR_PAST),
        "the certificate is not valid: expired",
    ),
    "misnamed": (AUTHORITY.issue_cert("other.test"), "the certificate is not valid: it is for another name"),
}
GROWTH_MAX_MIB = 20
HOSTILE_FOR_S = 4
DEAD, STRESS_DEAD = 200, 2_000
BACKLOG = 2_000
WRITES = 20
# Of a slow machine; the benchmark shows what it takes. Whoever waits for the bad ones waits for 10 s.
QUICK_S = 3.0


class TlsReceiver:
    def __init__(self, certificate: trustme.LeafCert, error: str | None) -> None:
        self.receiver = Receiver(certificates.showing(certificate), "localhost")
        self.error = error


@pytest.fixture
def tls_receivers() -> Iterator[dict[str, TlsReceiver]]:
    opened = {name: TlsReceiver(*each) for name, each in CERTIFICATES.items()}
    yield opened
    for each in opened.values():
        each.receiver.close()


def test_the_log_says_what_is_wrong_with_a_certificate(
    open_desk: OpenDesk, tls_receivers: dict[str, TlsReceiver], tmp_path: Path
) -> None:
    trusted = tmp_path / "authority.pem"
    AUTHORITY.cert_pem.write_to_path(str(trusted))
    places = [each.receiver.place for each in tls_receivers.values()]
    desk = open_desk("sqlite", *places, SSL_CERT_FILE=str(trusted))
    served = desk.operator.serve()
    with Counter(desk, served) as counter:
        hooks = {name: each.receiver.hook(name) for name, each in tls_receivers.items()}
        webhooks = {name: counter.webhook(hook) for name, hook in hooks.items()}
        counter.reply()
        for name, webhook in webhooks.items():
            first = counter.logs(webhook, 1)[-1]
            error = tls_receivers[name].error
            assert first["success"] is (error is None)
            assert str(first.get("error_message", "")).startswith(error or "")
            assert first.get("http_status") == (200 if error is None else None)
            assert len(hooks[name].arrivals) == (error is None)
    assert served.stop() == 0


@contextmanager
def hostile_ports() -> Iterator[list[int]]:
    command = [sys.executable, "-m", "tests.system.deliveries.hostility"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout
        try:
            yield [int(port) for port in process.stdout.readline().split()]
        finally:
            process.kill()


class Good:
    """A webhook whose events arrive at once, and the longest that one of them took."""

    def __init__(self, counter: Counter, hook: Hook) -> None:
        self._counter, self._hook = counter, hook
        self.slowest_s = 0.0
        counter.webhook(hook, "message.created")

    def write(self) -> None:
        id = self._counter.reply()["id"]
        acknowledged_at = time.monotonic()
        self._hook.wait_for_messages({id}, 20)
        self.slowest_s = max(self.slowest_s, self._hook.arrivals[-1].at_s - acknowledged_at)


def test_hostile_receivers_cost_little_memory_and_nobody_else_any_time(
    open_desk: OpenDesk, receiver: Receiver
) -> None:
    with hostile_ports() as ports:
        desk = open_desk("sqlite", *(f"127.0.0.1:{port}" for port in ports))
        served = desk.operator.serve()
        with Counter(desk, served) as counter:
            good = Good(counter, receiver.hook("amid-hostility"))
            harmless = [counter.webhook(receiver.hook(f"harmless-{port}")) for port in ports]
            for _ in range(WRITES):
                good.write()
            for webhook in harmless:
                counter.of_webhook(webhook, verb="DELETE")
            # What as many good receivers take is no growth.
            before_mib = most_mib = served.resident_mib()
            good.slowest_s = 0.0
            for port in ports:
                counter.webhook(Hook(f"http://127.0.0.1:{port}/hook", [], HELD))
            ends_at = time.monotonic() + HOSTILE_FOR_S
            while time.monotonic() < ends_at:
                good.write()
                most_mib = max(most_mib, served.resident_mib())
                time.sleep(0.2)
            assert counter.figure("deskwire_delivery_attempts_failed") > 0
        assert good.slowest_s < QUICK_S
        assert most_mib - before_mib < GROWTH_MAX_MIB
        assert served.stop() == 0


@pytest.fixture
def refusing_place() -> Iterator[str]:
    """A port that nobody listens on, and that nobody else gets."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


@pytest.mark.timeout(900)
def test_dead_and_hanging_webhooks_delay_nobody_else(
    open_desk: OpenDesk, receiver: Receiver, refusing_place: str, pytestconfig: pytest.Config
) -> None:
    desk = open_desk("sqlite", refusing_place)
    served = desk.operator.serve()
    many = STRESS_DEAD if pytestconfig.getoption("--stress") else DEAD
    with Counter(desk, served) as counter:
        for number in range(many // 2):
            counter.webhook(receiver.hook(f"hangs-{number}", usual=HELD), "message.created")
            counter.webhook(Hook(f"http://{refusing_place}/{number}", [], HELD), "message.created")
        good = Good(counter, receiver.hook("amid-the-dead"))
        for _ in range(WRITES):
            good.write()
        assert counter.figure("deskwire_deliveries_claimed") >= many // 2
        assert good.slowest_s < QUICK_S
        end_hastily(served)


def test_a_hanging_webhook_with_a_long_backlog_delays_nobody_else(
    open_desk: OpenDesk, receiver: Receiver
) -> None:
    desk = open_desk("sqlite")
    served = desk.operator.serve()
    hanging = receiver.hook("backlog", usual=HELD)
    with Counter(desk, served) as counter:
        webhook = counter.webhook(hanging, "contact.created")
        good = Good(counter, receiver.hook("beside-a-backlog"))
        write_contacts(desk, served, BACKLOG)
        for _ in range(WRITES):
            good.write()
        assert good.slowest_s < QUICK_S
        assert len(hanging.arrivals) < BACKLOG // 10
        assert_nothing_was_delivered(counter, webhook)
        end_hastily(served)


def write_contacts(desk: Desk, served: Served, count: int) -> None:
    def write(share: int) -> None:
        with Counter(desk, served) as counter:
            for _ in range(share):
                counter.done("POST", "/contacts", {})

    with ThreadPoolExecutor(4) as writers:
        list(writers.map(write, [count // 4] * 4))


def assert_nothing_was_delivered(counter: Counter, webhook: Webhook) -> None:
    assert "last_delivered_at" not in counter.state(webhook)


def end_hastily(served: Served) -> None:
    """Whoever hangs would be given its time."""
    served.process.kill()
    with suppress(OSError):
        served.wait()
