"""A backup taken while a desk is written to: one moment of it, complete, which can be served."""

import stat
from pathlib import Path

import pytest

from tests.system.conftest import Demo, Hire
from tests.system.operators import PREFIX, Operator
from tests.system.writers import kept_numbers, wait_for_more, with_a_channel, writing

WRITERS = 6


def test_a_backup_under_load_holds_all_that_was_acknowledged_before_and_no_gap(operator: Operator) -> None:
    token = with_a_channel(operator)
    served = operator.serve("--workers", "2")
    copies = [operator.folder / f"copy{number}" for number in range(2)]
    acknowledged = []
    with writing(lambda: served.client(token), WRITERS) as writers:
        for copy in copies:
            wait_for_more(writers, 10)
            acknowledged.append({each.name: each.acknowledged for each in writers})
            done = operator.run("backup", copy)
            assert (done.code, done.err) == (0, "")
        wait_for_more(writers, 10)
    assert [each.failures for each in writers] == [[]] * WRITERS
    assert served.stop() == 0
    for copy, before in zip(copies, acknowledged, strict=True):
        checked = operator.run("check", "--data-dir", copy)
        assert (checked.code, checked.err) == (0, ""), checked.out
        restored = operator.serve("--data-dir", copy)
        with restored.client(token) as client:
            kept = kept_numbers(client)
        assert restored.stop() == 0
        for name, numbers in kept.items():
            assert numbers == list(range(len(numbers)))
            assert before[name] <= len(numbers)
        assert kept.keys() == before.keys()


def test_what_a_backup_serves_is_what_was_there(demo: Demo, tmp_path: Path) -> None:
    data = demo.operator.folder / "data" / "demo"
    done = demo.operator.run("backup", tmp_path / "copy", "--data-dir", data)
    assert done.code == 0 and done.out.count("\n") == 1, done.out
    assert sorted(each.name for each in (tmp_path / "copy").iterdir()) == [
        "attachments",
        "deskwire.db",
        "secret.key",
    ]
    assert stat.S_IMODE((tmp_path / "copy" / "secret.key").stat().st_mode) == 0o600
    restored = demo.operator.serve("--data-dir", tmp_path / "copy")
    first = demo.served.get(f"{PREFIX}/channels?limit=10", demo.token).json
    with restored.client(demo.token) as client, demo.served.client(demo.token) as original:
        # A cursor is signed with the key, so the copy must have it to go on where the original stood.
        path = f"{PREFIX}/channels?limit=10&cursor={first['meta']['next_cursor']}"
        assert client.get(path).data == original.get(path).data
    assert restored.stop() == 0
    files = [each.relative_to(data) for each in (data / "attachments").rglob("content")]
    assert len(files) > 20
    assert all((tmp_path / "copy" / each).read_bytes() == (data / each).read_bytes() for each in files)


@pytest.fixture
def settled(operator: Operator) -> Operator:
    operator.new_workspace()
    return operator


def test_a_backup_replaces_nothing_and_leaves_nothing_half_made(settled: Operator) -> None:
    there = settled.folder / "there"
    there.mkdir()
    for target, problem in ((there, "is there already"), (there / "no" / "copy", "no such folder")):
        refused = settled.run("backup", target)
        assert refused.code == 1 and problem in refused.complaint
    missing = settled.run("backup", settled.folder / "copy", "--data-dir", settled.folder / "nothing")
    assert missing.code == 1 and "there is no database" in missing.complaint
    assert sorted(each.name for each in settled.folder.iterdir()) == ["data", "there"]
    assert list(there.iterdir()) == []


def test_what_is_not_in_a_backup_is_said(settled: Operator) -> None:
    done = settled.run(
        *("backup", settled.folder / "copy"),
        DESKWIRE_SECRET_KEY="a secret key of the tests, long enough",
        DESKWIRE_ATTACHMENTS_URL="s3://desk/attachments",
    )
    assert done.code == 0
    assert "The secret key is not in it: it is in DESKWIRE_SECRET_KEY." in done.out
    assert "The attachments are not in it: they are in s3://desk" in done.out


def test_postgresql_is_backed_up_with_its_own_tools(hire: Hire) -> None:
    operator = hire("postgres")
    refused = operator.run("backup", operator.folder / "copy")
    assert refused.code == 1 and "pg_dump" in refused.complaint
    assert not (operator.folder / "copy").exists()


def test_only_an_embedded_database_is_refused_distribution_for_what_it_is(hire: Hire) -> None:
    embedded = hire("sqlite").run("migrate", "--distribute")
    assert embedded.code == 1 and "an embedded database cannot be distributed" in embedded.err
    without = hire("postgres").run("migrate", "--distribute")
    assert without.code == 1 and "the database has no Citus" in without.err
    assert without.err.count("\n") == embedded.err.count("\n") == 1
