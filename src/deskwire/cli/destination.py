"""Where an export goes: a file, and a folder of attachments beside it, replaced in full or not at all."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, NamedTuple


class Destination(NamedTuple):
    records: BinaryIO
    attachments: Path


@contextmanager
def replacing(output: Path) -> Iterator[Destination]:
    """What is written takes the place of what was there when the block ends well, the records last.

    Files of an earlier export whose records are gone stay in the folder of attachments.
    """
    target = output.resolve()
    check(target)
    with TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder:
        records, attachments = Path(folder, target.name), Path(folder, f"{target.stem}-attachments")
        with records.open("wb") as stream:
            yield Destination(stream, attachments)
            stream.flush()
            os.fsync(stream.fileno())
        move_files(attachments, target.parent / attachments.name)
        records.replace(target)


def check(target: Path) -> None:
    try:
        target.stem.encode()
    except UnicodeEncodeError:
        reason = "is no UTF-8, in which records name the folder of attachments; choose another name"
        raise OSError(errno.EILSEQ, reason, str(target)) from None
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "is no ordinary file, so it cannot be replaced", str(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(target.parent))


def move_files(source: Path, target: Path) -> None:
    for file in sorted(source.rglob("*")):
        if file.is_file():
            place = target / file.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            file.replace(place)
