"""The search index on PostgreSQL: terms cut by us in a tsvector under GIN."""

from collections.abc import Sequence

import asyncpg

from deskwire.model.text import Parts
from deskwire.store.search import Entry, Subject


async def index(
    connection: asyncpg.Connection, subject: Subject, workspace_id: str, entries: Sequence[Entry]
) -> None:
    table = f"{subject.value}_terms"
    without = [(workspace_id, entry.id) for entry in entries if not entry.terms]
    if without:
        await connection.executemany(f"DELETE FROM {table} WHERE workspace_id = $1 AND id = $2", without)
    found = [entry for entry in entries if entry.terms]
    if found:
        await connection.execute(
            f"INSERT INTO {table} (workspace_id, id, created_at, terms) "
            "SELECT $1, CAST(id AS uuid), created_at, array_to_tsvector(string_to_array(terms, ' ')) "
            "FROM unnest($2::text[], $3::bigint[], $4::text[]) AS rows(id, created_at, terms) "
            "ON CONFLICT (workspace_id, id) "
            "DO UPDATE SET created_at = excluded.created_at, terms = excluded.terms",
            workspace_id,
            [entry.id for entry in found],
            [entry.created_at for entry in found],
            [entry.terms for entry in found],
        )


async def candidates(
    connection: asyncpg.Connection, subject: Subject, workspace_id: str, terms: Parts, limit: int
) -> Sequence[str]:
    found = await connection.fetch(
        f"SELECT id FROM {subject.value}_terms WHERE workspace_id = $1 AND terms @@ $2::text::tsquery "
        "ORDER BY created_at DESC, id DESC LIMIT $3",
        workspace_id,
        expression(terms),
        limit,
    )
    return [row[0] for row in found]


async def has_more_candidates(
    connection: asyncpg.Connection, subject: Subject, workspace_id: str, terms: Parts, most: int
) -> bool:
    found: int = await connection.fetchval(
        f"SELECT count(*) FROM (SELECT 1 FROM {subject.value}_terms "
        "WHERE workspace_id = $1 AND terms @@ $2::text::tsquery LIMIT $3) AS found",
        workspace_id,
        expression(terms),
        most + 1,
    )
    return found > most


async def indexed(
    connection: asyncpg.Connection, subject: Subject, workspace_id: str, after: str, until: str
) -> Sequence[str]:
    found = await connection.fetch(
        f"SELECT id FROM {subject.value}_terms WHERE workspace_id = $1 AND id > $2 AND id <= $3",
        workspace_id,
        after,
        until,
    )
    return [row[0] for row in found]


async def term_counts(connection: asyncpg.Connection, subject: Subject, workspace_id: str) -> dict[str, int]:
    found = await connection.fetch(
        f"SELECT term, count(*) FROM {subject.value}_terms, unnest(tsvector_to_array(terms)) AS term "
        "WHERE workspace_id = $1 GROUP BY term",
        workspace_id,
    )
    return {row[0]: row[1] for row in found}


async def found_by(
    connection: asyncpg.Connection, subject: Subject, workspace_id: str, term: str
) -> Sequence[str]:
    found = await connection.fetch(
        f"SELECT id FROM {subject.value}_terms WHERE workspace_id = $1 AND terms @@ $2::text::tsquery",
        workspace_id,
        quoted(term),
    )
    return [row[0] for row in found]


def expression(terms: Parts) -> str:
    needed = [quoted(term) for term in terms.exact] + [quoted(prefix) + ":*" for prefix in terms.prefixes]
    choices = [f"({' & '.join(map(quoted, choice))})" for choice in terms.choices]
    return " & ".join([*needed, f"({' | '.join(choices)})"] if choices else needed)


def quoted(term: str) -> str:
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"
