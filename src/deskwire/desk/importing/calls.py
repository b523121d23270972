"""Voice calls, which show only the channels and contacts that are there."""

from collections.abc import Sequence

from sqlalchemy import Column, bindparam, select

from deskwire.desk.importing.work import Work, records
from deskwire.model.connections import VoiceCallRecord
from deskwire.store import kinds, whole
from deskwire.store.records import row_of
from deskwire.store.statement import Among, Statement
from deskwire.store.tables import VOICE_CALLS


def calls_with(column: "Column[str]") -> Statement:
    return Statement(
        select(VOICE_CALLS.c.id).where(
            VOICE_CALLS.c.workspace_id == bindparam("workspace_id"), Among(column, "ids")
        )
    )


CALLS_OF_CHANNELS = calls_with(VOICE_CALLS.c.channel_id)
CALLS_OF_CONTACTS = calls_with(VOICE_CALLS.c.contact_id)


async def import_calls(work: Work) -> None:
    for batch in work.batches(VoiceCallRecord, "voice_call"):
        await put_calls(work, records(batch))


async def render_calls_of_channels(work: Work, channel_ids: Sequence[str]) -> None:
    await render_calls(work, CALLS_OF_CHANNELS, channel_ids)


async def render_calls_of_contacts(work: Work, contact_ids: Sequence[str]) -> None:
    await render_calls(work, CALLS_OF_CONTACTS, contact_ids)


async def render_calls(work: Work, statement: Statement, ids: Sequence[str]) -> None:
    rows = await work.tx.all(statement, workspace_id=work.workspace_id, ids=ids)
    kept = await whole.VOICE_CALLS.among(work.tx, work.workspace_id, [str(row[0]) for row in rows])
    await put_calls(work, [call.record for call in kept])


async def put_calls(work: Work, calls: Sequence[VoiceCallRecord]) -> None:
    shown = await whole.as_shown(work.tx, work.workspace_id, calls)
    await work.tx.many(
        kinds.VOICE_CALLS.upsert,
        [
            row_of(kinds.VOICE_CALLS, work.workspace_id, call, shown=as_shown)
            for call, as_shown in zip(calls, shown, strict=True)
        ],
    )
