"""PgBouncers of the tests' own, in front of the tests' PostgreSQL."""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

PROGRAM = os.environ.get("DESKWIRE_TEST_PGBOUNCER") or shutil.which(
    "pgbouncer", path=f"{os.defpath}:/usr/sbin"
)
SERVER_CONNECTIONS = 4
START_S = 10

CONFIGURATION = """
[databases]
* = host={folder} port=5432 user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
max_client_conn = 200
default_pool_size = {connections}
"""


def version() -> tuple[int, ...]:
    assert PROGRAM
    said = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"(\d+)\.(\d+)", said)
    assert found, said
    return tuple(int(each) for each in found.groups())


@contextmanager
def bouncing(url: str, **settings: str) -> Iterator[str]:
    """The URL of the same database by way of a PgBouncer with these settings."""
    assert PROGRAM
    parts = urlsplit(url)
    (server,) = map(Path, parse_qs(parts.query)["host"])
    port = free_port()
    configuration = CONFIGURATION.format(folder=server, port=port, connections=SERVER_CONNECTIONS)
    with tempfile.TemporaryDirectory() as folder:
        # It refuses to be root, and PostgreSQL's folder is open to its owner alone.
        Path(folder).chmod(0o755)
        file = Path(folder, "pgbouncer.ini")
        file.write_text(configuration + "".join(f"{name} = {each}\n" for name, each in settings.items()))
        process = subprocess.Popen([PROGRAM, "-q", str(file)], user=server.owner(), stderr=subprocess.DEVNULL)
        try:
            wait_until_it_listens(port, process)
            yield f"postgresql://postgres@127.0.0.1:{port}{parts.path}"
        finally:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def wait_until_it_listens(port: int, process: "subprocess.Popen[bytes]") -> None:
    deadline_s = time.monotonic() + START_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            assert process.poll() is None, "it ended"
            assert time.monotonic() < deadline_s
            time.sleep(0.02)
