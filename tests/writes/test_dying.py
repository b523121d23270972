"""A process killed at each statement of each write, on SQLite: nothing is done by half."""

import subprocess
import sys
from pathlib import Path

import msgspec

from deskwire.store.attachments import Files
from deskwire.store.clock import system_clock
from deskwire.store.sqlite import SqliteStore
from tests.api.desk import House
from tests.engines import Run, SetClock
from tests.writes.writer import Json, Writer

WRITES: list[tuple[str, str, Json]] = [
    ("POST", "/contacts", {"external_id": "e", "email": "a@example.com", "name": "Ann"}),
    ("PATCH", "/contacts/{contact}", {"name": "Berta"}),
    ("POST", "/contacts/{contact}/tags", {"tags": ["old", "new", "newer"]}),
    ("DELETE", "/contacts/{contact}/tags?name=old", {}),
    ("PUT", "/contacts/{contact}/sms-consent", {"opted_in": False, "reason": "no"}),
    (
        "POST",
        "/channels/{channel}/messages",
        {"content_type": "text", "content": "Hello", "client_request_id": "r", "sender_member_id": "{actor}"},
    ),
    ("POST", "/channels/{channel}/read", {"actor_member_id": "{actor}"}),
    ("POST", "/channels/{channel}/close", {"actor_member_id": "{actor}"}),
    ("POST", "/channels/{channel}/reopen", {"actor_member_id": "{actor}"}),
    ("POST", "/channels/{channel}/assign", {"actor_member_id": "{actor}", "member_id": "{actor}"}),
    ("POST", "/channels/{channel}/tags", {"actor_member_id": "{actor}", "tags": ["old", "new"]}),
    ("DELETE", "/channels/{channel}/tags?actor_member_id={actor}&name=old", {}),
]


def test_a_write_killed_at_any_statement_leaves_nothing(
    run: Run, files: Files, migrated_sqlite: Path, tmp_path: Path
) -> None:
    place = tmp_path / "deskwire.db"
    place.write_bytes(migrated_sqlite.read_bytes())
    house = House(SqliteStore(place, system_clock), files, SetClock(), run, place.parent)
    writer = Writer(house.open_desk())
    channel = writer.channel(assigned_member_id=writer.owner, assigned_type="human", tags=["old"])
    contact = writer.desk.add("contact", tags=["old"])
    run(house.store.close())
    text = msgspec.json.encode(WRITES).decode()
    for name, id in {"{channel}": channel, "{contact}": contact, "{actor}": writer.owner}.items():
        text = text.replace(name, id)
    done = subprocess.run(
        [sys.executable, "-m", "tests.writes.dying_writes", str(place), str(tmp_path), writer.token.secret],
        input=text.encode(),
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )
    statements = msgspec.json.decode(done.stdout)
    # Each has BEGIN, SAVEPOINT, a look and a change, RELEASE, COMMIT.
    assert len(statements) == len(WRITES) and min(statements) >= 6
