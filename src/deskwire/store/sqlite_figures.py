"""What SQLite's planner is told of the tables: that they are large, whatever they hold just now.

Without figures it takes a workspace for ten rows and walks through it; with counted ones its plans would
be those for the day of the count. So it is given one set of figures, when a database is migrated.
"""

import apsw

ROWS = 10_000_000
ROWS_OF_A_WORKSPACE = 1_000_000
# Each further column of an index tells so many values apart.
VALUES = 1_000
# What is not unique has at least this many rows of one value.
FEWEST = 2


def assume(connection: apsw.Connection) -> None:
    # SQLite makes the tables for the figures only when it counts something, so it counts a small table.
    connection.execute("ANALYZE workspaces")
    connection.execute("DELETE FROM sqlite_stat4; DELETE FROM sqlite_stat1")
    tables = connection.execute(
        "SELECT name, wr FROM pragma_table_list "
        "WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    for table, is_index in tables:
        indexes = connection.execute(
            'SELECT name, "unique", origin FROM pragma_index_list(?)', (table,)
        ).fetchall()
        for index, is_unique, origin in indexes:
            columns = connection.execute(
                "SELECT name FROM pragma_index_xinfo(?) WHERE key ORDER BY seqno", (index,)
            ).fetchall()
            figures = rows_alike([str(name) for (name,) in columns], bool(is_unique))
            connection.execute(
                "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)",
                # A table that is its own primary key's index lends it its name.
                (
                    table,
                    table if is_index and origin == "pk" else index,
                    " ".join(map(str, [ROWS, *figures])),
                ),
            )


def rows_alike(columns: list[str], is_unique: bool) -> list[int]:
    """For each column of an index, how many rows are alike in it and all before it."""
    alike = []
    rows = ROWS
    for column in columns:
        rows = ROWS_OF_A_WORKSPACE if column == "workspace_id" else max(rows // VALUES, FEWEST)
        alike.append(rows)
    if is_unique or columns[-1] == "id":
        alike[-1] = 1
    return alike
