"""The files that attachments bring: looked for, stored before the transaction, taken back when it fails."""

from pathlib import Path

from deskwire.desk.identity import new_id
from deskwire.desk.importing.report import BadLines
from deskwire.desk.importing.work import Numbered
from deskwire.model.lines import BadLine, unpack
from deskwire.model.messages import AttachmentRecord
from deskwire.store.attachments import Files, content_key
from deskwire.store.spool import Spool, SpooledLine, StoredBytes
from deskwire.store.transaction import Store
from deskwire.store.whole import ATTACHMENTS


def check_files(spool: Spool, folder: Path, bad: BadLines) -> None:
    for batch in spool.batches("attachment"):
        for number, record in bringing(batch):
            try:
                source(folder, str(record.file))
            except BadLine as problem:
                bad.add(number, f"file: {problem}")


async def store_files(store: Store, files: Files, workspace_id: str, spool: Spool, folder: Path) -> None:
    for batch in spool.batches("attachment"):
        attachments = [line.record for line in bringing(batch)]
        keys = await kept_keys(store, workspace_id, [one.id for one in attachments])
        for attachment in attachments:
            path = source(folder, str(attachment.file))
            replaced = keys.get(attachment.id)
            # Bytes that are there stay until the import has succeeded, so new ones need another place.
            key = content_key(workspace_id, new_id() if replaced else attachment.id)
            spool.note_stored(StoredBytes(attachment.id, key, path.stat().st_size, replaced))
            await files.put(key, path, filename=attachment.filename, content_type=attachment.content_type)


async def drop_stored(files: Files, spool: Spool) -> None:
    for stored in spool.all_stored():
        await files.delete(stored.file_key)


async def drop_replaced(files: Files, spool: Spool) -> None:
    for stored in spool.all_stored():
        if stored.replaced_key is not None:
            await files.delete(stored.replaced_key)


def bringing(batch: list[SpooledLine]) -> list[Numbered[AttachmentRecord]]:
    """The attachments that name a file."""
    lines = [Numbered(number, unpack(AttachmentRecord, packed)) for number, packed in batch]
    return [line for line in lines if line.record.file is not None]


async def kept_keys(store: Store, workspace_id: str, ids: list[str]) -> dict[str, str]:
    kept = await store.read(lambda tx: ATTACHMENTS.among(tx, workspace_id, ids))
    return {attachment.id: str(key) for attachment, (key,) in kept if key is not None}


def source(folder: Path, file: str) -> Path:
    """The file that a record names; it must lie in the folder of the records."""
    if Path(file).is_absolute() or ".." in Path(file).parts:
        raise BadLine(f"{file!r} must be a path inside the folder of the records")
    try:
        path = (folder / file).resolve(strict=True)
        if not path.is_relative_to(folder.resolve()):
            raise BadLine(f"{file!r} leads out of the folder of the records")
        if not path.is_file():
            raise BadLine(f"{file!r} is no file")
        with path.open("rb"):
            return path
    except (OSError, RuntimeError) as problem:
        raise BadLine(
            f"{file!r} cannot be read: {getattr(problem, 'strerror', None) or problem}"
        ) from problem
