"""The search index on SQLite: terms cut by us in FTS5, a row number for each thing that is found by them."""

from collections.abc import Sequence
from typing import cast

import apsw

from deskwire.model.text import Parts
from deskwire.store.search import Entry, Found, Subject
from deskwire.store.statement import json_list

# A number begins with the period in which its thing was made, so that the index itself goes by time, and ends
# with a count. Long periods keep an index small; within one, things go by when they were written.
PERIOD_US = 256 * 1_000_000
COUNT_BITS = 16
# More matches of one period than these are not put in order.
MOST_OF_A_PERIOD = 5_000
LAST_CHARACTER = "\U0010ffff"
# So much is merged at a time, lest others who write wait for long.
MERGED_PAGES = 1_000


def index(connection: apsw.Connection, subject: Subject, workspace_id: str, entries: Sequence[Entry]) -> None:
    """Each table is written in one go: whenever FTS5 is left for another, it writes down what it gathered."""
    table = subject.value
    known = [entry.id for entry in entries if not entry.is_new]
    numbers = row_numbers(connection, table, workspace_id, known) if known else {}
    if numbers:
        connection.executemany(
            f"DELETE FROM {table}_terms WHERE rowid = ?", [(number,) for number in numbers.values()]
        )
    moved = [entry.id for entry in entries if is_elsewhere(entry, numbers.get(entry.id))]
    if moved:
        connection.executemany(
            f"DELETE FROM {table}_rows WHERE number = ?", [(numbers.pop(id),) for id in moved]
        )
    found = [entry for entry in entries if entry.terms]
    new = numbered(connection, table, [entry for entry in found if entry.id not in numbers])
    if new:
        connection.executemany(
            f"INSERT INTO {table}_rows (number, workspace_id, id) VALUES (?, ?, ?)",
            [(number, workspace_id, id) for id, number in new.items()],
        )
    numbers |= new
    connection.executemany(
        f"INSERT INTO {table}_terms (rowid, terms) VALUES (?, ?)",
        [(numbers[entry.id], entry.terms) for entry in found],
    )


class Later:
    """Entries of the operations of a group, written together when all have run.

    FTS5 writes down what it gathered at each savepoint, and the operations of a group have one each.
    """

    def __init__(self) -> None:
        self._entries: list[tuple[Subject, str, Entry]] = []
        # Whether one of them has something to deliver.
        self.rings = False
        # How many were accepted by those that succeeded.
        self.events = 0

    def add(self, subject: Subject, workspace_id: str, entries: Sequence[Entry]) -> None:
        self._entries += [(subject, workspace_id, entry) for entry in entries]

    def mark(self) -> int:
        return len(self._entries)

    def forget(self, mark: int) -> None:
        """What was added since the mark."""
        del self._entries[mark:]

    def write(self, connection: apsw.Connection) -> None:
        last: dict[tuple[Subject, str], dict[str, Entry]] = {}
        for subject, workspace_id, entry in self._entries:
            last.setdefault((subject, workspace_id), {})[entry.id] = entry
        for (subject, workspace_id), entries in last.items():
            index(connection, subject, workspace_id, list(entries.values()))
        self._entries.clear()


def candidates(
    connection: apsw.Connection, subject: Subject, workspace_id: str, terms: Parts, limit: int
) -> Sequence[str]:
    """At least the limit, where there are so many: of the last period, the newest that are left, too."""
    table = subject.value
    # Two workspaces may share a prefix of their terms. Crossed, the join begins with the terms, as it must.
    terms_and_rows = f"{table}_terms t CROSS JOIN {table}_rows r ON r.number = t.rowid"
    asked = expression(terms)
    rows = connection.execute(
        f"SELECT r.id, r.number FROM {terms_and_rows} "
        f"WHERE {table}_terms MATCH ? AND r.workspace_id = ? ORDER BY t.rowid DESC LIMIT ?",
        (asked, workspace_id, limit),
    ).fetchall()
    if len(rows) == limit and rows:
        last = cast(int, rows[-1][1])
        begin = last >> COUNT_BITS << COUNT_BITS
        rows += connection.execute(
            f"SELECT thing.id FROM (SELECT r.workspace_id, r.id FROM {terms_and_rows} "
            f"WHERE {table}_terms MATCH ? AND t.rowid >= ? AND t.rowid < ? AND r.workspace_id = ? "
            "ORDER BY t.rowid DESC LIMIT ?) chosen "
            f"CROSS JOIN {table}s thing ON thing.workspace_id = chosen.workspace_id AND thing.id = chosen.id "
            "ORDER BY thing.created_at DESC, thing.id DESC LIMIT ?",
            (asked, begin, last, workspace_id, MOST_OF_A_PERIOD, limit),
        ).fetchall()
    return [str(row[0]) for row in rows]


def has_more_candidates(connection: apsw.Connection, subject: Subject, terms: Parts, most: int) -> bool:
    table = f"{subject.value}_terms"
    found = connection.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?)",
        (expression(terms), most + 1),
    ).get
    return cast(int, found) > most


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


def term_counts(connection: apsw.Connection, subject: Subject, prefix: str) -> dict[str, int]:
    """Through a table of this connection alone, which one that only reads may have as well."""
    table = f"{subject.value}_vocabulary"
    only_reads = connection.pragma("query_only")
    connection.pragma("query_only", False)
    try:
        connection.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{table} "
            f"USING fts5vocab (main, {subject.value}_terms, row)"
        )
    finally:
        connection.pragma("query_only", only_reads)
    found = connection.execute(
        f"SELECT term, doc FROM temp.{table} WHERE term >= ? AND term < ?", (prefix, prefix + LAST_CHARACTER)
    )
    return {str(term): cast(int, things) for term, things in found}


def found_by(connection: apsw.Connection, subject: Subject, term: str) -> list[Found]:
    table = subject.value
    found = connection.execute(
        f"SELECT r.workspace_id, coalesce(r.id, t.rowid) FROM {table}_terms t "
        f"LEFT JOIN {table}_rows r ON r.number = t.rowid WHERE {table}_terms MATCH ?",
        (quoted(term),),
    )
    return [Found(cast("str | None", workspace_id), str(id)) for workspace_id, id in found]


def merge(connection: apsw.Connection, subject: Subject) -> bool:
    """A step on the way to fewer than four pieces on each level, and whether there may be another one."""
    table = f"{subject.value}_terms"
    before = connection.total_changes()
    connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (MERGED_PAGES,))
    # The statement itself is a change.
    return connection.total_changes() - before > 1


def expression(terms: Parts) -> str:
    needed = [quoted(term) for term in terms.exact] + [quoted(prefix) + "*" for prefix in terms.prefixes]
    choices = [f"({' AND '.join(map(quoted, choice))})" for choice in terms.choices]
    return " AND ".join([*needed, f"({' OR '.join(choices)})"] if choices else needed)


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


def is_elsewhere(entry: Entry, number: int | None) -> bool:
    return number is not None and number >> COUNT_BITS != entry.created_at // PERIOD_US


def numbered(connection: apsw.Connection, table: str, entries: Sequence[Entry]) -> dict[str, int]:
    """Numbers that are free; those of a period that is full come from the next."""
    numbers: dict[str, int] = {}
    last_of: dict[int, int] = {}
    for entry in entries:
        period = entry.created_at // PERIOD_US
        while True:
            if period not in last_of:
                last_of[period] = last_number(connection, table, period)
            if last_of[period] + 1 < (period + 1) << COUNT_BITS:
                break
            period += 1
        last_of[period] += 1
        numbers[entry.id] = last_of[period]
    return numbers


def last_number(connection: apsw.Connection, table: str, period: int) -> int:
    begin = period << COUNT_BITS
    return cast(
        int,
        connection.execute(
            f"SELECT coalesce(max(number), ?) FROM {table}_rows WHERE number >= ? AND number < ?",
            (begin - 1, begin, begin + (1 << COUNT_BITS)),
        ).get,
    )
