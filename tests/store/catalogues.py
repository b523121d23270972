"""What a database itself says of its tables, on both engines, so that two databases can be compared."""

import apsw
import asyncpg

Catalogue = dict[str, set[str]]

POSTGRES_COLUMNS = """
    SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
           pg_get_expr(d.adbin, d.adrelid), l.collname
    FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    LEFT JOIN pg_collation l ON l.oid = a.attcollation
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
"""
POSTGRES_INDEXES = "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'"
POSTGRES_CONSTRAINTS = """
    SELECT conrelid::regclass::text, contype::text || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace
"""


def sqlite_catalogue(connection: apsw.Connection) -> Catalogue:
    """Of each table, all that can be said of it; the tables within a virtual table are its own affair."""
    return {
        table: {
            *sqlite_columns(connection, table),
            *sqlite_foreign_keys(connection, table),
            *sqlite_indexes(connection, table),
        }
        for table, kind in sqlite_tables(connection)
        if kind != "shadow"
    }


def sqlite_tables(connection: apsw.Connection) -> list[tuple[str, str]]:
    found = connection.execute("SELECT name, type FROM pragma_table_list WHERE schema = 'main'")
    return [(str(name), str(kind)) for name, kind in found if not str(name).startswith("sqlite_")]


def sqlite_columns(connection: apsw.Connection, table: str) -> list[str]:
    found = connection.execute(
        'SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_xinfo(?)', (table,)
    )
    return [f"column {column}" for column in found]


def sqlite_foreign_keys(connection: apsw.Connection, table: str) -> list[str]:
    found = connection.execute(
        """SELECT group_concat("from" || ' to ' || "table" || '.' || "to" ORDER BY seq), on_update, on_delete
        """
        "FROM pragma_foreign_key_list(?) GROUP BY id",
        (table,),
    )
    return [f"foreign key {key}" for key in found]


def sqlite_indexes(connection: apsw.Connection, table: str) -> list[str]:
    lines = []
    for name, unique, origin, partial in connection.execute(
        'SELECT name, "unique", origin, partial FROM pragma_index_list(?)', (table,)
    ):
        columns = connection.execute(
            "SELECT name, desc, coll FROM pragma_index_xinfo(?) WHERE key ORDER BY seqno", (name,)
        ).fetchall()
        condition = connection.execute(
            "SELECT substr(sql, instr(sql, ' WHERE ')) FROM sqlite_schema WHERE name = ?", (name,)
        ).get
        named = name if origin == "c" else ""
        lines.append(f"index {named} {unique} {origin} {columns} {condition if partial else ''}")
    return lines


async def postgres_catalogue(connection: asyncpg.Connection) -> Catalogue:
    catalogue: Catalogue = {}
    for prefix, question in (
        ("column", POSTGRES_COLUMNS),
        ("index", POSTGRES_INDEXES),
        ("constraint", POSTGRES_CONSTRAINTS),
    ):
        for table, *facts in await connection.fetch(question):
            catalogue.setdefault(table, set()).add(f"{prefix} {facts}")
    return catalogue
