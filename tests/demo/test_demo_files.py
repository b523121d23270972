"""What the demo writes: its records a line each, and the small files they name."""

import csv
import io
import re
import struct
import wave
import zlib
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from deskwire import demo
from deskwire.demo.files import specimens
from deskwire.demo.texts import languages

NOW = datetime(2026, 3, 14, 15, 9, 26, 535897, UTC)


def contents(suffix: str) -> list[bytes]:
    found = [specimen.content for name, specimen in specimens().items() if name.endswith(suffix)]
    assert found
    return found


def test_every_record_stands_on_its_own_line(tmp_path: Path) -> None:
    path = demo.write(tmp_path / "new folder", NOW)
    assert path.name == "demo.ndjson"
    read = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    assert read == list(demo.records(NOW))


def test_writing_again_changes_no_byte(tmp_path: Path) -> None:
    first = demo.write(tmp_path, NOW).read_bytes()
    assert demo.write(tmp_path, NOW).read_bytes() == first


def test_a_ready_attachment_has_its_file_and_no_other_has_one(tmp_path: Path) -> None:
    demo.write(tmp_path, NOW)
    attachments = [record for record in demo.records(NOW) if record["kind"] == "attachment"]
    for attachment in attachments:
        assert ("file" in attachment) == (attachment["status"] == "ready")
        if "file" in attachment:
            assert (tmp_path / str(attachment["file"])).stat().st_size == attachment["size_bytes"]
    named = {attachment["file"] for attachment in attachments if "file" in attachment}
    assert named == {f"files/{path.name}" for path in (tmp_path / "files").iterdir()}


def test_a_message_shows_a_ready_attachment_of_each_medium() -> None:
    attachments = [record for record in demo.records(NOW) if record["kind"] == "attachment"]
    ready = {str(one["content_type"]).partition("/")[0] for one in attachments if one["status"] == "ready"}
    assert ready == {"image", "audio", "video", "text", "application"}


def test_every_attachment_belongs_to_one_message() -> None:
    records = list(demo.records(NOW))
    shown: list[object] = []
    for record in records:
        ids = record.get("attachment_ids", [])
        assert isinstance(ids, list)
        shown += ids
    assert sorted(map(str, shown)) == sorted(
        str(record["id"]) for record in records if record["kind"] == "attachment"
    )


def test_pictures_are_whole() -> None:
    for content in contents(".png"):
        assert content.startswith(b"\x89PNG\r\n\x1a\n")
        chunks = dict(png_chunks(content[8:]))
        width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
        assert len(zlib.decompress(chunks[b"IDAT"])) == height * (1 + 3 * width)
        assert chunks[b"IEND"] == b""


def png_chunks(rest: bytes) -> list[tuple[bytes, bytes]]:
    found = []
    while rest:
        length = int.from_bytes(rest[:4], "big")
        kind, body, checksum = rest[4:8], rest[8 : 8 + length], rest[8 + length : 12 + length]
        assert int.from_bytes(checksum, "big") == zlib.crc32(kind + body)
        found.append((kind, body))
        rest = rest[12 + length :]
    return found


def test_tones_can_be_played() -> None:
    for content in contents(".wav"):
        with wave.open(io.BytesIO(content)) as tone:
            assert (tone.getnchannels(), tone.getframerate()) == (1, 8_000)
            assert len(set(tone.readframes(tone.getnframes()))) > 50


def test_films_have_the_frames_their_index_names() -> None:
    for content in contents(".avi"):
        assert content[:4] == b"RIFF"
        assert int.from_bytes(content[4:8], "little") == len(content) - 8
        movi, index = content.index(b"movi"), content.index(b"idx1")
        entries = content[index + 8 :]
        assert len(entries) == 8 * 16
        for start in range(0, len(entries), 16):
            kind, _, offset, size = struct.unpack_from("<4s3I", entries, start)
            frame = movi + offset
            assert content[frame : frame + 4] == kind
            assert int.from_bytes(content[frame + 4 : frame + 8], "little") == size


def test_documents_have_a_true_table_of_their_objects() -> None:
    for content in contents(".pdf"):
        assert content.startswith(b"%PDF-1.4")
        assert content.endswith(b"%%EOF\n")
        table = int(content.split(b"startxref\n")[1].split()[0])
        assert content[table : table + 4] == b"xref"
        offsets = [int(entry) for entry in re.findall(rb"(\d{10}) 00000 n", content[table:])]
        for number, offset in enumerate(offsets, start=1):
            assert content[offset:].startswith(b"%d 0 obj" % number)


def test_drawings_tables_and_texts_can_be_read() -> None:
    for content in contents(".svg"):
        assert ElementTree.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"
    for content in contents(".csv"):
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        assert all(None not in row and None not in row.values() for row in rows)
    for content in contents(".txt"):
        assert "Größe" in content.decode()


@pytest.mark.parametrize("code", languages())
def test_every_question_of_a_language_has_an_answer(code: str) -> None:
    for topic in languages()[code].topics:
        assert len(topic.answer) >= len(topic.ask), topic.subject
