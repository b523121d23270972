"""A statement of the project: declared once, compiled when an engine first runs it, run by bare drivers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, cast

import msgspec
from sqlalchemy import Boolean, Select, Table, Uuid, func, select
from sqlalchemy import Text as TextType
from sqlalchemy import cast as sql_cast
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql import ARRAY, Insert, asyncpg, insert
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import bindparam
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ClauseElement, ColumnElement
from sqlalchemy.sql.visitors import iterate
from sqlalchemy.types import NullType

Value = str | int | bytes | bool | float | None | Sequence[str]
Row = tuple[Value, ...]

SQLITE: Dialect = sqlite.dialect(paramstyle="qmark")
POSTGRES: Dialect = asyncpg.dialect()  # type: ignore[no-untyped-call]

ALL_STATEMENTS: "list[Statement]" = []


class Text:
    """The words of a statement in one dialect, and the order of its values."""

    def __init__(self, clause: ClauseElement, dialect: Dialect) -> None:
        compiled = clause.compile(dialect=dialect)
        self.sql = str(compiled)
        self._names = tuple(getattr(compiled, "positiontup", None) or ())
        given = compiled.params
        self._constants = {name: given[name] for name in self._names if given.get(name) is not None}
        # An itemgetter makes the tuple far quicker than a loop does, but of one name it makes no tuple.
        self._pick = itemgetter(*self._names) if len(self._names) > 1 else None

    def values(self, values: Mapping[str, Value]) -> tuple[Value, ...]:
        if self._constants:
            values = {**self._constants, **values}
        if self._pick is not None:
            return cast(tuple[Value, ...], self._pick(values))
        return tuple([values[name] for name in self._names])


class SqliteText(Text):
    """SQLite has no lists: they travel as JSON."""

    def __init__(self, clause: ClauseElement) -> None:
        super().__init__(clause, SQLITE)
        self._has_lists = any(isinstance(part, Among) for part in iterate(clause))

    def values(self, values: Mapping[str, Value]) -> tuple[Value, ...]:
        row = super().values(values)
        if not self._has_lists:
            return row
        return tuple([json_list(value) if isinstance(value, list | tuple) else value for value in row])


def json_list(values: Sequence[object]) -> str:
    return msgspec.json.encode(values).decode()


class Among(ColumnElement[bool]):
    """Whether a column's value is one of a list of texts, given as one value."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, column: ColumnElement[str], values: str) -> None:
        self.column = column
        self.values = bindparam(values, type_=NullType())

    def self_group(self, against: object = None) -> "Among":
        """It is a condition as it stands; a dialect without booleans need not compare it with 1."""
        return self


@compiles(Among, "sqlite")
def among_on_sqlite(among: Among, compiler: SQLCompiler, **more: object) -> str:
    column, values = compiler.process(among.column, **more), compiler.process(among.values, **more)
    return f"{column} IN (SELECT value FROM json_each({values}))"


@compiles(Among, "postgresql")
def among_on_postgresql(among: Among, compiler: SQLCompiler, **more: object) -> str:
    column, values = compiler.process(among.column, **more), compiler.process(among.values, **more)
    kind = compiler.dialect.type_compiler_instance.process(among.column.type).split(" ")[0]
    # Selected, the list is converted once; in a plan that is kept it would be once for each row looked at.
    return f"{column} = ANY (CAST((SELECT CAST(CAST({values} AS TEXT[]) AS {kind}[])) AS {kind}[]))"


class Bulk(Text):
    """An insert of many rows at once on PostgreSQL: each column's values travel as one list."""

    def __init__(self, clause: ClauseElement, key: Sequence[str]) -> None:
        super().__init__(clause, POSTGRES)
        self._key = [self._names.index(name) for name in key]

    def lists(self, rows: Iterable[Mapping[str, Value]]) -> list[list[Value]]:
        """Of rows with the same key the last one alone counts, as it would if they came one by one."""
        values = [self.values(row) for row in rows]
        if self._key:
            values = list({tuple([row[at] for at in self._key]): row for row in values}.values())
        return [list(column) for column in zip(*values, strict=True)]


class Statement:
    """Values are given by the names of the statement's bind parameters."""

    def __init__(self, clause: ClauseElement, bulk: Callable[[], Bulk] | None = None) -> None:
        self.clause = clause
        self._bulk = bulk
        ALL_STATEMENTS.append(self)

    @cached_property
    def sqlite(self) -> Text:
        return SqliteText(self.clause)

    @cached_property
    def postgres(self) -> Text:
        return Text(self.clause, POSTGRES)

    @cached_property
    def bulk(self) -> Bulk | None:
        return None if self._bulk is None else self._bulk()


def insert_of(table: Table, *columns: str) -> Statement:
    names = with_key(table, columns)
    return Statement(insert_one(table, names), lambda: Bulk(insert_many(table, names), ()))


def upsert(table: Table, *columns: str) -> Statement:
    """Insert a row, or give the row of the same key these columns' values; other columns keep theirs."""
    names = with_key(table, columns or [column.name for column in table.columns])
    key = [column.name for column in table.primary_key]
    return Statement(
        or_change(insert_one(table, names), key, names),
        lambda: Bulk(or_change(insert_many(table, names), key, names), key),
    )


def or_change(inserted: Insert, key: Sequence[str], names: Sequence[str]) -> Insert:
    changed = {name: inserted.excluded[name] for name in names if name not in key}
    if not changed:
        return inserted.on_conflict_do_nothing(index_elements=key)
    return inserted.on_conflict_do_update(index_elements=key, set_=changed)


def with_key(table: Table, columns: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*(column.name for column in table.primary_key), *columns]))


def insert_one(table: Table, names: Sequence[str]) -> Insert:
    return insert(table).values({name: bindparam(name) for name in names})


def insert_many(table: Table, names: Sequence[str]) -> Insert:
    return insert(table).from_select(names, rows_of_lists(table, names))


def rows_of_lists(table: Table, names: Sequence[str]) -> Select[Any]:
    """Ids travel as texts, which the driver turns into bytes quicker than anything else."""
    columns = [table.c[name] for name in names]
    lists = [
        bindparam(one.name, type_=ARRAY(TextType() if isinstance(one.type, Uuid) else one.type))
        for one in columns
    ]
    rows = func.unnest(*lists).table_valued(*names).render_derived(name="rows")
    return select(*(sql_cast(rows.c[one.name], one.type) for one in columns))
