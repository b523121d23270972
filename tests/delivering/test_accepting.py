"""An event is given to the webhooks that take it when it is accepted."""

import pytest

from deskwire.desk.identity import new_id
from deskwire.model.events import EventKind
from deskwire.model.webhooks import WebhookStatus
from tests.delivering.office import DAY, Office


def test_an_active_webhook_is_sent_it_at_once(office: Office) -> None:
    webhook = office.webhook()
    office.emit()
    [row] = office.rows(webhook)
    assert (row.due_at, row.held, row.counts, row.untried, row.cycles) == (
        office.clock(),
        False,
        True,
        True,
        0,
    )
    assert row.holder is None and office.due() == [row.event_id]


def test_for_one_in_error_it_is_held_until_its_24_hours_are_over(office: Office) -> None:
    webhook = office.webhook(status="error")
    office.emit()
    [row] = office.rows(webhook)
    assert (row.due_at, row.held) == (office.clock() + DAY, True)
    assert office.due() == []


def test_for_an_inactive_one_it_is_not_kept(office: Office) -> None:
    webhook = office.webhook(status="inactive")
    office.emit()
    assert office.rows(webhook) == []


def test_another_workspaces_webhook_gets_nothing(office: Office) -> None:
    theirs = office.webhook(workspace_id=new_id())
    office.emit()
    assert office.rows(theirs) == []


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ((), ["channel.closed", "channel.assigned", "contact.updated"]),
        (("channel.closed",), ["channel.closed"]),
        (("channel.assigned", "contact.updated"), ["channel.assigned", "contact.updated"]),
        (("message.created",), []),
    ],
)
def test_a_webhook_gets_the_kinds_that_it_filters_for(
    office: Office, filters: tuple[EventKind, ...], kept: list[EventKind]
) -> None:
    webhook = office.webhook(event_filters=filters)
    kinds: tuple[EventKind, ...] = ("channel.closed", "channel.assigned", "contact.updated")
    for kind in kinds:
        before = len(office.rows(webhook))
        office.emit(kind=kind)
        assert (len(office.rows(webhook)) > before) is (kind in kept)


def test_several_webhooks_get_it_each_in_its_own_way(office: Office) -> None:
    statuses: tuple[WebhookStatus, ...] = ("active", "error", "inactive", "active")
    webhooks = [office.webhook(status=status) for status in statuses]
    office.emit()
    assert [[row.held for row in office.rows(each)] for each in webhooks] == [[False], [True], [], [False]]
