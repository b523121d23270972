"""Places where a database is hard to keep: a small disk, a folder of somebody who may not write."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NOBODY = 65534
SMALL_DISK = "2m"
FILLER = "filler"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "small", SMALL_DISK) as folder:
        yield folder


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[Path]:
    """A disk of that size, where one may be mounted."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def filled(folder: Path) -> Iterator[None]:
    """Not a byte is free in it."""
    fill(folder)
    yield
    (folder / FILLER).unlink()


def fill(folder: Path) -> None:
    """What has become free since it was filled, too."""
    with (folder / FILLER).open("ab", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


@pytest.fixture
def common_folder() -> Iterator[Path]:
    """Anybody may enter it, and whoever tests without privileges owns it."""
    folder = Path(tempfile.mkdtemp(prefix="deskwire-"))
    folder.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@contextmanager
def unprivileged() -> Iterator[None]:
    """The superuser may write everywhere, so permissions are tried as nobody."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def give(*paths: Path) -> None:
    """To whoever tests without privileges."""
    if os.geteuid() == 0:
        for path in paths:
            os.chown(path, NOBODY, NOBODY)
