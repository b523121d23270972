"""What owners and admins are told of a webhook that has stopped."""

from typing import NamedTuple

from deskwire.model.limits import MAIL_HORIZON_US, MAIL_WAITS_S, WEBHOOK_FAILURES_TO_ERROR
from deskwire.model.moments import Moment
from deskwire.model.times import format_time
from deskwire.model.webhooks import WebhookRecord


class Notice(NamedTuple):
    subject: str
    text: str


def notice_of(webhook: WebhookRecord, waiting: int) -> Notice:
    """`waiting` counts the events that are kept for it."""
    since = "" if webhook.failing_since is None else f" since {format_time(webhook.failing_since)}"
    return Notice(
        f"Webhook {one_line(webhook.name)} has stopped",
        f"""Deliveries to the webhook {one_line(webhook.name)} have failed{since},
{WEBHOOK_FAILURES_TO_ERROR} events one after another, so nothing more is sent to it.

  Webhook:    {webhook.id}
  URL:        {webhook.url}
  Last error: {one_line(webhook.error_message or "unknown")}
  Held:       {waiting} events so far

Events are held for 24 hours from when they were accepted, and new ones are held as well. Whatever is
older by the time the webhook is active again will not be delivered.

What to do: mend the receiver, check it with

  deskwire webhook doctor {webhook.id}

and then activate the webhook again, with POST /outbound-webhooks/{webhook.id}/toggle or

  deskwire webhook toggle {webhook.id}

What is held is then sent, oldest first. There is at most one such notice a day for a webhook.
""",
    )


def next_mail_at(created_at: Moment, attempts: int, now: Moment) -> Moment | None:
    """When to try again to mail a notice; None when it has been tried for long enough."""
    wait_s = MAIL_WAITS_S[min(attempts, len(MAIL_WAITS_S)) - 1]
    due_at = Moment(now + wait_s * 1_000_000)
    return due_at if due_at < created_at + MAIL_HORIZON_US else None


def one_line(text: str) -> str:
    """A mail's subject must not be ended by a line that somebody named a webhook with."""
    return " ".join(text.split())
