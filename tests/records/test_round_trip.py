"""What is exported and imported elsewhere is the same workspace: the same file again, the same answers."""

import asyncio
import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import bindparam, select

from deskwire import demo
from deskwire.store.sqlite import SqliteStore
from deskwire.store.statement import Statement
from deskwire.store.tables import METADATA
from deskwire.store.transaction import Tx
from tests.engines import AnyStore, Run, SetClock
from tests.records.desk import Desk, Fields, uid

# The API answers these tables' documents; what else it needs follows from the records in the export.
DOCUMENTS = [
    Statement(
        select(table.c.id, table.c.visible, table.c.document)
        .where(table.c.workspace_id == bindparam("workspace_id"))
        .order_by(table.c.id)
    )
    for table in METADATA.sorted_tables
    if {"workspace_id", "visible", "document"} <= {*table.c.keys()} and table.name != "ai_agents"
]


def answers(desk: Desk) -> list[object]:
    async def documents(tx: Tx) -> list[object]:
        return [
            [(id, bool(visible), document) for id, visible, document in rows]
            for rows in [await tx.all(one, workspace_id=desk.workspace_id) for one in DOCUMENTS]
        ]

    return desk.read(documents)


def test_the_demo_exported_to_the_other_engine_is_the_same(
    run: Run,
    open_sqlite: Callable[[], AnyStore],
    open_postgres: Callable[[], AnyStore],
    tmp_path: Path,
) -> None:
    path = demo.write(tmp_path / "demo", datetime(2026, 5, 1, tzinfo=UTC))
    exports, answered = [], []
    for number, open_one in enumerate((open_sqlite, open_postgres, open_sqlite)):
        desk = Desk(run, open_one(), tmp_path / str(number), owner_email="nora@kettlecrank.test")
        assert desk.load_file(path).bad_lines == []
        assert desk.differences() == []
        exports.append(desk.export(desk.folder / "files"))
        answered.append(answers(desk))
        path = desk.folder / "records.ndjson"
        path.write_bytes(exports[-1])
    assert exports[0] == exports[1] == exports[2]
    assert answered[0] == answered[1] == answered[2]


def text(maximum: int, minimum: int = 0) -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=minimum, max_size=maximum)


def ids(first: int) -> st.SearchStrategy[str]:
    """A few ids of a range of its own, so that records of a kind meet each other."""
    return st.integers(first, first + 4).map(uid)


def some(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | strategy


MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(lambda one: one.isoformat() + "Z")
FLAGS = st.booleans()


def kind(name: str, first: int, /, **fields: st.SearchStrategy[object]) -> st.SearchStrategy[Fields]:
    base = {"kind": st.just(name), "id": ids(first), "created_at": MOMENTS, "updated_at": some(MOMENTS)}
    return st.fixed_dictionaries(base, optional=fields)


NAMES = text(12)
TAGS = st.lists(st.sampled_from(["a", "b", "A", "ä", "a\u0308", " "]), max_size=4)
RECORDS = st.one_of(
    kind("member", 0x10, active=FLAGS).map(
        lambda one: {"email": "a@example.com", "name": "", "role": "agent", **one}
    ),
    kind("team", 0x20, active=FLAGS, description=some(NAMES), member_ids=st.lists(ids(0x10), max_size=3)).map(
        lambda one: {"name": "T", **one}
    ),
    kind("contact_tag", 0x30, color=some(NAMES)).map(lambda one: {"name": "tag " + str(one["id"]), **one}),
    kind("channel_tag", 0x40, color=some(NAMES)).map(lambda one: {"name": "tag " + str(one["id"]), **one}),
    kind(
        "contact",
        0x50,
        name=some(NAMES),
        email=some(NAMES),
        phone=some(NAMES),
        tags=TAGS,
        is_member=FLAGS,
        last_seen_at=some(MOMENTS),
    ),
    kind(
        "channel",
        0x60,
        name=some(NAMES),
        contact_id=some(ids(0x50)),
        assigned_member_id=some(ids(0x10)),
        tags=TAGS,
        deleted=FLAGS,
        status=st.sampled_from(["open", "snoozed", "closed"]),
    ),
    kind(
        "message",
        0x70,
        content=text(40),
        sender_type=st.sampled_from(["contact", "member", "system", ""]),
        deleted=FLAGS,
        internal_note=FLAGS,
        attachment_ids=st.lists(ids(0x80), max_size=3),
    ).flatmap(
        lambda one: ids(0x60).map(lambda channel_id: {"sender_id": "", "channel_id": channel_id, **one})
    ),
    kind("attachment", 0x80, status=st.sampled_from(["ready", "pending", "failed"])).map(
        lambda one: {"filename": "f", **one}
    ),
    kind(
        "task",
        0x90,
        team_id=some(ids(0x20)),
        channel_id=some(ids(0x60)),
        assignee_id=some(ids(0x10)),
        deleted=FLAGS,
    ).map(lambda one: {"title": "", **one}),
    kind("macro", 0xA0, content=some(NAMES), team_id=some(ids(0x20)), sort_order=st.integers(-5, 5)).map(
        lambda one: {"name": "M", **one}
    ),
    kind("campaign", 0xB0, sent_count=st.integers(0, 2**53), scheduled_at=some(MOMENTS), deleted=FLAGS).map(
        lambda one: {"name": "C", **one}
    ),
    kind("integration", 0xC0, webhook_url=some(NAMES), icon_url=some(NAMES)).map(
        lambda one: {"name": "I", "provider": "sms", **one}
    ),
    kind("workflow", 0xD0, is_active=FLAGS).map(lambda one: {"name": "W", "trigger_type": "T1", **one}),
    kind("voice_call", 0xE0, channel_id=some(ids(0x60)), contact_id=some(ids(0x50))).map(
        lambda one: {"direction": "inbound", "status": "missed", "started_at": one["created_at"], **one}
    ),
    st.fixed_dictionaries({"kind": st.just("workspace"), "name": text(10, 1), "created_at": some(MOMENTS)}),
    st.fixed_dictionaries(
        {
            "kind": st.just("business_hours"),
            "config": some(st.dictionaries(NAMES, st.integers() | NAMES | st.lists(FLAGS), max_size=3)),
        }
    ),
    st.fixed_dictionaries({"kind": st.just("ai_agent"), "created_at": MOMENTS, "enabled": FLAGS}),
)


def without_dangling(records: list[Fields]) -> list[Fields]:
    """The records, with what they name and nobody gives."""
    there = {record["id"] for record in records if "id" in record}
    kept = []
    for record in records:
        whole = dict(record)
        for field in ("contact_id", "assigned_member_id", "team_id", "assignee_id"):
            if whole["kind"] != "voice_call" and whole.get(field) not in there:
                whole.pop(field, None)
        for field in ("member_ids", "attachment_ids"):
            if field in whole:
                whole[field] = [id for id in whole[field] if id in there]
        if whole["kind"] == "task" and whole.get("channel_id") not in there:
            whole.pop("channel_id", None)
        if whole["kind"] != "message" or whole["channel_id"] in there:
            kept.append(whole)
    return kept


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=st.lists(RECORDS, max_size=25).map(without_dangling), more=st.lists(RECORDS, max_size=8))
def test_any_workspace_survives_going_elsewhere_and_coming_back(
    migrated_sqlite: Path, records: list[Fields], more: list[Fields]
) -> None:
    with asyncio.Runner() as runner, tempfile.TemporaryDirectory() as folder, ExitStack() as closing:

        def open_desk(name: str) -> Desk:
            path = Path(folder) / f"{name}.db"
            shutil.copy(migrated_sqlite, path)
            store = SqliteStore(path, SetClock())
            closing.callback(lambda: runner.run(store.close()))
            return Desk(runner.run, store, Path(folder) / name)

        home = open_desk("home")
        for name, lines in (("once", records), ("twice", without_dangling([*records, *more]))):
            assert home.load(*lines).bad_lines == []
            exported = home.export()
            elsewhere = open_desk(name)
            assert elsewhere.load(*exported.splitlines()).bad_lines == []
            assert elsewhere.export() == exported
            assert answers(elsewhere) == answers(home)
            assert home.differences() == elsewhere.differences() == []
