"""`deskwire audit`."""

import asyncio
import json
from pathlib import Path

from deskwire.desk.channel_tagging import add_tags, remove_tags
from deskwire.desk.tokens import create_token
from deskwire.model.tokens import Token
from deskwire.store.clock import system_clock
from deskwire.store.sqlite import SqliteStore
from deskwire.store.transaction import Tx
from tests.cli.conftest import Deskwire

CHANNEL = "018f3e1c-7c2a-7b11-9a53-0000000000c1"


def tag_a_channel(deskwire: Deskwire, workspace: str, folder: Path, owner: str) -> Token:
    """Adds three tags, one with a name that would steer a terminal, and removes one of them."""
    file = folder / "channel.ndjson"
    line = {"kind": "channel", "id": CHANNEL, "created_at": "2026-01-01T00:00:00Z", "type": "user_chat"}
    file.write_text(json.dumps(line | {"provider": "web", "status": "open"}))
    assert deskwire("import", file, "--workspace", workspace, "--json").code == 0

    async def work() -> Token:
        store = SqliteStore(folder / "deskwire.db", system_clock)
        new = await store.write(lambda tx: create_token(tx, workspace, "Test", ["channels:write"], None))

        async def add(tx: Tx) -> bytes:
            return await add_tags(tx, new.token, CHANNEL, owner, ["a", "b", "\u202ec"], [])

        async def remove(tx: Tx) -> bytes:
            return await remove_tags(tx, new.token, CHANNEL, owner, ["a"])

        await store.write(add)
        await store.write(remove)
        await store.close()
        return new.token

    return asyncio.run(work())


def made(deskwire: Deskwire) -> tuple[str, str]:
    new = deskwire("workspace", "create", "--name", "Acme", "--owner-email", "ann@acme.test", "--json").json
    return new["workspace_id"], new["owner_member_id"]


def test_the_entries_are_told_newest_first(deskwire: Deskwire, folder: Path) -> None:
    workspace, owner = made(deskwire)
    token = tag_a_channel(deskwire, workspace, folder, owner)
    newest, oldest = deskwire("audit", "--workspace", workspace, "--json").json["entries"]
    assert newest["action"] == "conversation tag remove (API)"
    assert newest["details"] == {
        "requested": {"names": ["a"]},
        "resulting": {"names": ["b", "\u202ec"]},
    }
    assert oldest["action"] == "conversation tag add (API)"
    assert (oldest["channel_id"], oldest["actor_member_id"]) == (CHANNEL, owner)
    assert oldest["token_id"] == token.id
    only = deskwire("audit", "--workspace", workspace, "--limit", 1, "--json").json["entries"]
    assert only == [newest]


def test_an_entry_is_a_line_that_steers_no_terminal(deskwire: Deskwire, folder: Path) -> None:
    workspace, owner = made(deskwire)
    tag_a_channel(deskwire, workspace, folder, owner)
    first, second = deskwire("audit", "--workspace", workspace).out.splitlines()
    assert "conversation tag remove (API)" in first and "conversation tag add (API)" in second
    assert second.endswith('requested "a", "b", "\ufffdc", resulting "a", "b", "\ufffdc"')


def test_a_log_without_entries_says_so(deskwire: Deskwire, workspace: str) -> None:
    assert deskwire("audit", "--workspace", workspace).out == "There are no entries.\n"
    assert deskwire("audit", "--workspace", workspace, "--json").json == {"entries": []}
    assert deskwire("audit", "--workspace", CHANNEL).code == 1
