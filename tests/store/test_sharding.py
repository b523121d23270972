"""What grows can be sharded by its workspace: its keys begin with it, and its statements name it."""

from collections.abc import Callable

import asyncpg
import pytest
from sqlalchemy import ForeignKeyConstraint, Select, Table, bindparam, delete, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.expression import BindParameter, ClauseElement
from sqlalchemy.sql.visitors import iterate

from deskwire.desk.checking import check
from deskwire.desk.workspaces import create_workspace
from deskwire.model.errors import Unavailable
from deskwire.model.text import Parts
from deskwire.store import postgres_search
from deskwire.store.kinds import MEMBERS
from deskwire.store.postgres import PostgresStore, prepare
from deskwire.store.records import find_document
from deskwire.store.search import Entry, Subject
from deskwire.store.sharding import distribute, placements
from deskwire.store.tables import CHANNELS, MESSAGES, METADATA, TOKENS, WORKSPACES
from tests.engines import CITUS_URL, PostgresServer, Run
from tests.store.naming import grows, unheld
from tests.store.statements import named_statements

STATEMENTS = named_statements()
GROWING = [table for table in METADATA.sorted_tables if grows(table) and table is not WORKSPACES]
# What looks into every workspace, and why. It is asked of every machine at once, and may lock nothing.
OVER_ALL = {
    "deskwire.desk.workspaces.LIST": "an operator lists the workspaces",
    "deskwire.desk.delivering.claiming.FIND_DUE": "a worker delivers for everybody; it claims by workspace",
    "deskwire.desk.delivering.claiming.OLDEST_DUE": "the figures are of all workspaces",
    "deskwire.desk.notices.FIND_DUE": "notices are mailed for everybody; they are claimed by workspace",
}
# What changes rows in every workspace, each by itself and whichever there are.
CHANGES_ALL = dict.fromkeys(
    (
        "deskwire.desk.delivering.claiming.REDATE",
        "deskwire.desk.delivering.claiming.REDATE_WAITING",
    ),
    "a clock that was set back dated for everybody",
)
# What is due is looked for by an index of its own.
DUE = {"deliveries_by_due", "notices_by_mail"}
DUE_COLUMNS = ("due_at", "mail_due_at")
A_WORKSPACE: BindParameter[str] = bindparam("workspace_id")

KEYS_OF_TABLES = """
    SELECT i.indrelid::regclass::text, i.indisunique, am.amname, a.attname
    FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_am am ON am.oid = c.relam
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE c.relnamespace = 'public'::regnamespace
"""
# Citus's own functions and its list of what is distributed, which here only take down what they are told.
CITUS_STANDING_IN = """
    CREATE TABLE pg_dist_partition (
        number int GENERATED ALWAYS AS IDENTITY, logicalrelid regclass, by text, beside text
    );
    CREATE FUNCTION create_distributed_table(
        table_name regclass, distribution_column text, distribution_type text = 'hash',
        colocate_with text = 'default'
    ) RETURNS void LANGUAGE sql AS
    'INSERT INTO pg_dist_partition (logicalrelid, by, beside)
     VALUES (table_name, distribution_column, colocate_with)';
    CREATE FUNCTION create_reference_table(table_name regclass) RETURNS void LANGUAGE sql AS
    'INSERT INTO pg_dist_partition (logicalrelid) VALUES (table_name)';
"""


@pytest.mark.parametrize("table", GROWING, ids=lambda table: table.name)
def test_keys_begin_with_the_workspace(table: Table) -> None:
    assert table.primary_key.columns.keys()[0] == "workspace_id"
    for constraint in table.constraints:
        if isinstance(constraint, ForeignKeyConstraint):
            assert constraint.columns.keys()[0] == "workspace_id"
            assert constraint.elements[0].column.name == "workspace_id"
            assert constraint.elements[0].column.table in GROWING
    for index in table.indexes:
        assert index.name in DUE or index.columns.keys()[0] == "workspace_id"


def test_indexes_of_the_database_begin_with_the_workspace(run: Run, postgres_server: PostgresServer) -> None:
    """The search index is in no declaration, and looks for terms in whichever workspace."""

    async def ask() -> tuple[list[asyncpg.Record], int]:
        connection = await asyncpg.connect(await postgres_server.new_database())
        try:
            sequences = "SELECT count(*) FROM pg_class WHERE relkind = 'S'"
            return await connection.fetch(KEYS_OF_TABLES), await connection.fetchval(sequences)
        finally:
            await connection.close()

    found, sequences = run(ask())
    elsewhere = {"workspaces", "tokens", "alembic_version"}
    others = {(table, by) for table, _, by, first in found if first not in ("workspace_id", *DUE_COLUMNS)}
    assert {(table, by) for table, by in others if table not in elsewhere} == {
        ("contact_terms", "gin"),
        ("message_terms", "gin"),
    }
    assert not any(unique for _, unique, by, _ in found if by == "gin")
    assert sequences == 0


@pytest.mark.parametrize("name", sorted(STATEMENTS.keys() - OVER_ALL.keys() - CHANGES_ALL.keys()))
def test_a_statement_names_one_workspace_for_every_table(name: str) -> None:
    assert list(unheld(STATEMENTS[name].clause)) == []


@pytest.mark.parametrize("name", OVER_ALL)
def test_what_looks_into_every_workspace_only_reads_and_locks_nothing(name: str) -> None:
    clause = STATEMENTS[name].clause
    assert list(unheld(clause))
    assert isinstance(clause, Select)
    assert not any(isinstance(part, Select) and part._for_update_arg is not None for part in iterate(clause))


MINE = CHANNELS.c.workspace_id == A_WORKSPACE
OTHERS = CHANNELS.alias("others")
OLD = select(CHANNELS.c.id).where(CHANNELS.c.created_at < 5).cte("old")


@pytest.mark.parametrize(
    ("wrong", "table"),
    [
        (select(CHANNELS.c.id).where(CHANNELS.c.id == bindparam("id")), "channels"),
        (select(CHANNELS.c.id).where(or_(MINE, CHANNELS.c.deleted)), "channels"),
        (select(CHANNELS.c.id).where(CHANNELS.c.workspace_id >= A_WORKSPACE), "channels"),
        (select(CHANNELS.c.id).join(OTHERS, OTHERS.c.id == CHANNELS.c.id).where(MINE), "others"),
        (
            select(CHANNELS.c.id, OTHERS.c.id).where(CHANNELS.c.workspace_id == OTHERS.c.workspace_id),
            "channels",
        ),
        (select(CHANNELS.c.id).where(MINE, select(MESSAGES.c.id).exists()), "messages"),
        (delete(CHANNELS).where(MINE, CHANNELS.c.id.in_(select(OLD.c.id))), "channels"),
        (update(CHANNELS).values(version=2).where(CHANNELS.c.id == bindparam("one")), "channels"),
        (update(CHANNELS).values(workspace_id="w").where(MINE), "channels"),
        (insert(CHANNELS).values(id=bindparam("id")), "channels"),
        (
            insert(CHANNELS)
            .values(id=bindparam("id"), workspace_id=A_WORKSPACE)
            .on_conflict_do_nothing(index_elements=["id"]),
            "channels",
        ),
        (select(WORKSPACES.c.name), "workspaces"),
    ],
)
def test_a_statement_that_does_not_is_noticed(wrong: ClauseElement, table: str) -> None:
    assert table in set(unheld(wrong))


def test_the_search_index_is_asked_of_one_workspace(run: Run, postgres_server: PostgresServer) -> None:
    seen: set[str] = set()

    async def search() -> None:
        connection = await asyncpg.connect(await postgres_server.new_database())
        await prepare(connection)
        id = "018f3e1c-7c2a-7b11-9a53-000000000001"
        try:
            with connection.query_logger(lambda record: seen.add(record.query)):
                for subject in Subject:
                    entries = [Entry(id, 5, "wnew"), Entry(id, 5, "")]
                    await postgres_search.index(connection, subject, id, entries)
                    terms = Parts(("wnew",), ())
                    await postgres_search.candidates(connection, subject, id, terms, 5)
                    await postgres_search.has_more_candidates(connection, subject, id, terms, 5)
                    await postgres_search.indexed(connection, subject, id, id, id)
                    await postgres_search.term_counts(connection, subject, id)
                    await postgres_search.found_by(connection, subject, id, "wnew")
        finally:
            await connection.close()

    run(search())
    # The driver asks what a type is, too.
    seen = {sql for sql in seen if "_terms" in sql}
    assert len(seen) == 7 * len(Subject)
    assert all("WHERE workspace_id = $1 " in sql or "ON CONFLICT (workspace_id, " in sql for sql in seen)


def test_every_table_has_its_place(run: Run, postgres_server: PostgresServer) -> None:
    async def ask() -> set[str]:
        connection = await asyncpg.connect(await postgres_server.new_database())
        try:
            found = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            return {row[0] for row in found}
        finally:
            await connection.close()

    found = list(placements())
    assert {each.table for each in found} == run(ask()) - {"alembic_version"}
    assert {each.table: each.column for each in found if each.column != "workspace_id"} == {
        WORKSPACES.name: "id",
        TOKENS.name: None,
    }


def test_without_citus_nothing_is_distributed(run: Run, postgres_server: PostgresServer) -> None:
    with pytest.raises(Unavailable, match="the database has no Citus") as refused:
        run(distribute(run(postgres_server.new_database())))
    assert "\n" not in str(refused.value)


@pytest.mark.skipif(not CITUS_URL, reason="DESKWIRE_TEST_CITUS_URL names no PostgreSQL with Citus")
def test_with_citus_every_table_is_distributed_and_a_desk_works(
    run: Run, open_citus: Callable[[], PostgresStore]
) -> None:
    store = open_citus()
    workspace_id, owner_id = run(store.write(lambda tx: create_workspace(tx, "Acme", "ann@acme.test")))

    async def look() -> tuple[int, list[str]]:
        async with store.pool.acquire() as connection:
            known = await connection.fetchval(
                "SELECT count(*) FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid "
                "WHERE c.relnamespace = current_schema()::regnamespace"
            )
        return known, [difference async for difference in check(store, lambda done, total: None)]

    assert run(look()) == (len(list(placements())), [])
    member = run(store.read(lambda tx: find_document(tx, MEMBERS, workspace_id, owner_id)))
    assert member is not None and b"ann@acme.test" in member


def test_what_is_distributed_already_is_left_alone(run: Run, postgres_server: PostgresServer) -> None:
    """Against functions that take the place of Citus's own; DESKWIRE_TEST_CITUS_URL names a real one."""

    async def told(url: str) -> list[tuple[str, str | None, str | None]]:
        connection = await asyncpg.connect(url)
        try:
            rows = await connection.fetch(
                "SELECT logicalrelid::text, by, beside FROM pg_dist_partition ORDER BY number"
            )
            return [tuple(row) for row in rows]
        finally:
            await connection.close()

    async def stand_in(url: str) -> None:
        connection = await asyncpg.connect(url)
        await connection.execute(CITUS_STANDING_IN)
        await connection.execute("SELECT create_reference_table('tokens')")
        await connection.close()

    url = run(postgres_server.new_database())
    run(stand_in(url))
    assert set(run(distribute(url))) == {each.table for each in placements()} - {TOKENS.name}
    assert run(distribute(url)) == []
    first, second, *others = run(told(url))
    assert first == (TOKENS.name, None, None)
    assert second == (WORKSPACES.name, "id", "none")
    assert {(by, beside) for _, by, beside in others} == {("workspace_id", "workspaces")}
    order = [table for table, _, _ in others]
    assert all(
        order.index(key.referred_table.name) < order.index(table.name)
        for table in GROWING
        for key in table.foreign_key_constraints
    )
