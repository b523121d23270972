"""The search index on SQLite: terms cut by us in FTS5, a row number for each thing that is found by them."""

from collections.abc import Sequence

import apsw

from deskwire.model.text import Parts
from deskwire.store.search import Entry, Subject


def index(connection: apsw.Connection, subject: Subject, workspace_id: str, entries: Sequence[Entry]) -> None:
    table = subject.value
    for entry in entries:
        number = row_number(connection, table, workspace_id, entry.id)
        if number is not None:
            connection.execute(f"DELETE FROM {table}_terms WHERE rowid = ?", (number,))
        if not entry.terms:
            continue
        if number is None:
            number = connection.execute(
                f"INSERT INTO {table}_rows (workspace_id, id) VALUES (?, ?) RETURNING number",
                (workspace_id, entry.id),
            ).get
        connection.execute(
            f"INSERT INTO {table}_terms (rowid, terms) VALUES (?, ?)", (number, " ".join(entry.terms))
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


def expression(terms: Parts) -> str:
    exact = [quoted(term) for term in terms.exact]
    return " AND ".join(exact + [quoted(prefix) + "*" for prefix in terms.prefixes])


def quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def row_number(connection: apsw.Connection, table: str, workspace_id: str, thing_id: str) -> int | None:
    found = connection.execute(
        f"SELECT number FROM {table}_rows WHERE workspace_id = ? AND id = ?", (workspace_id, thing_id)
    ).get
    return found if isinstance(found, int) else None
