"""A copy of an embedded database as it stands at one moment, taken while others go on reading and writing."""

import errno
from collections.abc import Callable
from pathlib import Path

import apsw

from deskwire.store.sqlite_file import unavailable

# Few enough for a progress bar, and for a signal to be heard between them.
PAGES_A_STEP = 4_096


def copy_sqlite(path: Path, target: Path, advance: Callable[[int, int], None]) -> list[str]:
    """Answers the keys of the attachments that the copy speaks of."""
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, "there is no database", str(path))
    try:
        source = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        copy = apsw.Connection(str(target))
        try:
            # Without a transaction that is held, each write of another process would begin the copy anew.
            source.execute("BEGIN; SELECT 1 FROM sqlite_schema").fetchall()
            with copy.backup("main", source, "main") as backup:
                while not backup.done:
                    backup.step(PAGES_A_STEP)
                    advance(backup.page_count - backup.remaining, backup.page_count)
            found = copy.execute("SELECT file_key FROM attachments WHERE file_key IS NOT NULL")
            return [str(key) for (key,) in found]
        finally:
            copy.close()
            source.close()
    except (apsw.Error, OSError) as error:
        raise unavailable(path, error) from error
