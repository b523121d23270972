"""No statement walks through a table that grows: every one is explained on both engines, over many rows."""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import asyncpg
import pytest

from deskwire.model.text import Parts
from deskwire.store import postgres_search
from deskwire.store.clock import system_clock
from deskwire.store.migration import migrate_postgres, migrate_sqlite
from deskwire.store.search import Entry, Subject
from deskwire.store.sqlite import SqliteStore
from deskwire.store.statement import Statement, Text
from deskwire.store.transaction import Store, Tx
from tests.engines import PostgresServer, Run
from tests.store import crowd
from tests.store.processes import start
from tests.store.statements import named_statements

STATEMENTS = named_statements()

# What may be walked through, and why.
WALKED = {
    "deskwire.desk.tokens.LIST": "an operator lists the tokens, of one workspace or of all",
    "deskwire.desk.workspaces.LIST": "an operator lists the workspaces",
    "deskwire.store.health.FIND_VERSION": "the table has one row",
}
# Pages whose rows have to be sorted, and why.
SORTED = {
    "deskwire.desk.teams.MEMBERS_OF_TEAM": "a team has few members",
    "deskwire.desk.contacts.MATCHING_CANDIDATES": "candidates are few",
    "deskwire.store.kinds.MESSAGES.pages[document]": "nobody asks for it: messages are listed by channel",
}
# Statements, by the beginnings of their names, that go through a whole workspace, and why.
WHOLE = {
    "deskwire.desk.checking.": "everything is looked over",
    "deskwire.desk.exporting.COUNTS": "an export says how much there is",
    "deskwire.desk.webhooks.LIST": "webhooks come all at once",
    "deskwire.desk.outbox.FAN_OUT": "an event goes to every webhook of its workspace",
    "deskwire.desk.notices.RECIPIENTS": "a notice goes to every owner and admin, once a day at most",
    "deskwire.desk.workflows.LIST": "workflows come all at once",
    "deskwire.desk.importing.people.REMOVE_UNNAMED_MEMBER": "an import asks once",
    "deskwire.store.kinds.MESSAGES.pages[document]": SORTED["deskwire.store.kinds.MESSAGES.pages[document]"],
}
NO_TABLE = ("json_each", "CONSTANT", "(", "anon_", "alembic_version", "chosen")
ONE_ROW = ("tokens USING INDEX", "workspaces USING INDEX", "business_hours USING INDEX")
# What is due, in all workspaces, by an index of its own.
DUE = re.compile("(deliveries|notices) USING (COVERING )?INDEX (deliveries_by_due|notices_by_mail) .*due_at")
BY_ROWID = "INTEGER PRIMARY KEY (rowid=?)"


def lines(connection: apsw.Connection, sql: str, values: int) -> list[str]:
    return [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * values)]


@pytest.fixture(scope="module")
def sqlite_plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    path = tmp_path_factory.mktemp("plans") / "deskwire.db"
    migrate_sqlite(path)
    connection = apsw.Connection(str(path))
    crowd.fill_sqlite(connection)
    connection.close()

    async def explain() -> dict[str, list[str]]:
        store = SqliteStore(path, system_clock)
        await store.write(crowd.index)
        await store.analyse()
        plans = await sqlite_plans_of(store)
        await store.close()
        return plans

    return asyncio.run(explain())


async def sqlite_plans_of(store: SqliteStore) -> dict[str, list[str]]:
    texts = {name: statement.sqlite.sql for name, statement in STATEMENTS.items()}
    seen: list[str] = []

    def see(_cursor: object, sql: str, _values: object) -> bool:
        seen.append(sql)
        return True

    for connection in (store._groups.connection, store._reader):
        connection.exec_trace = see
    await search(store)
    for connection in (store._groups.connection, store._reader):
        connection.exec_trace = None
    texts |= {sql: sql for sql in seen if "_terms" in sql or "_rows" in sql}
    return {name: lines(store._reader, sql, sql.count("?")) for name, sql in texts.items()}


async def search(store: Store) -> None:
    """Everything that an engine asks of its index."""
    workspace = crowd.WORKSPACES[0]

    async def write(tx: Tx) -> None:
        for subject in Subject:
            there = crowd.entries(0)[5]
            new = Entry(there.id[:-1] + "f", 5, "wnew")
            await tx.index(subject, workspace, [there, new, Entry(new.id, 5, "")])

    async def read(tx: Tx) -> None:
        for subject in Subject:
            for parts in (Parts(("w7",), ()), Parts(("wcommon", "w7"), ("p7",)), Parts((), ("p1",))):
                assert await tx.candidates(subject, workspace, parts, 50)
                assert not await tx.has_more_candidates(subject, workspace, parts, 100_000)

    await store.write(write)
    await store.read(read)


def walked_on_sqlite(name: str, plan: list[str]) -> list[str]:
    """The steps that look at all rows of a table, or at all that a workspace has there."""
    found = []
    for step in plan:
        if step.startswith("SCAN ") and not step[5:].startswith(NO_TABLE) and "VIRTUAL TABLE" not in step:
            found.append(step)
        if step.startswith("SEARCH ") and not step[7:].startswith(ONE_ROW) and not DUE.match(step[7:]):
            is_whole = "(workspace_id=?)" in step and not name.startswith(tuple(WHOLE))
            if is_whole or ("workspace_id=?" not in step and BY_ROWID not in step):
                found.append(step)
    return found


def test_no_statement_walks_through_a_table_on_sqlite(sqlite_plans: dict[str, list[str]]) -> None:
    found = {name: steps for name, plan in sqlite_plans.items() if (steps := walked_on_sqlite(name, plan))}
    assert {name: steps for name, steps in found.items() if name not in WALKED} == {}


def is_page(statement: Statement) -> bool:
    names = statement.sqlite._names
    return "limit" in names and ("created_at" in names or "until" in names)


PAGES = [name for name, statement in STATEMENTS.items() if is_page(statement)]


def test_no_page_is_sorted_on_sqlite(sqlite_plans: dict[str, list[str]]) -> None:
    assert len(PAGES) > 15
    found = {name for name in PAGES if any("TEMP B-TREE" in step for step in sqlite_plans[name])}
    assert found <= SORTED.keys()


def test_messages_and_candidates_are_found_by_their_indexes_on_sqlite(
    sqlite_plans: dict[str, list[str]],
) -> None:
    for page in ("FIRST_PAGE", "FURTHER_PAGE"):
        (step,) = sqlite_plans[f"deskwire.desk.messages.{page}"]
        assert step.startswith(
            "SEARCH messages USING INDEX messages_by_time (workspace_id=? AND channel_id=? AND "
        )
    candidates = sqlite_plans["deskwire.desk.contacts.MATCHING_CANDIDATES"][0]
    assert candidates == "SEARCH contacts USING INDEX sqlite_autoindex_contacts_1 (workspace_id=? AND id=?)"
    assert any("VIRTUAL TABLE INDEX" in step for plan in sqlite_plans.values() for step in plan)


def test_the_planner_of_sqlite_goes_by_figures_for_every_index(migrated_sqlite: Path) -> None:
    connection = apsw.Connection(str(migrated_sqlite))
    indexes = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name NOT GLOB '*_terms_*' "
        "UNION SELECT name FROM pragma_table_list WHERE wr AND name NOT GLOB '*_terms_*'"
    ).fetchall()
    assert set(indexes) == set(connection.execute("SELECT idx FROM sqlite_stat1"))
    assert connection.execute("SELECT stat FROM sqlite_stat1 WHERE idx = 'messages_by_time'").get == (
        "10000000 1000000 1000 2 1"
    )
    connection.close()


class Node(NamedTuple):
    kind: str
    table: str | None
    by: str | None
    condition: str


class PostgresPlans(NamedTuple):
    found: dict[str, list[Node]]
    in_order: dict[str, list[Node]]


def nodes(plan: dict[str, Any]) -> Iterator[Node]:
    yield Node(
        plan["Node Type"], plan.get("Relation Name"), plan.get("Index Name"), plan.get("Index Cond", "")
    )
    for below in plan.get("Plans", []):
        yield from nodes(below)


@pytest.fixture(scope="module")
def postgres_plans(postgres_server: PostgresServer) -> PostgresPlans:
    """What is chosen when walking costs far too much, and of pages what is chosen when sorting does."""

    async def explain() -> PostgresPlans:
        url = await postgres_server.new_database("template0")
        await migrate_postgres(url)
        connection = await asyncpg.connect(url)
        try:
            await crowd.fill_postgres(connection)
            await connection.set_type_codec(
                "uuid", schema="pg_catalog", encoder=str, decoder=str, format="text"
            )
            await connection.execute("ANALYZE; SET enable_seqscan = off")
            found = await explain_all(connection)
            await connection.execute("SET enable_sort = off; SET enable_bitmapscan = off")
            in_order = {name: await explain_one(connection, STATEMENTS[name].postgres) for name in PAGES}
        finally:
            await connection.close()
        return PostgresPlans(found, in_order)

    return asyncio.run(explain())


SAMPLES: dict[str, object] = {
    "uuid": crowd.WORKSPACES[0],
    "uuid[]": [crowd.WORKSPACES[0]] * 5,
    "text": "text",
    "text[]": [crowd.WORKSPACES[0]] * 5,
    "varchar": "text",
    "int4": 5,
    # Later than everything, and the first page of it.
    "int8": 10**15,
    "int8[]": [5] * 5,
    "limit": 51,
    "bool": True,
    "bytea": b"{}",
}


async def explain_all(connection: asyncpg.Connection) -> dict[str, list[Node]]:
    found = {
        name: await explain_one(connection, statement.postgres) for name, statement in STATEMENTS.items()
    }
    seen: set[str] = set()

    def see(record: asyncpg.connection.LoggedQuery) -> None:
        seen.add(record.query)

    with connection.query_logger(see):
        workspace = crowd.WORKSPACES[0]
        there = crowd.entries(0)[5]
        for subject in Subject:
            await postgres_search.index(connection, subject, workspace, [there, Entry(there.id, 5, "")])
            for parts in (Parts(("w7",), ()), Parts(("wcommon", "w7"), ("p7",))):
                await postgres_search.candidates(connection, subject, workspace, parts, 50)
                await postgres_search.has_more_candidates(connection, subject, workspace, parts, 50)
    return found | {sql: await explain_text(connection, sql) for sql in seen if "_terms" in sql}


async def explain_one(connection: asyncpg.Connection, statement: Text) -> list[Node]:
    return await explain_text(connection, statement.sql, statement._names)


async def explain_text(connection: asyncpg.Connection, sql: str, names: Sequence[str] = ()) -> list[Node]:
    prepared = await connection.prepare(sql)
    kinds = [parameter.name for parameter in prepared.get_parameters()]
    values = [
        SAMPLES[name if name in SAMPLES else kind] for name, kind in zip(names or kinds, kinds, strict=True)
    ]
    (answer,) = json.loads(await connection.fetchval(f"EXPLAIN (FORMAT JSON) {sql}", *values))
    return list(nodes(answer["Plan"]))


def walked_on_postgres(plan: list[Node]) -> list[Node]:
    return [
        node
        for node in plan
        if node.kind == "Seq Scan"
        or (
            "Index" in node.kind
            and not re.search(r"workspace_id|terms @@", node.condition)
            and grows_node(node)
        )
    ]


def grows_node(node: Node) -> bool:
    is_due = node.by in ("deliveries_by_due", "notices_by_mail") and "due_at" in node.condition
    return not is_due and not str(node.by).startswith(("tokens_", "workspaces_"))


def test_no_statement_walks_through_a_table_on_postgresql(postgres_plans: PostgresPlans) -> None:
    found = {
        name: nodes for name, plan in postgres_plans.found.items() if (nodes := walked_on_postgres(plan))
    }
    assert {name: nodes for name, nodes in found.items() if name not in WALKED} == {}


def test_no_page_is_sorted_on_postgresql(postgres_plans: PostgresPlans) -> None:
    found = {
        name for name, plan in postgres_plans.in_order.items() if any("Sort" in node.kind for node in plan)
    }
    assert found <= SORTED.keys()


def test_messages_and_candidates_are_found_by_their_indexes_on_postgresql(
    postgres_plans: PostgresPlans,
) -> None:
    for page in ("FIRST_PAGE", "FURTHER_PAGE"):
        plan = postgres_plans.in_order[f"deskwire.desk.messages.{page}"]
        assert [node.by for node in plan if node.by] == ["messages_by_time"]
    candidates = postgres_plans.found["deskwire.desk.contacts.MATCHING_CANDIDATES"]
    (node,) = [node for node in candidates if node.by]
    assert node.by == "contacts_pkey"
    assert "workspace_id =" in node.condition and "id = ANY" in node.condition


def test_the_statements_above_are_all_that_there_are() -> None:
    program = (
        "from tests.store.statements import named_statements\n"
        "from deskwire.store.statement import ALL_STATEMENTS\n"
        "print(len(named_statements()), len(ALL_STATEMENTS))"
    )
    out, error = start("-W", "ignore", "-c", program).communicate(timeout=60)
    assert out.split() == [str(len(STATEMENTS))] * 2, error


def test_what_is_allowed_is_there() -> None:
    assert WALKED.keys() | SORTED.keys() <= STATEMENTS.keys()
    for beginning in WHOLE:
        assert any(name.startswith(beginning) for name in STATEMENTS)


def test_a_statement_is_not_planned_again_for_other_values(run: Run, sqlite_store: SqliteStore) -> None:
    again: list[int] = []
    statement = STATEMENTS["deskwire.desk.contacts.MATCHING"]

    async def read(tx: Tx) -> None:
        for pattern in ("%a%", "%b%", "c%", "%"):
            for workspace_id in crowd.WORKSPACES:
                await tx.all(
                    statement, workspace_id=workspace_id, created_at=5, id="x", pattern=pattern, limit=3
                )

    sqlite_store._reader.trace_v2(
        apsw.SQLITE_TRACE_PROFILE,
        lambda event: again.append(event["stmt_status"]["SQLITE_STMTSTATUS_REPREPARE"]),
    )
    run(sqlite_store.read(read))
    assert len(again) >= 8
    assert set(again) == {0}
