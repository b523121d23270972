"""A backup of an embedded desk: a data folder that can be served as it is, made whole or not at all."""

import errno
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote, urlsplit

from deskwire.cli.house import StartError
from deskwire.store.sqlite_backup import copy_sqlite
from deskwire.wiring.keys import FILE_NAME
from deskwire.wiring.opening import sqlite_path
from deskwire.wiring.settings import DATABASE_NAME, Settings


def back_up(settings: Settings, target: Path, advance: Callable[[int, int], None]) -> list[str]:
    """Answers, in sentences, what a desk needs that is not in the folder."""
    if settings.is_postgresql:
        raise StartError(
            "PostgreSQL is backed up with its own tools, such as `pg_dump --format=custom`; "
            "see docs/operations.md"
        )
    check(target)
    with TemporaryDirectory(prefix=f".{target.name}.", dir=target.absolute().parent) as parent:
        folder = Path(parent, target.name)
        folder.mkdir(mode=0o700)
        # Bytes are stored before the row that speaks of them, so what the copy needs is there by now.
        keys = copy_sqlite(sqlite_path(settings), folder / DATABASE_NAME, advance)
        left_out = [*copy_key(settings, folder), *copy_attachments(settings, keys, folder)]
        os.sync()
        folder.rename(target)
    settle(target.absolute().parent)
    return left_out


def check(target: Path) -> None:
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "is there already; name a folder that is not", str(target))
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(target.absolute().parent))


def copy_key(settings: Settings, folder: Path) -> list[str]:
    if settings.secret_key is not None:
        return ["The secret key is not in it: it is in DESKWIRE_SECRET_KEY."]
    try:
        shutil.copy(settings.data_dir / FILE_NAME, folder / FILE_NAME)
    except FileNotFoundError:
        return ["There is no secret key yet; the first start makes one."]
    return []


def copy_attachments(settings: Settings, keys: Iterable[str], folder: Path) -> list[str]:
    place = urlsplit(settings.attachments)
    if place.scheme != "file":
        return [f"The attachments are not in it: they are in {place.scheme}://{place.hostname}."]
    missing = 0
    for key in keys:
        file = folder / "attachments" / key
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            shutil.copyfile(Path(unquote(place.path), key), file)
        except FileNotFoundError:
            missing += 1
    return [f"Attachments whose files are gone: {missing:,}."] if missing else []


def settle(folder: Path) -> None:
    """Sees the name of what was moved there onto the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
