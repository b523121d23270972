"""A statement of the project: declared once, compiled once for each engine, run through the bare drivers."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import cast

import msgspec
from sqlalchemy import Boolean, Table
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql import Insert, asyncpg, insert
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


class Statement:
    """Values are given by the names of the statement's bind parameters."""

    __slots__ = ("clause", "postgres", "sqlite")

    def __init__(self, clause: ClauseElement) -> None:
        self.clause = clause
        self.sqlite = SqliteText(clause)
        self.postgres = Text(clause, POSTGRES)
        ALL_STATEMENTS.append(self)


def insert_of(table: Table, *columns: str) -> Statement:
    return Statement(_inserted(table, columns))


def upsert(table: Table, *columns: str) -> Statement:
    """Insert a row, or give the row of the same key these columns' values; other columns keep theirs."""
    key = [column.name for column in table.primary_key]
    names = columns or tuple(column.name for column in table.columns)
    inserted = _inserted(table, names)
    changed = {column: inserted.excluded[column] for column in names if column not in key}
    if not changed:
        return Statement(inserted.on_conflict_do_nothing(index_elements=key))
    return Statement(inserted.on_conflict_do_update(index_elements=key, set_=changed))


def _inserted(table: Table, columns: Sequence[str]) -> Insert:
    key = [column.name for column in table.primary_key]
    return insert(table).values({column: bindparam(column) for column in dict.fromkeys((*key, *columns))})
