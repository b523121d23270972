"""An import from its file to its report."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from deskwire.desk.importing import luggage, people, tags
from deskwire.desk.importing.attachments import import_attachments
from deskwire.desk.importing.calls import import_calls
from deskwire.desk.importing.channels import count_messages, import_channels
from deskwire.desk.importing.contacts import import_contacts
from deskwire.desk.importing.cutting import Cutter, open_cutter
from deskwire.desk.importing.messages import import_messages
from deskwire.desk.importing.others import import_connections, import_tasks
from deskwire.desk.importing.reading import read
from deskwire.desk.importing.report import BadLines, ImportReport
from deskwire.desk.importing.work import TooManyBadLines, Work
from deskwire.desk.reading import find_workspace
from deskwire.model.errors import Unavailable
from deskwire.model.lines import KINDS
from deskwire.store.attachments import Files, FilesUnavailable
from deskwire.store.spool import Spool
from deskwire.store.transaction import Store, Tx

Progress = Callable[[int, int], None]

# Reading a line by itself is about so much of all that is done for it.
READING_PERCENT = 20
STEP_BYTES = 256 * 1024


class Undone(Exception):
    """Ends the transaction without a trace; `bad` says why, or that nothing is wrong."""

    def __init__(self, bad: BadLines) -> None:
        super().__init__()
        self.bad = bad


async def import_file(
    store: Store, files: Files, workspace_id: str, path: Path, *, check_only: bool, progress: Progress
) -> ImportReport:
    """Imports a file into a workspace, or with `check_only` says what would come of it.

    An OSError says that the file cannot be read.
    """
    await store.read(lambda tx: find_workspace(tx, workspace_id))
    meter = Meter(path, progress)
    not_analysed = None
    with (
        without_collections(),
        Spool(KINDS) as spool,
        open_cutter(workspace_id, path) as cutter,
    ):
        bad = read(path, spool, meter.has_read)
        luggage.check_files(spool, path.parent, bad)
        if not bad.more:
            keep = not check_only and not bad.shown
            folder = path.parent if keep else None
            bad = await transact(store, files, workspace_id, spool, cutter, bad, folder, meter)
            if keep and not bad.shown:
                not_analysed = await analyse(store)
        counts = {kind: count for kind in KINDS if (count := spool.count(kind))}
    return ImportReport(counts, bad.shown, bad.more, not_analysed)


async def analyse(store: Store) -> str | None:
    """Why it could not be done; what was imported is there all the same."""
    try:
        await store.analyse()
    except Unavailable as problem:
        return str(problem)
    return None


@contextmanager
def without_collections() -> Iterator[None]:
    """An import makes no cycles, and looking for some in batches of rows takes a tenth of its time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Meter:
    """Turns what is read, and then what is worked on, into one measure: bytes of the file that are done."""

    def __init__(self, path: Path, progress: Progress) -> None:
        self._size = path.stat().st_size
        self._progress = progress
        self._read = 0
        self._worked = 0
        self._work = 1

    def has_read(self, size: int) -> None:
        before = self._read // STEP_BYTES
        self._read += size
        if self._read // STEP_BYTES != before:
            self._tell()

    def begins_work(self, size: int) -> None:
        self._worked = 0
        self._work = max(size, 1)
        self._tell()

    def has_worked(self, size: int) -> None:
        self._worked = min(self._worked + size, self._work)
        self._tell()

    def _tell(self) -> None:
        working = self._size * (100 - READING_PERCENT) * self._worked // self._work
        self._progress(min((self._read * READING_PERCENT + working) // 100, self._size), self._size)


async def transact(
    store: Store,
    files: Files,
    workspace_id: str,
    spool: Spool,
    cutter: Cutter,
    bad: BadLines,
    folder: Path | None,
    meter: Meter,
) -> BadLines:
    """Writes everything in one transaction; without a folder to take files from, it is undone at its end."""

    async def write(tx: Tx) -> None:
        meter.begins_work(spool.size)
        work = Work(tx, workspace_id, spool, cutter, bad, meter.has_worked)
        try:
            await import_all(work)
        except TooManyBadLines:
            raise Undone(work.bad) from None
        if work.bad.shown or folder is None:
            raise Undone(work.bad)

    try:
        if folder is not None:
            await luggage.store_files(store, files, workspace_id, spool, folder)
        await store.write(write)
    except (Undone, FilesUnavailable, OSError) as failure:
        # Where it is not known whether the transaction was committed, the bytes stay.
        await luggage.drop_stored(files, spool)
        if isinstance(failure, Undone):
            return failure.bad
        raise
    await luggage.drop_replaced(files, spool)
    return bad


async def import_all(work: Work) -> None:
    """Each kind after those that it refers to."""
    await people.import_workspace(work)
    await people.import_members(work)
    await people.import_teams(work)
    await tags.import_tags(work, tags.CONTACT_CATALOGUE)
    await tags.import_tags(work, tags.CHANNEL_CATALOGUE)
    await import_contacts(work)
    await import_attachments(work)
    await import_channels(work)
    await import_messages(work)
    await import_tasks(work)
    await import_connections(work)
    await import_calls(work)
    await count_messages(work)
    await tags.count_usage(work)
