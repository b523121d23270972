"""Writing a workspace as a file of the record format, as it stands at one moment."""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec
from sqlalchemy import bindparam, func, select

from deskwire.desk.reading import find_workspace
from deskwire.model.channels import ChannelRecord
from deskwire.model.connections import AiAgentRecord
from deskwire.model.contacts import ContactRecord, ContactTagRecord
from deskwire.model.limits import RECORD_BATCH
from deskwire.model.lines import BusinessHoursLine, Line, WorkspaceLine, kind_of
from deskwire.model.messages import AttachmentRecord, MessageRecord
from deskwire.model.moments import Moment
from deskwire.store import tables, whole
from deskwire.store.attachments import Files
from deskwire.store.records import ENCODER, document
from deskwire.store.statement import Row, Statement
from deskwire.store.transaction import Store, Tx
from deskwire.store.whole import START, Wholes

Progress = Callable[[int, int], None]

# Each kind after those that it refers to, which is also how a person would tell of a workspace.
ORDER: tuple[Wholes[Any], ...] = (
    whole.AI_AGENTS,
    whole.INTEGRATIONS,
    whole.WORKFLOWS,
    whole.MEMBERS,
    whole.TEAMS,
    whole.CONTACT_TAGS,
    whole.CHANNEL_TAGS,
    whole.CONTACTS,
    whole.CHANNELS,
    whole.ATTACHMENTS,
    whole.MESSAGES,
    whole.VOICE_CALLS,
    whole.TASKS,
    whole.MACROS,
    whole.CAMPAIGNS,
)
COUNTS = [
    Statement(
        select(func.count())
        .select_from(wholes.kind.table)
        .where(wholes.kind.table.c.workspace_id == bindparam("workspace_id"))
    )
    for wholes in ORDER
]
ABOUT_WORKSPACE = Statement(
    select(tables.WORKSPACES.c.name, tables.WORKSPACES.c.created_at).where(
        tables.WORKSPACES.c.id == bindparam("workspace_id")
    )
)
HOURS = Statement(
    select(tables.BUSINESS_HOURS.c.config).where(
        tables.BUSINESS_HOURS.c.workspace_id == bindparam("workspace_id")
    )
)


class Attachments(NamedTuple):
    """Where the bytes come from and where they go; without a folder, records come without bytes."""

    files: Files
    folder: Path | None


async def export_workspace(
    store: Store,
    files: Files,
    workspace_id: str,
    output: BinaryIO,
    attachments_folder: Path | None,
    *,
    progress: Progress,
) -> dict[str, int]:
    """Answers how many records of each kind there were; `progress` is told of records.

    The folder has to stand beside the file that is written, since records name their files from there.
    """
    counts: Counter[str] = Counter()
    async with store.snapshot() as tx:
        await find_workspace(tx, workspace_id)
        total = await count_records(tx, workspace_id)
        async for line in lines(tx, workspace_id, Attachments(files, attachments_folder)):
            output.write(ENCODER.encode(line) + b"\n")
            counts[kind_of(line)] += 1
            if counts.total() % RECORD_BATCH == 0:
                progress(min(counts.total(), total), total)
    progress(total, total)
    return dict(counts)


async def count_records(tx: Tx, workspace_id: str) -> int:
    rows = [await tx.one(count, workspace_id=workspace_id) for count in COUNTS]
    return sum(int(str(row[0])) for row in rows if row is not None)


async def lines(tx: Tx, workspace_id: str, attachments: Attachments) -> AsyncIterator[Line]:
    yield await workspace_line(tx, workspace_id)
    hours = await tx.one(HOURS, workspace_id=workspace_id)
    if hours is not None:
        yield BusinessHoursLine(config=msgspec.Raw(document(hours)))
    for wholes in ORDER:
        after = START
        while kept := await wholes.after(tx, workspace_id, after, RECORD_BATCH):
            for record, beside in kept:
                after = record.id
                if isinstance(record, ContactRecord) and not record.visible():
                    # It was merged away: all that it had, its external ids too, is with another one.
                    continue
                if isinstance(record, AttachmentRecord):
                    record.file = await write_file(attachments, record, beside)
                yield as_line(record)


async def workspace_line(tx: Tx, workspace_id: str) -> WorkspaceLine:
    row = await tx.one(ABOUT_WORKSPACE, workspace_id=workspace_id)
    assert row is not None
    name, created_at = row
    return WorkspaceLine(name=str(name), created_at=Moment(int(str(created_at))))


def as_line(record: Any) -> Line:
    """The record without what follows from others, and without the id where the workspace has its own."""
    match record:
        case AiAgentRecord():
            record.id = ""
        case ContactTagRecord():
            record.usage_count = 0
        case ChannelRecord():
            record.message_count, record.last_message_at = 0, None
        case MessageRecord():
            record.attachments = None
    line: Line = record
    return line


async def write_file(attachments: Attachments, record: AttachmentRecord, beside: Row) -> str | None:
    """The path of the attachment's bytes as the record names it, or None when there are none to be had."""
    folder, (file_key,) = attachments.folder, beside
    found = None if folder is None or file_key is None else await attachments.files.get(str(file_key))
    if folder is None or found is None:
        return None
    folder.mkdir(exist_ok=True)
    with (folder / record.id).open("wb") as file:
        async for chunk in found.chunks:
            file.write(chunk)
    return f"{folder.name}/{record.id}"
