"""Looking the database over finds nothing after an import, and finds each damage that is done on purpose."""

import pytest
from sqlalchemy import bindparam, delete, update

from deskwire.model.moments import Moment
from deskwire.model.search import term_prefix
from deskwire.model.text import terms
from deskwire.store import tables
from deskwire.store.search import Entry, Subject
from deskwire.store.statement import Statement
from tests.records.desk import TIME, Desk, channel, contact, message, record, uid

DAMAGES = [
    ("contacts", "name", "Bo", 1, f"contacts {uid(1)}: document has display_name 'Kim' and should have 'Bo'"),
    ("contacts", "match_text", "x", 1, f"contacts {uid(1)}: match_text is 'x' and should be 'kim'"),
    ("contacts", "external_id", "b", 1, "contact_external_ids 'b': contact_id is None and should be"),
    ("contacts", "document", b"no", 1, f"contacts {uid(1)}: document is b'no' and should be b'"),
    ("channels", "deleted", True, 2, f"channels {uid(2)}: visible is"),
    ("channels", "message_count", 7, 2, f"channels {uid(2)}: message_count is 7 and should be 1"),
    ("channels", "last_message_at", None, 2, f"channels {uid(2)}: last_message_at is None and should be"),
    ("channels", "last_seq", 0, 2, f"channels {uid(2)}: last_seq is 0 and should be 2"),
    ("channels", "created_at", 5, 2, f"channel_tag_links {uid(2)} {uid(7)}: channel_created_at is"),
    (
        "channels",
        "contact_id",
        uid(99),
        2,
        f"channels {uid(2)}: contact_id is {uid(99)} and should be the id",
    ),
    (
        "messages",
        "content",
        "Bye",
        3,
        f"messages {uid(3)}: document has content 'hello' and should have 'Bye'",
    ),
    ("messages", "seq", None, 3, f"channels {uid(2)}: 1 of its messages have no number and should have one"),
    ("messages", "seq", 3, 4, f"channels {uid(2)}: its messages' numbers have 1 gaps and should have none"),
    ("messages", "seq", 1, 4, f"channels {uid(2)}: 1 of its messages have the number of another one"),
    ("messages", "visible", False, 3, f"messages {uid(3)}: visible is"),
    (
        "messages",
        "sender_type",
        "system",
        3,
        f"message_terms {uid(3)}: the entry is there and should be absent",
    ),
    ("attachments", "status", "failed", 5, f"messages {uid(3)}: document has attachments"),
    ("contact_tags", "usage_count", 9, 6, f"contact_tags {uid(6)}: usage_count is 9 and should be 1"),
    (
        "contact_tags",
        "name",
        "guest",
        6,
        f"contacts {uid(1)}: document has tags ['vip'] and should have ['guest']",
    ),
    (
        "channel_tags",
        "name",
        "early",
        7,
        f"channels {uid(2)}: document has tags ['late'] and should have ['early']",
    ),
    (
        "tasks",
        "assignee_id",
        uid(99),
        8,
        f"tasks {uid(8)}: assignee_id is {uid(99)} and should be the id of a row",
    ),
    ("voice_calls", "channel_id", None, 9, f"voice_calls {uid(9)}: document has channel_id"),
    (
        "integrations",
        "webhook_url",
        "https://x",
        10,
        f"integrations {uid(10)}: config_document has webhook_url",
    ),
]


@pytest.fixture
def filled(desk: Desk) -> Desk:
    report = desk.load(
        contact(1, name="Kim", external_id="a", tags=["vip"]),
        channel(2, contact_id=uid(1), tags=["late"]),
        message(3, 2, content="hello", sender_type="contact", attachment_ids=[uid(5)]),
        message(4, 2, content="deleted", deleted=True, created_at="2026-01-03T00:00:00Z"),
        record("attachment", 5, filename="a.txt"),
        record("contact_tag", 6, name="vip"),
        record("channel_tag", 7, name="late"),
        record("task", 8, title="T", channel_id=uid(2)),
        record("voice_call", 9, channel_id=uid(2), direction="inbound", status="missed", started_at=TIME),
        record("integration", 10, provider="sms", name="SMS"),
        {"kind": "workspace", "name": "Spokes", "created_at": TIME},
    )
    assert not report.bad_lines
    return desk


def test_what_was_imported_shows_no_difference(filled: Desk) -> None:
    assert filled.differences() == []


@pytest.mark.parametrize(
    ("table", "column", "value", "number", "line"), DAMAGES, ids=lambda value: str(value)[:30]
)
def test_each_damage_is_told_in_a_line(
    filled: Desk, table: str, column: str, value: object, number: int, line: str
) -> None:
    filled.change(table, column, value, number)
    told = filled.differences()
    assert any(one.startswith(line) for one in told), told


def test_an_entry_of_the_search_index_that_is_missing_or_too_many_is_told(filled: Desk) -> None:
    async def index(subject: Subject, number: int, terms: str) -> None:
        entry = Entry(uid(number), Moment(1), terms)
        await filled.store.write(lambda tx: tx.index(subject, filled.workspace_id, [entry]))

    filled.run(index(Subject.MESSAGES, 3, ""))
    filled.run(index(Subject.MESSAGES, 4, "abcpxx"))
    filled.run(index(Subject.CONTACTS, 77, "abcpxx"))
    assert filled.differences() == [
        f"contact_terms {uid(77)}: the entry is there and should be absent",
        f"message_terms {uid(3)}: the entry is absent and should be there",
        f"message_terms {uid(4)}: the entry is there and should be absent",
    ]


def test_terms_that_find_what_they_should_not_are_told(filled: Desk) -> None:
    prefix = term_prefix(filled.workspace_id)
    not_quite = {*terms(prefix, "hello").split(), f"{prefix}pzz"} - {f"{prefix}phe", f"{prefix}whello"}
    entry = Entry(uid(3), Moment(1), " ".join(not_quite))
    filled.run(filled.store.write(lambda tx: tx.index(Subject.MESSAGES, filled.workspace_id, [entry])))
    assert filled.differences() == [
        f"message_terms {uid(3)}: the terms ['{prefix}phe', '{prefix}whello'] are absent and should be there",
        f"message_terms {uid(3)}: the terms ['{prefix}pzz'] are there and should be absent",
    ]


def test_links_that_are_gone_are_told(filled: Desk) -> None:
    for links in (tables.CONTACT_TAG_LINKS, tables.MESSAGE_ATTACHMENTS, tables.CONTACT_EXTERNAL_IDS):
        filled.do(
            Statement(delete(links).where(links.c.workspace_id == bindparam("workspace_id"))),
            workspace_id=filled.workspace_id,
        )
    told = filled.differences()
    assert [one.partition(":")[0] for one in told] == [
        f"contacts {uid(1)}",
        f"messages {uid(3)}",
        f"contact_tags {uid(6)}",
        "contact_external_ids 'a'",
    ]


def test_a_workspace_by_itself_is_looked_at_too(filled: Desk) -> None:
    filled.do(
        Statement(
            update(tables.WORKSPACES)
            .where(tables.WORKSPACES.c.id == bindparam("workspace_id"))
            .values(name=bindparam("said"), owner_member_id=bindparam("owner"))
        ),
        workspace_id=filled.workspace_id,
        said="Rims",
        owner=uid(99),
    )
    assert filled.differences() == [
        f"workspaces {filled.workspace_id}: document has name 'Spokes' and should have 'Rims'",
        f"workspaces {filled.workspace_id}: owner_member_id is {uid(99)} "
        "and should be the id of a row that is there",
    ]
