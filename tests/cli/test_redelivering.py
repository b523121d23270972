"""`deskwire webhook redeliver`: what is said of it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from deskwire.desk.outbox import emit
from deskwire.desk.webhook_rows import put_webhook
from deskwire.model.contacts import show_contact
from deskwire.model.events import ContactEventData
from deskwire.model.example_records import CONTACT
from deskwire.model.moments import Moment
from deskwire.model.times import format_time, parse_time
from deskwire.model.webhooks import WebhookRecord, WebhookStatus
from deskwire.store.clock import system_clock
from deskwire.store.transaction import Tx
from tests.cli.conftest import Deskwire
from tests.cli.test_webhooks import NOBODY, write

ID = "018f3e1c-7c2a-7b11-9a53-0000000000b1"
HOUR_US = 3_600_000_000
WEBHOOK = WebhookRecord(
    id=ID,
    name="n",
    url="https://hooks.example.com/in",
    event_filters=("contact.updated",),
    secret=b"",
    created_at=Moment(1),
    updated_at=Moment(1),
)


@pytest.fixture(params=["active"])
def webhook(folder: Path, workspace: str, request: pytest.FixtureRequest) -> str:
    """One that came after the two events of its workspace."""
    status: WebhookStatus = request.param

    async def fill(tx: Tx) -> None:
        for number in range(2):
            id = f"{NOBODY[:-1]}{number}"
            data = ContactEventData(contact_id=id, contact=show_contact(replace(CONTACT, id=id)))
            await emit(tx, workspace, "contact.updated", id, data)
        await put_webhook(tx, workspace, replace(WEBHOOK, status=status))

    write(folder, fill)
    return ID


def test_programs_learn_how_many_events_are_sent_again(deskwire: Deskwire, webhook: str) -> None:
    done = deskwire("webhook", "redeliver", webhook, "--json").json
    day_ago = system_clock() - 24 * HOUR_US
    assert abs(parse_time(done.pop("since")) - day_ago) < HOUR_US
    assert done == {"id": webhook, "queued": 2, "waiting": 0, "recent": 0, "held": False}
    assert deskwire("webhook", "redeliver", webhook, "--json").json["waiting"] == 2


def test_people_learn_it_in_words(deskwire: Deskwire, webhook: str) -> None:
    first = deskwire("webhook", "redeliver", webhook)
    assert (first.code, first.err) == (0, "")
    assert first.out.startswith("2 events accepted since ") and "are sent again, oldest first." in first.out
    assert "2 more were on their way already." in deskwire("webhook", "redeliver", webhook).out


def test_the_start_is_a_length_of_time_or_a_moment(deskwire: Deskwire, webhook: str) -> None:
    since = format_time(system_clock() - HOUR_US)
    assert deskwire("webhook", "redeliver", webhook, "--since", since, "--json").json["since"] == since
    done = deskwire("webhook", "redeliver", webhook, "--since", "2h", "--json").json
    assert abs(parse_time(done["since"]) - (system_clock() - 2 * HOUR_US)) < HOUR_US // 10
    later = format_time(system_clock() + HOUR_US)
    assert deskwire("webhook", "redeliver", webhook, "--since", later, "--json").json["queued"] == 0
    for wrong in ("yesterday", "2", "2026-01-01"):
        refused = deskwire("webhook", "redeliver", webhook, "--since", wrong)
        assert (refused.code, "must be a duration such as 2h" in refused.complaint) == (2, True)


def test_a_kind_that_the_webhook_does_not_take_is_refused(deskwire: Deskwire, webhook: str) -> None:
    taken = deskwire("webhook", "redeliver", webhook, "--kind", "contact.updated", "--json")
    assert taken.json["queued"] == 2
    refused = deskwire("webhook", "redeliver", webhook, "--kind", "channel.closed")
    assert refused.code == 1
    assert refused.complaint == "The webhook does not take channel.closed, only contact.updated."


@pytest.mark.parametrize("webhook", ["inactive"], indirect=True)
def test_an_inactive_webhook_is_to_be_activated_first(deskwire: Deskwire, webhook: str) -> None:
    refused = deskwire("webhook", "redeliver", webhook)
    assert (refused.code, f"`deskwire webhook toggle {webhook}`" in refused.complaint) == (1, True)


@pytest.mark.parametrize("webhook", ["error"], indirect=True)
def test_of_a_webhook_in_error_it_is_said_that_events_are_held(deskwire: Deskwire, webhook: str) -> None:
    done = deskwire("webhook", "redeliver", webhook)
    assert done.code == 0
    assert "so they are held" in done.out and f"`deskwire webhook toggle {webhook}`" in done.out
