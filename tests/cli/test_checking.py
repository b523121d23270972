import json
from pathlib import Path

import apsw
import pytest

from tests.cli.conftest import Deskwire


def test_a_sound_database_is_said_to_be_one(deskwire: Deskwire, workspace: str) -> None:
    assert deskwire("check") == (0, "Every derived value is as it should be.\n", "")


def test_each_value_that_differs_is_a_line(deskwire: Deskwire, workspace: str, folder: Path) -> None:
    connection = apsw.Connection(str(folder / "deskwire.db"))
    connection.execute("UPDATE members SET email = 'bo@acme.test'")
    connection.execute("UPDATE workspaces SET document = x'7b7d'")
    connection.close()
    code, out, err = deskwire("check")
    assert code == 1
    lines = out.splitlines()
    assert any("members" in line for line in lines)
    assert any("workspaces" in line and workspace in line for line in lines)
    assert err == f"deskwire: values that differ from what they are derived from: {len(lines)}\n"


def test_an_entry_of_the_search_index_that_is_nobodys_is_told(
    deskwire: Deskwire, workspace: str, folder: Path
) -> None:
    contact = {"kind": "contact", "id": CONTACT, "created_at": "2026-01-01T00:00:00Z", "name": "Kim"}
    (folder / "one.ndjson").write_text(json.dumps(contact))
    assert deskwire("import", folder / "one.ndjson", "--workspace", workspace).code == 0
    connection = apsw.Connection(str(folder / "deskwire.db"))
    number = connection.execute("DELETE FROM contact_rows RETURNING number").get
    connection.close()
    assert deskwire("check").out.splitlines() == [
        f"contact_terms {CONTACT}: the entry is absent and should be there",
        f"contact_terms {number}: the entry is there and should be absent",
    ]


def test_an_attachment_that_is_gone_is_told(deskwire: Deskwire, workspace: str, folder: Path) -> None:
    made = {"created_at": "2026-01-01T00:00:00Z"}
    message, attachment = CHANNEL.replace("c1", "d1"), CHANNEL.replace("c1", "e1")
    said: dict[str, object] = {"kind": "message", "id": message, "channel_id": CHANNEL, "sender_id": CONTACT}
    lines: list[dict[str, object]] = [
        {"kind": "channel", "id": CHANNEL, "type": "user_chat", "provider": "web", "status": "open"},
        {"kind": "attachment", "id": attachment, "filename": "a.txt", "status": "ready"},
        said | {"attachment_ids": [attachment]},
    ]
    (folder / "one.ndjson").write_text("".join(f"{json.dumps(line | made)}\n" for line in lines))
    imported = deskwire("import", folder / "one.ndjson", "--workspace", workspace)
    assert imported.code == 0, imported.err
    connection = apsw.Connection(str(folder / "deskwire.db"))
    connection.execute("DELETE FROM attachments")
    connection.close()
    told = deskwire("check").out
    assert f"messages {message}: document has attachments" in told
    assert f"message_attachments {message} 0: attachment_id is {attachment}" in told


CONTACT, CHANNEL = "018f3e1c-7c2a-7b11-9a53-0000000000a1", "018f3e1c-7c2a-7b11-9a53-0000000000c1"
NOBODY = "018f3e1c-7c2a-7b11-9a53-00000000ffff"
CHANNEL_LINE = {"kind": "channel", "id": CHANNEL}
EVENT = {"kind": "contact.created", "timestamp": "1970-01-01T00:00:00.000007Z"}


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (f"UPDATE contacts SET merged_into = '{NOBODY}'", f"merged_into is {NOBODY}"),
        (
            f"INSERT INTO sms_consents VALUES ('W', '{NOBODY}', 1, NULL, '{NOBODY}', 7)",
            f"sms_consents {NOBODY}: contact_id",
        ),
        (
            f"INSERT INTO read_positions VALUES ('W', '{CHANNEL}', '{NOBODY}', '{NOBODY}', 7, 7)",
            f"read_positions {CHANNEL} {NOBODY}: member_id is {NOBODY}",
        ),
        (
            f"INSERT INTO read_positions VALUES ('W', '{CHANNEL}', '{NOBODY}', '{NOBODY}', 7, 7)",
            f"message_id is {NOBODY}",
        ),
        (
            f"INSERT INTO read_positions VALUES ('W', '{NOBODY}', '{NOBODY}', NULL, 7, 7)",
            f"channel_id is {NOBODY}",
        ),
        (
            f"INSERT INTO events VALUES ('W', '{NOBODY}', 'contact.born', '{CONTACT}', 7, x'7b7d', NULL)",
            f"events {NOBODY}: kind is 'contact.born'",
        ),
        (
            f"INSERT INTO events VALUES ('W', '{NOBODY}', 'contact.created', '{CONTACT}', 7, x'7b7d', NULL)",
            f"events {NOBODY}: body cannot be read",
        ),
        (
            f"INSERT INTO events VALUES ('W', '{NOBODY}', 'contact.created', '{CONTACT}', 7, '{{}}', NULL)",
            f"events {NOBODY}: body cannot be read (it is no bytes)",
        ),
        (
            f"INSERT INTO events VALUES ('W', '{NOBODY}', 'contact.created', '{CONTACT}', 8, BODY, NULL)",
            f"events {NOBODY}: accepted_at is 8 and should be 7",
        ),
    ],
)
def test_what_writes_leave_behind_is_looked_over(
    deskwire: Deskwire, workspace: str, folder: Path, statement: str, words: str
) -> None:
    file = folder / "two.ndjson"
    contact = {"kind": "contact", "id": CONTACT, "created_at": "2026-01-01T00:00:00Z"}
    channel = {"type": "user_chat", "provider": "web", "status": "open"}
    file.write_text(f"{json.dumps(contact)}\n{json.dumps(contact | channel | CHANNEL_LINE)}\n")
    assert deskwire("import", file, "--workspace", workspace, "--json").code == 0
    assert deskwire("check").code == 0
    connection = apsw.Connection(str(folder / "deskwire.db"))
    shown = json.loads(str(connection.execute("SELECT CAST(document AS TEXT) FROM contacts").get))
    body = EVENT | {"workspace_id": workspace, "data": {"contact_id": CONTACT, "contact": shown}}
    text = json.dumps(body).encode().hex()
    connection.execute(statement.replace("BODY", f"x'{text}'").replace("'W'", f"'{workspace}'"))
    connection.close()
    code, out, _ = deskwire("check")
    assert code == 1
    assert words in out
