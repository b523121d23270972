"""What is wrong with a webhook, in a sentence, and what to do about it."""

from dataclasses import dataclass
from typing import NamedTuple

from deskwire.model.deliveries import Barred, Failed, Outcome, Refused, Unreachable
from deskwire.model.examinations import Examination
from deskwire.model.limits import ANSWER_SHOULD_S
from deskwire.model.moments import Moment
from deskwire.model.times import format_time
from deskwire.model.webhooks import WebhookRecord


class Lag(NamedTuple):
    """Events that are due for longer than a delivery should take to begin, the first since when, and how many
    are being sent."""

    overdue: int
    since: Moment | None
    under_way: int


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found out about a webhook; without an outcome there was no test, as none could arrive."""

    webhook: WebhookRecord
    examination: Examination
    outcome: Outcome | None
    waiting: int
    held: int
    lag: Lag


def find_problem(found: Findings) -> str | None:
    """None when all is well."""
    if found.examination.problem is not None:
        return f"Nothing can be delivered: {found.examination.problem}; {remedy_of(found)}."
    match found.outcome:
        case Refused() | Unreachable() | Barred() as failed:
            return f"The test was not delivered: {failed.error}; {remedy_after(failed)}."
    toggle = f"`deskwire webhook toggle {found.webhook.id}`"
    match found.webhook.status:
        case "error":
            return (
                f"The receiver takes events, but the webhook is in error and {found.held:,} events are held: "
                f"{toggle} activates it and sends them."
            )
        case "inactive":
            return f"The receiver takes events, but the webhook is inactive: {toggle} activates it."
    if found.lag.since is not None:
        return f"The receiver takes events, but {say_lag(found.lag, found.lag.since)}."
    return None


def say_lag(lag: Lag, since: Moment) -> str:
    late = f"{lag.overdue:,} are due since {format_time(since)}"
    if lag.under_way:
        return f"{late}, as it takes them too slowly: it should answer before it does its work"
    return (
        f"{late} and nobody sends them: see that `deskwire worker`, or `deskwire serve` without "
        "--no-delivery, is running"
    )


def say_well(found: Findings) -> str:
    waiting = f"{found.waiting:,} events are waiting" if found.waiting else "nothing is waiting"
    if found.webhook.failing_since is None:
        return f"All is well: the test was delivered, and {waiting}."
    return (
        f"All is well now: the test was delivered; deliveries have failed since "
        f"{format_time(found.webhook.failing_since)}, and {waiting} for their next attempt."
    )


def remedy_of(found: Findings) -> str:
    """By how far the examination came."""
    examination = found.examination
    if examination.target is None:
        return "give the webhook another URL"
    if not examination.addresses:
        return "see to the name's records, or give the webhook another URL"
    if examination.refused:
        return "the name must lead to public addresses only"
    if examination.certificate is not None:
        return "the receiver needs a certificate for its name from a known authority"
    return "see that the receiver runs, and that connections from this machine reach it"


def remedy_after(failed: Failed) -> str:
    match failed:
        case Barred():
            return "nothing was sent"
        case Unreachable():
            return f"it has to answer within {ANSWER_SHOULD_S} s, before it does its work"
        case Refused(http_status=301 | 302 | 303 | 307 | 308):
            return "redirects are not followed, so give the webhook the URL that it leads to"
        case Refused(http_status=400 | 401 | 403):
            return "see that it verifies with this webhook's secret, over the body as it was received"
        case Refused(http_status=404 | 405 | 410):
            return "see that it takes POST requests at the path of this URL"
        case Refused(http_status=status) if status == 429 or status >= 500:
            return "the reason is in the receiver's own log"
        case Refused():
            return "it has to answer 2xx"
