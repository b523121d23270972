"""The window of time that a list of messages looks at: after `since`, up to and including `until`."""

from deskwire.model.errors import invalid_query
from deskwire.model.limits import MESSAGE_WINDOW_DAYS
from deskwire.model.moments import Moment

WINDOW_US = MESSAGE_WINDOW_DAYS * 24 * 60 * 60 * 1_000_000


def check_window(since: Moment, until: Moment) -> None:
    if until <= since:
        raise invalid_query("until", "must be after since")
    if until - since > WINDOW_US:
        raise invalid_query("until", f"must be at most {MESSAGE_WINDOW_DAYS} days after since")
