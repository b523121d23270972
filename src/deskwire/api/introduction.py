"""The prose in front of the reference: what holds for every operation."""

from collections.abc import Sequence
from typing import NamedTuple

from deskwire.api.failures import WHEN
from deskwire.api.statuses import STATUSES
from deskwire.model.errors import Code
from deskwire.model.limits import (
    AI_FAILOVER_MAXIMUM_S,
    AI_FAILOVER_MINIMUM_S,
    ATTACHMENT_URL_LIFETIME_S,
    CHANNEL_TAG_CHARACTERS,
    CHANNEL_TAGS,
    CLIENT_REQUEST_ID_CHARACTERS,
    CONTACT_NAME_CHARACTERS,
    CONTACT_TAG_CHARACTERS,
    CONTACT_TAGS,
    CURSOR_LIFETIME_US,
    CUSTOM_HOLIDAY_NAME_CHARACTERS,
    MAX_CURSOR_CHARACTERS,
    MESSAGE_WINDOW_DAYS,
    PAGE_DEFAULT,
    PAGE_MAXIMUM,
    REPLY_CHARACTERS,
    REQUEST_ID_CHARACTERS,
    SEARCH_MAXIMUM,
    SEARCH_QUERY_CHARACTERS,
    TOKEN_CHARACTERS,
)
from deskwire.model.scopes import ALWAYS_GRANTED, SCOPES
from deskwire.model.tokens import TOKEN_MARK

CURSOR_LIFETIME_HOURS = CURSOR_LIFETIME_US // (60 * 60 * 1_000_000)
ATTACHMENT_URL_MINUTES = ATTACHMENT_URL_LIFETIME_S // 60


class Paragraph(NamedTuple):
    """What stands between backticks is code."""

    text: str


class Sample(NamedTuple):
    """Lines to be typed or read as they are."""

    text: str


class Table(NamedTuple):
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Section(NamedTuple):
    id: str
    title: str
    blocks: tuple[Paragraph | Sample | Table, ...]


def introduction(base_url: str, codes: Sequence[Code]) -> tuple[Section, ...]:
    return (
        overview(base_url),
        AUTHENTICATION,
        Section("scopes", "Scopes", (SCOPES_MEANING, scope_table())),
        ENVELOPES,
        PAGINATION,
        Section("errors", "Errors", (*ERRORS, error_table(codes))),
        REQUEST_IDS,
        VALUES,
        LIMITS,
    )


def as_markdown(sections: Sequence[Section]) -> str:
    return "\n\n".join(
        "\n\n".join((f"## {section.title}", *map(block_as_markdown, section.blocks))) for section in sections
    )


def block_as_markdown(block: Paragraph | Sample | Table) -> str:
    match block:
        case Paragraph(text):
            return text
        case Sample(text):
            return f"```\n{text}\n```"
        case Table(head, rows):
            lines = (head, ("---",) * len(head), *rows)
            return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def overview(base_url: str) -> Section:
    return Section(
        "overview",
        "Overview",
        (
            Paragraph(
                "Deskwire keeps the customer-support conversations of a workspace: its channels and "
                "messages, its contacts, members and teams, and what they work with. Every path below "
                "begins with this address:"
            ),
            Sample(base_url),
            Paragraph(
                "Put an access token into `TOKEN`, and every example on this page can be pasted. "
                "Where an operation needs an id, its example begins with one: put one of yours in its place. "
                "The ids in a body are examples too."
            ),
            Sample(
                f'export TOKEN={TOKEN_MARK}…\ncurl "{base_url}/workspace" \\\n'
                '  -H "Authorization: Bearer $TOKEN"'
            ),
            Paragraph(
                "The version is part of the address. The API is described in OpenAPI 3.1 at `/openapi.json` "
                "under it. Where there is `GET` there is `HEAD` too."
            ),
        ),
    )


def scope_table() -> Table:
    return Table(("Scope", "Allows"), tuple((f"`{scope}`", grants) for scope, grants in SCOPES.items()))


def error_table(codes: Sequence[Code]) -> Table:
    return Table(
        ("Code", "Status", "When"), tuple((f"`{code}`", str(STATUSES[code]), WHEN[code]) for code in codes)
    )


AUTHENTICATION = Section(
    "authentication",
    "Authentication",
    (
        Paragraph(
            "Every request carries a personal access token, issued by an owner or admin of the workspace: "
            f"`{TOKEN_MARK}` and {TOKEN_CHARACTERS} letters and digits."
        ),
        Sample(f"Authorization: Bearer {TOKEN_MARK}…"),
        Paragraph(
            "A token opens the whole workspace within its scopes, so it belongs on a server, never in a "
            "browser or an app; no CORS header is ever sent. A token that is missing, malformed, unknown, "
            "expired or revoked is answered with 401 `INVALID_TOKEN`."
        ),
    ),
)
SCOPES_MEANING = Paragraph(
    "An operation needs every scope that it names; without one of them it answers 403 `INSUFFICIENT_SCOPE`. "
    f"Every token has `{ALWAYS_GRANTED}`. A scope to write does not include the one to read."
)
ENVELOPES = Section(
    "envelopes",
    "Envelopes",
    (
        Paragraph(
            "A success carries `data`: an object, or an array. A page of a list carries `meta` beside it."
        ),
        Sample('{"success": true, "data": {…}}\n{"success": true, "data": […], "meta": {"has_more": false}}'),
        Paragraph("A failure carries `error`, with `details` when there is more to say."),
        Sample('{"success": false, "error": {"code": "NOT_FOUND", "message": "…"}}'),
        Paragraph("Answers may gain keys: ignore those that you do not know."),
    ),
)
PAGINATION = Section(
    "pagination",
    "Pagination",
    (
        Paragraph(
            f"A list answers up to `limit` entries, {PAGE_DEFAULT} unless told otherwise and {PAGE_MAXIMUM} "
            "at most, newest first. While `meta.has_more` is true, send `meta.next_cursor` as `cursor` to "
            "get the next page; on the last page it is absent."
        ),
        Paragraph(
            "A cursor is opaque, goes forward only, and belongs to the list that it came from. It holds a "
            "position and nothing else, so repeat the filters with it. A walk neither skips nor repeats "
            "what existed when it began."
        ),
        Paragraph(
            f"A cursor is good for {CURSOR_LIFETIME_HOURS} hours; that of a channel's messages never "
            "expires. One that is expired, altered, of another list or longer than "
            f"{MAX_CURSOR_CHARACTERS} characters is answered with 400 `INVALID_QUERY`."
        ),
    ),
)
ERRORS = (
    Paragraph(
        "`code` is for programs, `message` for people. `details.fields` names each query parameter or "
        "field that was refused, and why. Query parameters that are not known are ignored, and of one that "
        "is repeated the last counts, unless it is made to be repeated. What belongs to another workspace "
        "is answered as if it did not exist."
    ),
    Paragraph("Every operation can answer 401, 429, 500 and 503; its other failures are listed with it."),
)
REQUEST_IDS = Section(
    "request-ids",
    "Request ids",
    (
        Paragraph(
            "Every answer carries `X-Request-ID`, which is also in the log of the service. Send one of your "
            f"own and it is kept when it is at most {REQUEST_ID_CHARACTERS} letters, digits, hyphens and "
            "underscores; otherwise a UUID takes its place."
        ),
    ),
)
VALUES = Section(
    "values",
    "Ids, timestamps, absent keys",
    (
        Paragraph("Ids are UUIDs in lower case."),
        Paragraph(
            "Timestamps are RFC 3339 in UTC with microseconds, such as `2026-03-05T09:41:12.350094Z`. In a "
            "query any offset is understood; a `+` must be sent as `%2B`."
        ),
        Paragraph(
            "A key without a value is left out, not sent as `null`: test whether the key exists. The "
            "exceptions are `business_hours`, which is `null` when hours were never configured, and the "
            "`assigned_member` of events, which is `null` when nobody is assigned."
        ),
    ),
)
LIMITS = Section(
    "limits",
    "Limits",
    (
        Table(
            ("What", "Limit"),
            (
                ("Page size", f"{PAGE_DEFAULT} by default, {PAGE_MAXIMUM} at most"),
                ("Life of a cursor", f"{CURSOR_LIFETIME_HOURS} hours; no end for messages"),
                ("Length of a cursor", f"{MAX_CURSOR_CHARACTERS} characters"),
                ("Window of a list of messages", f"{MESSAGE_WINDOW_DAYS} days from `since` to `until`"),
                ("Content of a reply", f"1 to {REPLY_CHARACTERS} characters"),
                ("`client_request_id`", f"1 to {CLIENT_REQUEST_ID_CHARACTERS} characters"),
                ("Name of a contact", f"{CONTACT_NAME_CHARACTERS} characters"),
                ("Tags of a contact", f"{CONTACT_TAGS}, each of {CONTACT_TAG_CHARACTERS} characters at most"),
                ("Tags of a channel", f"{CHANNEL_TAGS}, each of {CHANNEL_TAG_CHARACTERS} characters at most"),
                ("Search results", f"one page of {SEARCH_MAXIMUM} at most"),
                ("Search query", f"1 to {SEARCH_QUERY_CHARACTERS} characters"),
                ("Download URL of an attachment", f"{ATTACHMENT_URL_MINUTES} minutes"),
                (
                    "`failover_timeout` of the AI agent",
                    f"{AI_FAILOVER_MINIMUM_S} to {AI_FAILOVER_MAXIMUM_S} seconds when enabled",
                ),
                ("Name of a custom holiday", f"{CUSTOM_HOLIDAY_NAME_CHARACTERS} characters"),
                ("`X-Request-ID`", f"{REQUEST_ID_CHARACTERS} letters, digits, hyphens and underscores"),
            ),
        ),
        Paragraph("Lengths count Unicode code points."),
        Paragraph(
            "Whoever runs the service may limit the requests of a token in a minute. Then the answers "
            'carry `RateLimit-Policy`, such as `"token";q=60;w=60`, and `RateLimit`, such as '
            '`"token";r=12;t=34`: 12 requests are left, and in 34 seconds there are 60 again. '
            "Without any left, the answer is 429 `RATE_LIMITED`, and `Retry-After` says how many seconds to "
            "wait. What is answered before the token is found good (401, 404 for an unknown path, 405, and "
            "503 for overload) does not count and carries `RateLimit-Policy` alone."
        ),
    ),
)
