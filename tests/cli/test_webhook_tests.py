"""`deskwire webhook test | doctor`, to real receivers."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import msgspec
import pytest

from deskwire.desk.webhook_rows import load_webhook, put_webhook
from deskwire.model.moments import Moment
from deskwire.model.received_events import read_event
from deskwire.model.signatures import sign
from deskwire.model.vocabulary import EventKind, words
from deskwire.model.webhooks import WebhookRecord
from deskwire.store.clock import system_clock
from deskwire.store.sqlite import SqliteStore
from tests.cli.conftest import Deskwire, caller
from tests.cli.house import SEAL, SqliteHouse
from tests.cli.receivers import running
from tests.cli.test_webhooks import MINUTE_US, NOBODY, PUT_DELIVERY, write
from tests.delivery import certificates
from tests.delivery.receivers import HOST, Receiver, leads_to

WEBHOOK = "018f3e1c-7c2a-7b11-9a53-0000000000b1"
SECRET = "5e" * 32


@dataclass
class Trial:
    """A webhook, and where its URL leads to."""

    deskwire: Deskwire
    house: SqliteHouse
    workspace: str

    def lead_to(self, receiver: Receiver, **fields: Any) -> None:
        self.house.allow = receiver.allow
        self.put(receiver.url, **fields)

    def put(self, url: str, **fields: Any) -> None:
        record = WebhookRecord(
            **{
                "id": WEBHOOK,
                "name": "Order desk",
                "url": url,
                "event_filters": (),
                "secret": SEAL.seal(SECRET.encode(), WEBHOOK),
                "created_at": Moment(1),
                "updated_at": Moment(1),
                **fields,
            }
        )
        write(self.house.folder, lambda tx: put_webhook(tx, self.workspace, record))

    def kept(self) -> WebhookRecord:
        async def load() -> WebhookRecord | None:
            store = SqliteStore(self.house.folder / "deskwire.db", system_clock)
            try:
                return await store.read(lambda tx: load_webhook(tx, self.workspace, WEBHOOK))
            finally:
                await store.close()

        found = asyncio.run(load())
        assert found is not None
        return found

    def deliver_since(self, minutes: int, **fields: Any) -> None:
        """One event more is on its way, and due since so many minutes."""
        due_at = system_clock() - minutes * MINUTE_US
        row = {
            "workspace_id": self.workspace,
            "webhook_id": WEBHOOK,
            "event_id": NOBODY,
            "order_key": NOBODY,
            "accepted_at": due_at,
            "due_at": due_at,
            "held": False,
            "counts": True,
            "untried": True,
            "cycles": 0,
            "holder": None,
            "fence": 0,
            **fields,
        }
        write(self.house.folder, lambda tx: tx.run(PUT_DELIVERY, **row))


@pytest.fixture
def trial(folder: Path, workspace: str, capsys: pytest.CaptureFixture[str]) -> Trial:
    house = SqliteHouse(folder)
    house.lookup = leads_to("127.0.0.1")
    return Trial(caller(house, capsys), house, workspace)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running() as one:
        yield one


def refusing(status: int, more: str = "") -> bytes:
    return f"HTTP/1.1 {status} No\r\n{more}Content-Length: 0\r\n\r\n".encode()


@pytest.mark.parametrize("kind", words(EventKind))
def test_a_test_of_each_kind_arrives_signed_and_in_the_shape_of_an_event(
    trial: Trial, receiver: Receiver, kind: str
) -> None:
    trial.lead_to(receiver)
    before = system_clock()
    sent = trial.deskwire("webhook", "test", WEBHOOK, "--kind", kind, "--json").json
    head, _, body = receiver.requests[0].partition(b"\r\n\r\n")
    event = read_event(body)
    assert (event.kind, event.workspace_id) == (kind, trial.workspace)
    assert before <= event.timestamp <= system_clock()
    assert f"X-Webhook-Signature: {sign(SECRET, body)}".encode() in head
    assert sent == {
        "id": WEBHOOK,
        "url": receiver.url,
        "event_type": kind,
        "success": True,
        "http_status": 200,
        "error_message": None,
        "duration_ms": sent["duration_ms"],
        "log_id": 1,
        "body": msgspec.json.decode(body),
    }


def test_a_test_is_logged_as_one_and_leaves_the_webhook_as_it_was(trial: Trial) -> None:
    fields = {"failure_count": 4, "failing_since": Moment(5), "error_message": "no answer", "last_log_id": 7}
    with running(refusing(500)) as receiver:
        trial.lead_to(receiver, **fields)
        before = trial.kept()
        assert trial.deskwire("webhook", "test", WEBHOOK).code == 1
    with running() as receiver:
        trial.lead_to(receiver, **{**fields, "last_log_id": 8})
        assert trial.deskwire("webhook", "test", WEBHOOK).code == 0
    after = trial.kept()
    assert after == msgspec.structs.replace(before, url=after.url, secret=after.secret, last_log_id=9)
    entries = trial.deskwire("webhook", "logs", WEBHOOK, "--json").json["entries"]
    assert [(each["is_test"], each["success"], each["http_status"]) for each in entries[:2]] == [
        (True, True, 200),
        (True, False, 500),
    ]
    assert [each["id"] for each in entries[:2]] == [9, 8]
    assert trial.deskwire("check").out.count("last_log_id") == 0


def test_people_read_what_was_sent_and_what_came_back(trial: Trial, receiver: Receiver) -> None:
    trial.lead_to(receiver, event_filters=("channel.closed", "contact.created"))
    code, out, err = trial.deskwire("webhook", "test", WEBHOOK)
    assert (code, err) == (0, "")
    assert read_event(receiver.requests[0].partition(b"\r\n\r\n")[2]).kind == "channel.closed"
    for words_of_it in ("channel.closed", receiver.url, "answered 200", " ms", "#1"):
        assert words_of_it in out


def test_a_test_that_fails_exits_with_1_and_says_why(trial: Trial) -> None:
    with running(refusing(404)) as receiver:
        trial.lead_to(receiver)
        failed = trial.deskwire("webhook", "test", WEBHOOK)
    assert failed.code == 1 and "failed: the receiver answered 404" in failed.out
    failed = trial.deskwire("webhook", "test", WEBHOOK, "--json")
    assert failed.code == 1
    assert msgspec.json.decode(failed.out)["error_message"] == "connection refused"


def test_the_rules_of_urls_hold_for_tests_too(trial: Trial, receiver: Receiver) -> None:
    trial.put(f"https://{HOST}:{receiver.port}/")
    failed = trial.deskwire("webhook", "test", WEBHOOK)
    assert failed.code == 1 and "127.0.0.1" in failed.out
    assert receiver.connections == 0


def test_an_inactive_webhook_can_be_tested(trial: Trial, receiver: Receiver) -> None:
    trial.lead_to(receiver, status="inactive")
    assert trial.deskwire("webhook", "test", WEBHOOK).code == 0
    assert trial.kept().status == "inactive"


def test_a_secret_of_another_key_sends_nothing(trial: Trial, receiver: Receiver) -> None:
    trial.lead_to(receiver, secret=b"x" * 60)
    failed = trial.deskwire("webhook", "test", WEBHOOK)
    assert failed.code == 1 and "DESKWIRE_SECRET_KEY" in failed.out
    assert receiver.connections == 0


def test_an_unknown_kind_is_wrong_usage(trial: Trial) -> None:
    assert "message.read" in trial.deskwire("webhook", "test", WEBHOOK, "--kind", "message.read").complaint


@pytest.mark.parametrize("command", ["test", "redeliver", "doctor"])
def test_a_webhook_that_is_not_there_is_a_failure(trial: Trial, command: str) -> None:
    gone = trial.deskwire("webhook", command, NOBODY)
    assert (gone.code, "no such webhook" in gone.complaint) == (1, True)
    assert trial.deskwire("webhook", command, "x").code == 2


def verdict(trial: Trial) -> tuple[int, str]:
    """The last line, which is the same that programs get."""
    code, out, err = trial.deskwire("webhook", "doctor", WEBHOOK)
    assert err == ""
    told = trial.deskwire("webhook", "doctor", WEBHOOK, "--json")
    found = msgspec.json.decode(told.out)
    assert (told.code, found["is_well"]) == (code, code == 0)
    assert found["verdict"] == out.splitlines()[-1]
    return code, out.splitlines()[-1]


def test_the_doctor_finds_a_good_receiver_well(
    trial: Trial, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    certificates.AUTHORITY.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    with running(context=certificates.showing(certificates.good())) as receiver:
        trial.lead_to(receiver)
        code, out, _ = trial.deskwire("webhook", "doctor", WEBHOOK)
        assert verdict(trial) == (0, "All is well: the test was delivered, and nothing is waiting.")
    assert code == 0
    for words_of_it in ("127.0.0.1, TLSv1", f"for {HOST}", "trustme", "valid", "answered 200"):
        assert words_of_it in out
    assert all(read_event(each.partition(b"\r\n\r\n")[2]) for each in receiver.requests)
    assert len(receiver.requests) == 3


def test_the_doctor_says_what_is_wrong_with_a_name(trial: Trial) -> None:
    async def nothing(host: str) -> list[Any]:
        return [ip_address("10.1.2.3")]

    trial.put("https://hooks.example.com/in")
    trial.house.lookup = nothing
    code, said = verdict(trial)
    assert code == 1
    assert said == (
        "Nothing can be delivered: hooks.example.com leads to 10.1.2.3, a private address; "
        "the name must lead to public addresses only."
    )
    assert trial.kept().last_log_id == 0


def test_the_doctor_says_that_a_certificate_is_not_valid(trial: Trial) -> None:
    with running(context=certificates.showing(certificates.expired())) as receiver:
        trial.lead_to(receiver)
        code, said = verdict(trial)
    assert code == 1 and said.startswith("Nothing can be delivered: the certificate is not valid: ")
    assert said.endswith("the receiver needs a certificate for its name from a known authority.")
    assert receiver.requests == []


@pytest.mark.parametrize(
    ("answer", "words_of_it"),
    [
        (refusing(401), "verifies with this webhook's secret"),
        (refusing(404), "takes POST requests at the path"),
        (refusing(302, "Location: https://example.com/\r\n"), "redirects are not followed"),
        (refusing(503), "the receiver's own log"),
    ],
)
def test_the_doctor_says_what_to_do_about_an_answer(trial: Trial, answer: bytes, words_of_it: str) -> None:
    with running(answer) as receiver:
        trial.lead_to(receiver)
        code, said = verdict(trial)
    assert code == 1 and said.startswith("The test was not delivered: the receiver answered")
    assert words_of_it in said


@pytest.mark.parametrize("status", ["error", "inactive"])
def test_the_doctor_says_how_to_activate_a_webhook(trial: Trial, receiver: Receiver, status: str) -> None:
    trial.lead_to(receiver, status=status)
    trial.deliver_since(60, held=True)
    code, said = verdict(trial)
    assert code == 1 and f"`deskwire webhook toggle {WEBHOOK}`" in said


def test_the_doctor_notices_that_nobody_delivers(trial: Trial, receiver: Receiver) -> None:
    trial.lead_to(receiver)
    trial.deliver_since(5)
    code, said = verdict(trial)
    assert code == 1 and "1 are due since" in said and "`deskwire worker`" in said


def test_the_doctor_notices_a_receiver_that_is_too_slow(trial: Trial, receiver: Receiver) -> None:
    trial.lead_to(receiver)
    trial.deliver_since(5)
    trial.deliver_since(-1, event_id=WEBHOOK, holder=NOBODY)
    code, said = verdict(trial)
    assert code == 1 and "too slowly" in said


def test_the_doctor_tells_of_failures_that_are_over(trial: Trial, receiver: Receiver) -> None:
    trial.lead_to(receiver, failing_since=Moment(1_767_225_600_000_000), failure_count=3)
    trial.deliver_since(-10)
    code, said = verdict(trial)
    assert code == 0
    assert said == (
        "All is well now: the test was delivered; deliveries have failed since 2026-01-01T00:00:00.000000Z, "
        "and 1 events are waiting for their next attempt."
    )
