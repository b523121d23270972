"""What grows can be sharded by its workspace: its keys begin with it, and its statements name it."""

import pytest
from sqlalchemy import ForeignKeyConstraint, Table, UniqueConstraint
from sqlalchemy.sql.elements import BinaryExpression, BindParameter
from sqlalchemy.sql.expression import Alias, ClauseElement, ColumnClause, Insert
from sqlalchemy.sql.operators import eq
from sqlalchemy.sql.visitors import iterate

from deskwire.store.statement import Statement
from deskwire.store.tables import METADATA, TOKENS, WORKSPACES
from tests.store.statements import named_statements

STATEMENTS = named_statements()
GROWING = [table for table in METADATA.sorted_tables if table not in (TOKENS, WORKSPACES)]
# What is due is looked for in all workspaces at once.
DUE = {"deliveries_by_due", "notices_by_mail"}
# A token is looked for before its workspace is known, and is replicated, as workspaces are.
OVER_ALL = {
    # The worker looks for what is due everywhere; it claims by workspace.
    "deskwire.desk.delivering.claiming.FIND_DUE",
    "deskwire.desk.notices.FIND_DUE",
    "deskwire.desk.delivering.claiming.OLDEST_DUE",
    "deskwire.desk.delivering.claiming.REDATE",
    "deskwire.desk.tokens.BY_HASH",
    "deskwire.desk.tokens.BY_ID",
    "deskwire.desk.tokens.ROTATE",
    "deskwire.desk.tokens.REVOKE",
    "deskwire.desk.workspaces.LIST",
    "deskwire.store.health.FIND_VERSION",
}


@pytest.mark.parametrize("table", GROWING, ids=lambda table: table.name)
def test_keys_begin_with_the_workspace(table: Table) -> None:
    assert table.primary_key.columns.keys()[0] == "workspace_id"
    for constraint in table.constraints:
        if isinstance(constraint, UniqueConstraint | ForeignKeyConstraint):
            assert constraint.columns.keys()[0] == "workspace_id"
        if isinstance(constraint, ForeignKeyConstraint):
            assert constraint.elements[0].column.name == "workspace_id"
    for index in table.indexes:
        assert index.name in DUE or index.columns.keys()[0] == "workspace_id"


def named_workspaces(clause: ClauseElement) -> tuple[set[object], bool]:
    """The tables whose workspace is held equal to something, and whether one of them is to a value given."""
    tables: set[object] = set()
    is_bound = False
    for part in iterate(clause):
        if isinstance(part, BinaryExpression) and part.operator is eq:
            sides = (part.left, part.right)
            columns = [side for side in sides if isinstance(side, ColumnClause) and is_workspace(side)]
            tables |= {column.table for column in columns}
            is_bound |= bool(columns) and any(isinstance(side, BindParameter) for side in sides)
    return tables, is_bound


def is_workspace(column: "ColumnClause[object]") -> bool:
    return column.name == "workspace_id" or (column.table is WORKSPACES and column.name == "id")


def growing_in(clause: ClauseElement) -> set[object]:
    found: set[object] = set()
    for part in iterate(clause):
        if isinstance(part, ColumnClause) and part.table is not None:
            table = part.table.element if isinstance(part.table, Alias) else part.table
            if table in GROWING:
                found.add(part.table)
    return found


@pytest.mark.parametrize("name", sorted(STATEMENTS.keys() - OVER_ALL))
def test_a_statement_names_one_workspace_for_every_table(name: str) -> None:
    statement = STATEMENTS[name]
    if isinstance(statement.clause, Insert):
        assert statement.clause.table is TOKENS or is_keyed_by_workspace(statement)
        return
    tables, is_bound = named_workspaces(statement.clause)
    assert is_bound, "no workspace is given"
    assert growing_in(statement.clause) <= tables


def is_keyed_by_workspace(statement: Statement) -> bool:
    assert isinstance(statement.clause, Insert)
    key = "id" if statement.clause.table is WORKSPACES else "workspace_id"
    return key in statement.postgres._names


def test_what_goes_over_all_workspaces_is_there() -> None:
    assert STATEMENTS.keys() >= OVER_ALL
