import os
from pathlib import Path

import pytest

from deskwire.cli.destination import replacing


def write(output: Path, records: bytes, attachments: dict[str, bytes]) -> None:
    with replacing(output) as destination:
        destination.records.write(records)
        for name, content in attachments.items():
            file = destination.attachments / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


def test_records_and_attachments_stand_side_by_side_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "desk.ndjson", b"records", {"a": b"1", "b/c": b"2"})
    found = {str(file.relative_to(tmp_path)): file.read_bytes() for file in files_in(tmp_path)}
    assert found == {"desk.ndjson": b"records", "desk-attachments/a": b"1", "desk-attachments/b/c": b"2"}


def test_without_attachments_there_is_no_folder(tmp_path: Path) -> None:
    write(tmp_path / "desk.ndjson", b"records", {})
    assert os.listdir(tmp_path) == ["desk.ndjson"]


def test_a_second_export_takes_the_place_of_the_first(tmp_path: Path) -> None:
    write(tmp_path / "desk.ndjson", b"first", {"a": b"1", "b": b"2"})
    write(tmp_path / "desk.ndjson", b"second", {"a": b"3"})
    assert (tmp_path / "desk.ndjson").read_bytes() == b"second"
    assert (tmp_path / "desk-attachments" / "a").read_bytes() == b"3"
    assert (tmp_path / "desk-attachments" / "b").read_bytes() == b"2"


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_what_was_there_stays_when_an_export_fails(tmp_path: Path, failure: type[BaseException]) -> None:
    write(tmp_path / "desk.ndjson", b"first", {"a": b"1"})

    def fail() -> None:
        with replacing(tmp_path / "desk.ndjson") as destination:
            destination.records.write(b"half")
            destination.attachments.mkdir()
            (destination.attachments / "a").write_bytes(b"half")
            raise failure

    with pytest.raises(failure):
        fail()
    found = {str(file.relative_to(tmp_path)): file.read_bytes() for file in files_in(tmp_path)}
    assert found == {"desk.ndjson": b"first", "desk-attachments/a": b"1"}


def test_the_file_that_a_link_points_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"first")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "link", b"second", {})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"second"


def test_what_is_no_ordinary_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(OSError, match="no ordinary file"):
            write(place, b"records", {})
    assert Path(os.devnull).is_char_device()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such folder") as error:
        write(tmp_path / "deep" / "desk.ndjson", b"records", {})
    assert error.value.filename == str(tmp_path / "deep")


def files_in(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def test_a_name_that_records_cannot_say_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="is no UTF-8"):
        write(tmp_path / os.fsdecode(b"d\xe9sk.ndjson"), b"records", {})
    assert os.listdir(tmp_path) == []
