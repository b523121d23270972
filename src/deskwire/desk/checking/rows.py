"""Rows by themselves: their documents, their visibility, and what else `put` derives from a record."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from deskwire.desk.checking.differences import difference
from deskwire.model.connections import VoiceCallRecord
from deskwire.model.limits import RECORD_BATCH
from deskwire.store import kinds
from deskwire.store.kinds import Kind
from deskwire.store.records import row_of
from deskwire.store.transaction import Tx
from deskwire.store.whole import START, Kept, Wholes, as_shown


class Rows:
    """The rows of a kind, with every column that follows from the others."""

    def __init__(self, kind: Kind[Any]) -> None:
        self.kind = kind
        self.derived = (*kind.documents, *kind.derived, "visible")
        self.wholes: Wholes[Any] = Wholes(kind, *self.derived)


ROWS = [
    Rows(kind)
    for kind in (
        kinds.MEMBERS,
        kinds.TEAMS,
        kinds.CONTACT_TAGS,
        kinds.CHANNEL_TAGS,
        kinds.CONTACTS,
        kinds.CHANNELS,
        kinds.MESSAGES,
        kinds.VOICE_CALLS,
        kinds.TASKS,
        kinds.CAMPAIGNS,
        kinds.MACROS,
        kinds.INTEGRATIONS,
        kinds.WORKFLOWS,
        kinds.AI_AGENTS,
    )
]


async def check_rows(
    tx: Tx, workspace_id: str, rows: Rows, advance: Callable[[int], None]
) -> AsyncIterator[str]:
    after = START
    while kept := await rows.wholes.after(tx, workspace_id, after, RECORD_BATCH):
        shown = await shown_records(tx, workspace_id, kept)
        for (record, beside), as_seen in zip(kept, shown, strict=True):
            right = row_of(rows.kind, workspace_id, record, shown=as_seen)
            for column, value in zip(rows.derived, beside, strict=True):
                for line in difference(rows.kind.table.name, record.id, column, value, right[column]):
                    yield line
        after = kept[-1].record.id
        advance(len(kept))


async def shown_records(tx: Tx, workspace_id: str, kept: Sequence[Kept[Any]]) -> Sequence[Any]:
    records = [one.record for one in kept]
    if isinstance(records[0], VoiceCallRecord):
        return await as_shown(tx, workspace_id, records)
    return records
