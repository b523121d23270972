"""Writes the parts of docs/webhooks.md that follow from the code: the examples of events, and the numbers."""

from pathlib import Path

import msgspec

from deskwire.model import limits
from deskwire.model.event_examples import BODIES

PAGE = Path(__file__).parent.parent / "docs" / "webhooks.md"
MINUTE_S = 60
HOUR_US = 60 * 60 * 1_000_000


def render(page: str) -> str:
    """The page with these parts renewed."""
    for name, text in (("events", events()), ("numbers", numbers())):
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}{text}{end}{rest.partition(end)[2]}"
    return page


def events() -> str:
    return "".join(
        f"\n### `{kind}`\n\n```json\n{msgspec.json.format(body, indent=2).decode()}\n```\n"
        for kind, body in BODIES.items()
    )


def numbers() -> str:
    *waits, last = map(duration, limits.REQUEUE_WAITS_S)
    rows = [
        ("attempts in a cycle", f"{limits.CYCLE_ATTEMPTS}"),
        ("waits between them", " and ".join(f"{wait:g} s" for wait in limits.CYCLE_WAITS_S)),
        ("an attempt takes at most", f"{limits.ATTEMPT_S:g} s"),
        ("a cycle takes at most, with its waits", f"{limits.CYCLE_S:g} s"),
        ("answer within", f"{limits.ANSWER_SHOULD_S} s"),
        ("of your answer is read at most", f"{limits.ANSWER_READ_MAX_BYTES // 1024} KiB"),
        ("from a failed cycle to the next", f"{', '.join(waits)}, then every {last}"),
        ("added to that at random", f"up to {limits.REQUEUE_JITTER:.0%}"),
        ("an event is discarded after", f"{limits.DELIVERY_HORIZON_US // HOUR_US} h"),
        ("duplicates are suppressed for", f"{limits.DUPLICATE_WINDOW_US // 60_000_000} min"),
        ("a webhook is switched off after", f"{limits.WEBHOOK_FAILURES_TO_ERROR} failures in a row"),
        ("e-mails about that", f"at most one in {limits.NOTICE_PAUSE_US // HOUR_US} h for a webhook"),
        ("entries of the log are kept", f"{limits.DELIVERY_LOG_LIFETIME_US // HOUR_US // 24} days"),
    ]
    return "\n".join(
        ["| what | how much |", "|---|---|", *(f"| {what} | {much} |" for what, much in rows), ""]
    )


def duration(seconds: int) -> str:
    return f"{seconds} s" if seconds < MINUTE_S else f"{seconds // MINUTE_S} min"


if __name__ == "__main__":
    PAGE.write_text(render(PAGE.read_text("utf-8")), "utf-8")
