"""The search index on SQLite: terms cut by us in FTS5, a row number for each thing that is found by them."""

import itertools
from collections.abc import Sequence
from typing import cast

import apsw

from deskwire.model.text import Parts
from deskwire.store.search import Entry, Subject
from deskwire.store.statement import json_list


def index(connection: apsw.Connection, subject: Subject, workspace_id: str, entries: Sequence[Entry]) -> None:
    """Each table is written in one go: whenever FTS5 is left for another, it writes down what it gathered."""
    table = subject.value
    numbers = row_numbers(connection, table, workspace_id, [entry.id for entry in entries])
    if numbers:
        connection.executemany(
            f"DELETE FROM {table}_terms WHERE rowid = ?", [(number,) for number in numbers.values()]
        )
    found = [entry for entry in entries if entry.terms]
    new = [entry.id for entry in found if entry.id not in numbers]
    if new:
        numbers |= zip(new, itertools.count(last_number(connection, table) + 1), strict=False)
        connection.executemany(
            f"INSERT INTO {table}_rows (number, workspace_id, id) VALUES (?, ?, ?)",
            [(numbers[id], workspace_id, id) for id in new],
        )
    connection.executemany(
        f"INSERT INTO {table}_terms (rowid, terms) VALUES (?, ?)",
        [(numbers[entry.id], " ".join(entry.terms)) for entry in found],
    )


def candidates(
    connection: apsw.Connection, subject: Subject, workspace_id: str, terms: Parts, limit: int
) -> Sequence[str]:
    table = subject.value
    # Two workspaces may share a prefix of their terms. Crossed, the join begins with the terms, as it must.
    found = connection.execute(
        f"SELECT r.id FROM {table}_terms t CROSS JOIN {table}_rows r ON r.number = t.rowid "
        f"WHERE {table}_terms MATCH ? AND r.workspace_id = ? ORDER BY t.rowid DESC LIMIT ?",
        (expression(terms), workspace_id, limit),
    )
    return [str(row[0]) for row in found]


def indexed(
    connection: apsw.Connection, subject: Subject, workspace_id: str, after: str, until: str
) -> Sequence[str]:
    table = subject.value
    found = connection.execute(
        f"SELECT id FROM {table}_rows r WHERE workspace_id = ? AND id > ? AND id <= ? "
        f"AND EXISTS (SELECT 1 FROM {table}_terms t WHERE t.rowid = r.number)",
        (workspace_id, after, until),
    )
    return [str(thing) for (thing,) in found]


def expression(terms: Parts) -> str:
    exact = [quoted(term) for term in terms.exact]
    return " AND ".join(exact + [quoted(prefix) + "*" for prefix in terms.prefixes])


def quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def row_numbers(
    connection: apsw.Connection, table: str, workspace_id: str, ids: Sequence[str]
) -> dict[str, int]:
    found = connection.execute(
        f"SELECT id, number FROM {table}_rows "
        "WHERE workspace_id = ? AND id IN (SELECT value FROM json_each(?))",
        (workspace_id, json_list(ids)),
    )
    return {str(id): cast(int, number) for id, number in found}


def last_number(connection: apsw.Connection, table: str) -> int:
    return cast(int, connection.execute(f"SELECT coalesce(max(number), 0) FROM {table}_rows").get)
