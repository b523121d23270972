"""A workspace to import into, and short ways to import, export and look at it."""

import io
import json
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import bindparam, select, update

from deskwire.desk.checking import check
from deskwire.desk.exporting import export_workspace
from deskwire.desk.importing import ImportReport, import_file
from deskwire.desk.workspaces import create_workspace
from deskwire.store.attachments import Files, open_files
from deskwire.store.statement import Statement
from deskwire.store.tables import METADATA
from deskwire.store.transaction import Tx
from tests.engines import AnyStore, Run

T = TypeVar("T")

Fields = dict[str, Any]

OWNER_EMAIL = "owner@example.com"
TIME = "2026-01-02T03:04:05.000000Z"


def uid(number: int) -> str:
    return f"00000000-0000-7000-8000-{number:012x}"


def record(kind: str, number: int, **fields: object) -> Fields:
    return {"kind": kind, "id": uid(number), "created_at": TIME, **fields}


def contact(number: int, **fields: object) -> Fields:
    return record("contact", number, **fields)


def channel(number: int, **fields: object) -> Fields:
    return record("channel", number, **fields)


def message(number: int, channel_number: int, **fields: object) -> Fields:
    return record("message", number, channel_id=uid(channel_number), sender_id=uid(1), **fields)


class Desk:
    def __init__(self, run: Run, store: AnyStore, folder: Path, owner_email: str = OWNER_EMAIL) -> None:
        self.run = run
        self.store = store
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.files: Files = open_files(str(folder / "store"))
        made = run(store.write(lambda tx: create_workspace(tx, "Bicycles", owner_email)))
        self.workspace_id, self.owner_id = made

    def write(self, *lines: Fields | bytes) -> Path:
        """A file of these records, beside which attachments' files may lie."""
        path = self.folder / "records.ndjson"
        path.write_bytes(b"".join(as_line(line) + b"\n" for line in lines))
        return path

    def load(self, *lines: Fields | bytes, check_only: bool = False) -> ImportReport:
        return self.load_file(self.write(*lines), check_only=check_only)

    def load_file(self, path: Path, *, check_only: bool = False) -> ImportReport:
        return self.run(
            import_file(
                self.store,
                self.files,
                self.workspace_id,
                path,
                check_only=check_only,
                progress=lambda done, size: None,
            )
        )

    def bad(self, *lines: Fields | bytes) -> list[tuple[int, str]]:
        """What is wrong with these lines."""
        return [(line, reason) for line, reason in self.load(*lines).bad_lines]

    def export(self, folder: Path | None = None) -> bytes:
        output = io.BytesIO()
        self.run(
            export_workspace(
                self.store,
                self.files,
                self.workspace_id,
                output,
                folder,
                progress=lambda done, total: None,
            )
        )
        return output.getvalue()

    def exported(self, kind: str) -> list[Fields]:
        found = [json.loads(line) for line in self.export().splitlines()]
        return [line for line in found if line["kind"] == kind]

    def value(self, table: str, column: str, number: int) -> Any:
        """What stands in a column of a row."""
        row = self.read(
            lambda tx: tx.one(column_of(table, column), workspace_id=self.workspace_id, id=uid(number))
        )
        return None if row is None else row[0]

    def shown(self, table: str, number: int) -> Fields:
        """What the API answers for a record."""
        found: Fields = json.loads(self.value(table, "document", number))
        return found

    def change(self, table: str, column: str, value: object, number: int) -> None:
        """Damages a row."""
        of_table = METADATA.tables[table]
        statement = Statement(
            update(of_table)
            .where(of_table.c.workspace_id == bindparam("workspace"), of_table.c.id == bindparam("row"))
            .values({column: bindparam("damage")})
        )
        self.do(statement, workspace=self.workspace_id, row=uid(number), damage=value)

    def do(self, statement: Statement, **values: Any) -> None:
        self.run(self.store.write(lambda tx: tx.run(statement, **values)))

    def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        return self.run(self.store.read(operation))

    def differences(self) -> list[str]:
        async def collect() -> list[str]:
            return [line async for line in check(self.store, lambda done, total: None)]

        return self.run(collect())


@cache
def column_of(table: str, column: str) -> Statement:
    of_table = METADATA.tables[table]
    return Statement(
        select(of_table.c[column]).where(
            of_table.c.workspace_id == bindparam("workspace_id"), of_table.c.id == bindparam("id")
        )
    )


def as_line(line: Fields | bytes) -> bytes:
    return line if isinstance(line, bytes) else json.dumps(line).encode()
