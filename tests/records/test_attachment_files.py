"""The bytes that attachments bring: taken from beside the file, kept whole, never from elsewhere."""

import os
from pathlib import Path

import pytest

from deskwire.desk.attachments import find_attachment
from tests.records.desk import Desk, Fields, channel, record, uid


def attachment(number: int, **fields: object) -> Fields:
    return record("attachment", number, **{"filename": "a.txt", **fields})


def content(desk: Desk, number: int) -> bytes | None:
    kept = desk.read(lambda tx: find_attachment(tx, desk.workspace_id, uid(number)))

    async def read() -> bytes | None:
        found = None if kept.file_key is None else await desk.files.get(kept.file_key)
        return None if found is None else b"".join([chunk async for chunk in found.chunks])

    return desk.run(read())


def stored(desk: Desk) -> int:
    return len([path for path in (desk.folder / "store").rglob("*") if path.is_file()])


def test_the_bytes_beside_the_file_are_stored_and_counted(desk: Desk) -> None:
    (desk.folder / "files").mkdir()
    (desk.folder / "files" / "é.txt").write_bytes(b"hello")
    desk.load(attachment(1, file="files/é.txt", size_bytes=999), attachment(2, size_bytes=7))
    assert (content(desk, 1), content(desk, 2)) == (b"hello", None)
    assert [one["size_bytes"] for one in desk.exported("attachment")] == [5, 7]


def test_bytes_stay_when_a_later_record_brings_none_and_go_when_it_brings_others(desk: Desk) -> None:
    (desk.folder / "a").write_bytes(b"first")
    desk.load(attachment(1, file="a"))
    desk.load(attachment(1, filename="b.txt", size_bytes=999))
    assert content(desk, 1) == b"first" and desk.exported("attachment")[0]["size_bytes"] == 5
    (desk.folder / "a").write_bytes(b"the second")
    desk.load(attachment(1, file="a"))
    assert content(desk, 1) == b"the second" and stored(desk) == 1


def test_a_refused_import_leaves_the_bytes_as_they_were(desk: Desk) -> None:
    (desk.folder / "a").write_bytes(b"first")
    desk.load(attachment(1, file="a"))
    (desk.folder / "a").write_bytes(b"second")
    for lines in (
        [attachment(1, file="a"), attachment(2, file="a"), channel(1, contact_id=uid(9))],
        [attachment(1, file="a"), b"{"],
    ):
        assert len(desk.load(*lines).bad_lines) == 1
        assert content(desk, 1) == b"first" and stored(desk) == 1
    desk.load(attachment(1, file="a"), check_only=True)
    assert content(desk, 1) == b"first" and stored(desk) == 1


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("/etc/hostname", "must be a path inside the folder of the records"),
        ("../outside", "must be a path inside the folder of the records"),
        ("files/../../outside", "must be a path inside the folder of the records"),
        ("leading-out", "leads out of the folder of the records"),
        ("folder-out/outside", "leads out of the folder of the records"),
        ("absent", "cannot be read: No such file or directory"),
        ("circle", "cannot be read"),
        ("store", "is no file"),
        ("pipe", "is no file"),
        ("", "is no file"),
        ("x" * 5000, "cannot be read: File name too long"),
    ],
)
def test_a_file_that_cannot_be_taken_makes_the_line_bad(sqlite_desk: Desk, file: str, reason: str) -> None:
    outside = sqlite_desk.folder.parent / "outside"
    outside.write_bytes(b"secret")
    (sqlite_desk.folder / "leading-out").symlink_to(outside)
    (sqlite_desk.folder / "folder-out").symlink_to(outside.parent)
    (sqlite_desk.folder / "circle").symlink_to("circle")
    os.mkfifo(sqlite_desk.folder / "pipe")
    ((line, said),) = sqlite_desk.bad(attachment(1), attachment(2, file=file))
    assert line == 2 and said.startswith("file: ") and reason in said
    assert stored(sqlite_desk) == 0


def test_a_link_that_stays_inside_the_folder_is_followed(sqlite_desk: Desk) -> None:
    (sqlite_desk.folder / "a").write_bytes(b"inside")
    (sqlite_desk.folder / "link").symlink_to("a")
    assert sqlite_desk.load(attachment(1, file="link")).bad_lines == []
    assert content(sqlite_desk, 1) == b"inside"


def test_an_export_brings_the_bytes_along_and_without_a_folder_names_none(desk: Desk, tmp_path: Path) -> None:
    (desk.folder / "a").write_bytes(b"hello")
    desk.load(attachment(1, file="a"), attachment(2))
    exported = desk.export(tmp_path / "files")
    assert f'"file":"files/{uid(1)}"'.encode() in exported and exported.count(b'"file"') == 1
    assert (tmp_path / "files" / uid(1)).read_bytes() == b"hello"
    assert b'"file"' not in desk.export()


def test_bytes_that_are_lost_are_left_out_of_an_export(desk: Desk, tmp_path: Path) -> None:
    (desk.folder / "a").write_bytes(b"hello")
    desk.load(attachment(1, file="a"))
    key = desk.read(lambda tx: find_attachment(tx, desk.workspace_id, uid(1))).file_key
    assert key is not None
    desk.run(desk.files.delete(key))
    assert b'"file"' not in desk.export(tmp_path / "files")
