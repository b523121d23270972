"""Notices by e-mail, to a real mail server and without one."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import pytest
import trustme
from msgspec.structs import replace
from sqlalchemy import bindparam, select, update

from deskwire.delivery import mailing
from deskwire.delivery.mailing import Mailing, MailServer, NoSender
from deskwire.desk.identity import new_id
from deskwire.desk.notices import find_mail, post_notice
from deskwire.desk.webhook_rows import put_webhook
from deskwire.desk.workspaces import create_workspace
from deskwire.model.errors import Unavailable
from deskwire.model.limits import MAIL_HORIZON_US, MAIL_LEASE_US
from deskwire.model.moments import Moment
from deskwire.model.people import MemberRecord
from deskwire.model.webhooks import WebhookRecord
from deskwire.store import kinds
from deskwire.store.records import put
from deskwire.store.statement import Statement
from deskwire.store.tables import MEMBERS, NOTICES
from deskwire.store.transaction import Store, Tx
from tests.delivery.mail_servers import PASSWORD, USER, MailHost, mail_host
from tests.engines import NEW_YEAR, AnyStore, Run, SetClock

SECOND_US = 1_000_000
OWNER, ADMIN, AGENT = "ann@acme.test", "bo@acme.test", "cy@acme.test"
STATE = Statement(
    select(NOTICES.c.mail_due_at, NOTICES.c.mail_attempts).where(
        NOTICES.c.workspace_id == bindparam("workspace_id")
    )
)
DISMISS = Statement(
    update(MEMBERS).where(MEMBERS.c.workspace_id == bindparam("workspace")).values(active=False)
)
WEBHOOK = WebhookRecord(
    id="018f3e1c-7c2a-7b11-9a53-0000000000b1",
    name="Order desk",
    url="https://hooks.example.com/in",
    event_filters=(),
    status="error",
    secret=b"",
    failure_count=10,
    failing_since=Moment(NEW_YEAR - 3_600 * SECOND_US),
    error_message="the receiver answered 503",
    created_at=NEW_YEAR,
    updated_at=NEW_YEAR,
)


class Office:
    """A workspace with an owner, an admin and an agent, and what is to be mailed from it."""

    def __init__(self, run: Run, store: AnyStore) -> None:
        self.run, self.store = run, store
        made = run(store.write(lambda tx: create_workspace(tx, "Acme", OWNER)))
        self.workspace_id = made.workspace_id
        self.add(ADMIN, "admin")
        self.add(AGENT, "agent")

    def write(self, operation: Callable[[Tx], Awaitable[Any]]) -> None:
        self.run(self.store.write(operation))

    def add(self, address: str, role: Any) -> None:
        member = MemberRecord(id=new_id(), email=address, name="B", role=role, created_at=NEW_YEAR)
        self.write(lambda tx: put(tx, kinds.MEMBERS, self.workspace_id, member))

    def stop_webhook(self, **fields: Any) -> None:
        webhook = replace(WEBHOOK, **fields)

        async def post(tx: Tx) -> None:
            await put_webhook(tx, self.workspace_id, webhook)
            await post_notice(tx, self.workspace_id, webhook)

        self.write(post)

    def state(self) -> tuple[int | None, int]:
        """When the notice is mailed next, and how often that was begun."""
        return self.run(self.look())

    async def look(self) -> tuple[int | None, int]:
        (row,) = await self.store.read(lambda tx: tx.all(STATE, workspace_id=self.workspace_id))
        return cast("tuple[int | None, int]", tuple(row))


@pytest.fixture
def office(run: Run, store: AnyStore) -> Office:
    return Office(run, store)


def server_of(here: MailHost, scheme: str = "smtp", user: str = "") -> MailServer:
    return MailServer(f"{scheme}://{user}localhost:{here.port}?from=desk@acme.test")


async def mail_once(store: Store, server: MailServer | None) -> None:
    """One look at what is due: told to stop, it ends what it has begun."""
    one = Mailing(store, server)
    for workspace_id, notice_id, due_at in await store.read(find_mail):
        await one._take_on(workspace_id, notice_id, due_at)


def mailed(office: Office, here: MailHost, scheme: str = "smtp", user: str = "") -> MailHost:
    async def run() -> MailHost:
        async with mail_host(here, speaks_tls=scheme == "smtps"):
            await mail_once(office.store, server_of(here, scheme, user))
        return here

    return office.run(run())


def test_owners_and_admins_are_told_what_has_stopped_and_what_to_do(office: Office) -> None:
    office.stop_webhook()
    (letter,) = mailed(office, MailHost()).letters
    assert letter.sender == "desk@acme.test"
    assert letter.recipients == [OWNER, ADMIN]
    message = letter.message
    assert message["From"] == "desk@acme.test"
    assert message["Subject"] == "Webhook Order desk has stopped"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Message-ID"].endswith("@acme.test>")
    text = message.get_content()
    for words in (
        "Order desk",
        WEBHOOK.id,
        "https://hooks.example.com/in",
        "since 2025-12-31T23:00:00.000000Z",
        "the receiver answered 503",
        "0 events so far",
        "24 hours",
        f"deskwire webhook doctor {WEBHOOK.id}",
        f"deskwire webhook toggle {WEBHOOK.id}",
    ):
        assert words in text
    assert office.state() == (None, 1)
    assert mailed(office, MailHost()).letters == []


@pytest.mark.parametrize(
    "name",
    ["Evil\r\nBcc: eve@evil.test", "Evil\x85Bcc: eve@evil.test", "Évil \u2028Bcc: eve@evil.test", "n" * 255],
)
def test_the_name_of_a_webhook_adds_no_header(office: Office, name: str) -> None:
    office.stop_webhook(name=name, error_message="x\r\n.\r\nMAIL FROM:<eve@evil.test>\r\n.\r\n")
    (letter,) = mailed(office, MailHost()).letters
    assert letter.recipients == [OWNER, ADMIN]
    assert letter.message["Bcc"] is None
    assert letter.message["Subject"] == f"Webhook {' '.join(name.split())} has stopped"
    assert "toggle" in letter.message.get_content()


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """One that is trusted as an operator would have it."""
    made = trustme.CA()
    made.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    return made


def showing(authority: trustme.CA, name: str = "localhost") -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
def test_tls_is_used_and_the_password_sent_over_it(
    office: Office, authority: trustme.CA, scheme: str
) -> None:
    office.stop_webhook()
    here = MailHost(tls=showing(authority), wants_user=True)
    (letter,) = mailed(office, here, scheme, f"{USER}:{quote(PASSWORD, safe='')}@").letters
    assert (letter.over_tls, letter.user) == (True, USER)


def test_a_server_with_a_certificate_for_another_name_gets_no_mail(
    office: Office, authority: trustme.CA, caplog: pytest.LogCaptureFixture
) -> None:
    office.stop_webhook()
    here = mailed(office, MailHost(tls=showing(authority, "other.test")))
    assert here.letters == []
    assert office.state() == (NEW_YEAR + 60 * SECOND_US, 1)
    assert "could not be mailed" in caplog.text and "it is tried again" in caplog.text


def test_a_wrong_password_is_not_shown_in_the_log(
    office: Office, authority: trustme.CA, caplog: pytest.LogCaptureFixture
) -> None:
    office.stop_webhook()
    here = MailHost(tls=showing(authority), wants_user=True)
    assert mailed(office, here, user="mailer:guessed-it@").letters == []
    assert "wrong password" in caplog.text and "guessed-it" not in caplog.text


def test_one_who_is_refused_keeps_no_mail_from_the_others(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    office.stop_webhook()
    (letter,) = mailed(office, MailHost(refuses=[OWNER])).letters
    assert letter.recipients == [ADMIN]
    assert office.state() == (None, 1)
    assert f"not mailed to {OWNER}: 550 no such mailbox" in caplog.text


@pytest.mark.parametrize(
    "address", ["no address", "eve@evil.test, bo", "a@b\r\nBcc: eve@evil.test", "ü@acme.test"]
)
def test_an_address_that_no_mail_can_reach_keeps_none_from_the_others(
    office: Office, caplog: pytest.LogCaptureFixture, address: str
) -> None:
    office.add(address, "owner")
    office.stop_webhook()
    (letter,) = mailed(office, MailHost()).letters
    assert letter.recipients == [OWNER, ADMIN]
    assert letter.message["Bcc"] is None
    assert "no mail can reach it" in caplog.text


def test_a_server_that_knows_such_addresses_gets_them(office: Office) -> None:
    office.add("ü@acme.test", "owner")
    office.stop_webhook()
    (letter,) = mailed(office, MailHost(knows_utf8=True)).letters
    assert letter.recipients == [OWNER, ADMIN, "ü@acme.test"]


def test_without_owner_and_admin_it_is_left_to_the_dashboard(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    office.write(lambda tx: tx.run(DISMISS, workspace=office.workspace_id))
    office.stop_webhook()
    here = mailed(office, MailHost())
    assert (here.connections, office.state()) == (0, (None, 1))
    assert "it has no owner or admin" in caplog.text


def test_without_a_mail_server_it_is_logged_and_left_to_the_dashboard(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    office.stop_webhook()
    office.run(mail_once(office.store, None))
    assert office.state() == (None, 1)
    assert "Webhook Order desk has stopped" in caplog.text and "there is no mail server" in caplog.text


@pytest.mark.parametrize("bad", ["away", "fails", "refuses"])
def test_it_is_tried_for_24_hours_and_then_left_to_the_dashboard(
    office: Office, clock: SetClock, caplog: pytest.LogCaptureFixture, bad: str
) -> None:
    office.stop_webhook()
    here = MailHost(
        fails_at="DATA" if bad == "fails" else "", refuses=[OWNER, ADMIN] if bad == "refuses" else []
    )
    waits_s = []

    async def run() -> None:
        async with mail_host(here):
            server = server_of(here)
            if bad != "away":
                await until_given_up(server)
        if bad == "away":
            await until_given_up(server)

    async def until_given_up(server: MailServer) -> None:
        while True:
            await mail_once(office.store, server)
            due_at, _ = await office.look()
            if due_at is None:
                return
            waits_s.append((due_at - clock.now) // SECOND_US)
            clock.now = Moment(due_at)

    office.run(run())
    assert waits_s[:5] == [60, 300, 900, 3600, 3600]
    assert set(waits_s[5:]) == {3600}
    assert NEW_YEAR + MAIL_HORIZON_US - 3600 * SECOND_US <= clock.now < NEW_YEAR + MAIL_HORIZON_US
    assert here.letters == []
    assert "it is in the dashboard only" in caplog.text


@pytest.mark.parametrize("command", ["EHLO", "DATA"])
def test_a_server_that_hangs_holds_nobody_for_long(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, command: str
) -> None:
    monkeypatch.setattr(mailing, "MAIL_TIMEOUT_S", 0.3)
    office.stop_webhook()
    assert mailed(office, MailHost(hangs_at=command)).letters == []
    assert office.state() == (NEW_YEAR + 60 * SECOND_US, 1)
    assert "did not answer in time" in caplog.text


def test_a_farewell_that_fails_is_no_reason_to_mail_again(office: Office) -> None:
    office.stop_webhook()
    assert len(mailed(office, MailHost(fails_at="QUIT")).letters) == 1
    assert office.state() == (None, 1)


def test_two_mailers_at_once_send_one_mail(office: Office) -> None:
    office.stop_webhook()

    async def run() -> MailHost:
        async with mail_host() as here:
            await asyncio.gather(*(mail_once(office.store, server_of(here)) for _ in range(4)))
            return here

    assert len(office.run(run()).letters) == 1


def test_what_a_mailer_that_died_had_taken_on_is_mailed_by_another(office: Office, clock: SetClock) -> None:
    office.stop_webhook()

    async def die(here: MailHost) -> None:
        dying = asyncio.create_task(mail_once(office.store, server_of(here)))
        await here.hanging.wait()
        dying.cancel()
        await asyncio.wait([dying])

    async def run() -> None:
        async with mail_host(MailHost(hangs_at="DATA")) as here:
            await die(here)

    office.run(run())
    assert mailed(office, MailHost()).letters == []
    clock.advance(MAIL_LEASE_US)
    assert len(mailed(office, MailHost()).letters) == 1
    assert office.state() == (None, 2)


def test_a_mailer_that_runs_sends_and_stops_when_told(office: Office) -> None:
    office.stop_webhook()

    async def run() -> MailHost:
        stop = asyncio.Event()
        async with mail_host() as here:
            running = asyncio.create_task(Mailing(office.store, server_of(here)).run(stop))
            async with asyncio.timeout(30):
                await here.arrived.wait()
                stop.set()
                await running
        return here

    assert len(office.run(run()).letters) == 1
    assert office.state() == (None, 1)


def test_a_mailer_stops_while_the_server_hangs(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailing, "MAIL_GRACE_S", 0.05)
    office.stop_webhook()

    async def run() -> None:
        stop = asyncio.Event()
        async with mail_host(MailHost(hangs_at="MAIL")) as here:
            running = asyncio.create_task(Mailing(office.store, server_of(here)).run(stop))
            await here.hanging.wait()
            stop.set()
            async with asyncio.timeout(5):
                await running

    office.run(run())


def test_a_mailer_stops_while_the_database_is_away(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailing, "MAIL_GRACE_S", 0.05)

    class Away:
        bell = None

        async def read(self, operation: object) -> object:
            raise Unavailable("it is away")

    async def stop_it() -> None:
        stop = asyncio.Event()
        running = asyncio.create_task(Mailing(Away(), None).run(stop))  # type: ignore[arg-type]
        await asyncio.sleep(0.01)
        stop.set()
        async with asyncio.timeout(5):
            await running

    run(stop_it())


@pytest.mark.parametrize(
    "sender", ["desk", "desk@acme.test\nBcc: eve@evil.test", "Desk <desk@acme.test>", "ü@x.test"]
)
def test_a_sender_that_is_no_plain_address_is_refused(sender: str) -> None:
    with pytest.raises(NoSender, match="from must be an e-mail address"):
        MailServer(f"smtp://mail.acme.test?from={quote(sender)}")


def test_ports_and_senders_have_defaults() -> None:
    plain, secure = MailServer("smtp://mail.acme.test"), MailServer("smtps://mail.acme.test")
    assert (plain.port, secure.port) == (25, 465)
    assert plain.sender == "deskwire@mail.acme.test"
    assert (plain.user, plain.password) == (None, None)
