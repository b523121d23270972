"""Whether a statement holds every table that grows to one workspace, wherever in it the table stands."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Delete, Select, Table, Update
from sqlalchemy.sql.elements import BinaryExpression, BindParameter, BooleanClauseList
from sqlalchemy.sql.expression import (
    CTE,
    Alias,
    ClauseElement,
    ColumnClause,
    FromClause,
    Insert,
    Join,
    Subquery,
)
from sqlalchemy.sql.operators import and_, eq
from sqlalchemy.sql.selectable import SelectState

from deskwire.store.tables import TOKENS, WORKSPACES

Tables = frozenset[FromClause]
# What is equal to it is held to a workspace.
Side = FromClause | BindParameter[object]


def unheld(clause: ClauseElement, enclosing: Tables = frozenset()) -> Iterator[str]:
    """The tables of which the statement might touch rows of several workspaces."""
    if isinstance(clause, Insert):
        yield from () if is_given_workspace(clause) else [clause.table.name]
        yield from () if clause.select is None else unheld(clause.select)
        return
    if isinstance(clause, Update) and moves_rows(clause):
        yield str(clause.table)
    own = tables_of(clause) - enclosing
    held: set[Side] = set(enclosing)
    sides = [pair for condition in conditions(clause) for pair in equalities(condition)]
    for _ in own:
        held |= {
            one for pair in sides for one, other in (pair, pair[::-1]) if other in held or is_value(other)
        }
    yield from (str(table.name) for table in own if grows(table) and table not in held)  # type: ignore[attr-defined]
    for nested, sees_enclosing in nested_in(clause):
        yield from unheld(nested, enclosing | own if sees_enclosing else frozenset())


def is_given_workspace(insert: Insert) -> bool:
    """What is inserted names its workspace, and what it meets there keeps it."""
    key = workspace_key(insert.table)
    given = {str(getattr(column, "name", column)) for column in insert._values or insert.table.c}
    if insert.select is not None:
        given = selected_workspace(insert)
    conflict = getattr(insert, "_post_values_clause", None)
    target = getattr(conflict, "inferred_target_elements", None)
    changed = getattr(conflict, "update_values_to_set", {})
    return not grows(insert.table) or (
        key in given and (target is None or key in target) and key not in changed
    )


def selected_workspace(insert: Insert) -> set[str]:
    """The columns of a workspace that an INSERT … SELECT takes from a table, which is to be held to one."""
    assert isinstance(insert.select, Select)
    pairs = zip(insert._select_names or (), insert.select.selected_columns, strict=True)
    return {name for name, column in pairs if isinstance(side_of(column), FromClause)}


def moves_rows(update: Update) -> bool:
    changed = {str(getattr(column, "name", column)) for column in update._values or {}}
    return grows(update.table) and workspace_key(update.table) in changed


def grows(table: FromClause) -> bool:
    real = table.element if isinstance(table, Alias) else table
    return isinstance(real, Table) and real is not TOKENS


def workspace_key(table: FromClause) -> str:
    real = table.element if isinstance(table, Alias) else table
    return "id" if real is WORKSPACES else "workspace_id"


def tables_of(clause: ClauseElement) -> Tables:
    match clause:
        case Select():
            return frozenset(table for source in sources(clause) for table in parts_of(source))
        case Delete() | Update():
            return frozenset([clause.table])
    return frozenset()


def sources(select: "Select[Any]") -> Sequence[FromClause]:
    """What it selects from; `get_final_froms` would ask a compiler that knows no conditions of ours."""
    return SelectState(select, None)._get_display_froms()  # type: ignore[arg-type]


def parts_of(source: FromClause) -> Iterator[FromClause]:
    match source:
        case Join():
            yield from parts_of(source.left)
            yield from parts_of(source.right)
        case Table() | Alias():
            yield source


def conditions(clause: ClauseElement) -> Iterator[ClauseElement]:
    """What must be true of each row: a condition that is one of several that may hold is none of them."""
    if isinstance(clause, Select | Delete | Update) and clause.whereclause is not None:
        yield from conjuncts(clause.whereclause)
    if isinstance(clause, Select):
        for source in sources(clause):
            yield from (each for on in on_clauses(source) for each in conjuncts(on))


def on_clauses(source: FromClause) -> Iterator[ClauseElement]:
    if isinstance(source, Join):
        if source.onclause is not None:
            yield source.onclause
        yield from on_clauses(source.left)
        yield from on_clauses(source.right)


def conjuncts(clause: ClauseElement) -> Iterator[ClauseElement]:
    if isinstance(clause, BooleanClauseList) and clause.operator is and_:
        for each in clause.clauses:
            yield from conjuncts(each)
    else:
        yield clause


def equalities(condition: ClauseElement) -> Iterator[tuple[Side, Side]]:
    if isinstance(condition, BinaryExpression) and condition.operator is eq:
        sides = [side_of(condition.left), side_of(condition.right)]
        if sides[0] is not None and sides[1] is not None:
            yield sides[0], sides[1]


def side_of(expression: ClauseElement) -> Side | None:
    """A value, or the table whose workspace is meant."""
    match expression:
        case BindParameter():
            return expression
        case ColumnClause() if expression.table is not None:
            named = expression.name == workspace_key(expression.table)
            return expression.table if named else None
    return None


def is_value(side: Side) -> bool:
    return isinstance(side, BindParameter)


def nested_in(clause: ClauseElement) -> Iterator[tuple[ClauseElement, bool]]:
    """The selects within, and whether they see the tables around them."""
    for child in clause.get_children():
        match child:
            case Select():
                yield child, True
            case CTE() | Subquery():
                yield child.element, False
            case _:
                yield from nested_in(child)
