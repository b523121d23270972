"""Downloads: the link that the API gives works by itself, for a while, for one attachment, and harmlessly."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from deskwire.model.downloads import sign
from deskwire.model.messages import AttachmentRecord
from deskwire.store import kinds
from deskwire.store.attachments import Files, content_key, open_files
from deskwire.store.records import put
from tests.api.client import Answer
from tests.api.desk import BASE_URL, DOWNLOAD_KEY, Desk, House
from tests.api.records import JsonRecord, at, new_id, record
from tests.engines import NEW_YEAR, Run, SetClock

SECOND_US = 1_000_000


def keep_bytes(desk: Desk, content: bytes, **fields: object) -> JsonRecord:
    """A record of an attachment whose bytes are stored."""
    attachment = record("attachment", **fields)
    (desk.house.folder / "content").write_bytes(content)
    desk.put({**attachment, "file": "content"})
    return attachment


def lose_bytes(desk: Desk, attachment: JsonRecord) -> None:
    desk.house.run(desk.house.files.delete(content_key(desk.workspace_id, str(attachment["id"]))))


def link_of(desk: Desk, attachment: JsonRecord) -> str:
    url = str(desk.get(f"/attachments/{attachment['id']}").data["url"])
    assert url.startswith(f"{BASE_URL}/attachments/")
    return url.removeprefix(BASE_URL)


def follow(desk: Desk, link: str, method: str = "GET") -> Answer:
    path, _, query = link.partition("?")
    return desk.house.send(path, query, method=method)


def test_the_link_gives_the_bytes_to_whoever_has_it(desk: Desk) -> None:
    content = bytes(range(256)) * 2000
    answer = follow(desk, link_of(desk, keep_bytes(desk, content)))
    assert (answer.status, answer.body) == (200, content)
    assert answer.header("content-length") == str(len(content))


def test_an_empty_attachment_is_downloaded_as_nothing(desk: Desk) -> None:
    answer = follow(desk, link_of(desk, keep_bytes(desk, b"")))
    assert (answer.status, answer.body) == (200, b"")


@pytest.mark.parametrize(
    ("content_type", "served"),
    [
        ("image/png", "image/png"),
        ("application/pdf", "application/pdf"),
        ("text/plain", "text/plain; charset=utf-8"),
        ("text/html", "application/octet-stream"),
        ("TEXT/HTML; charset=x", "application/octet-stream"),
        ("image/svg+xml", "application/octet-stream"),
        ("application/javascript", "application/octet-stream"),
        ("application/xhtml+xml", "application/octet-stream"),
        ("text/xml", "application/octet-stream"),
        ("", "application/octet-stream"),
        ("image/png\r\nx-evil: 1", "application/octet-stream"),
    ],
)
def test_a_download_is_an_attachment_of_a_type_that_no_browser_runs(
    desk: Desk, content_type: str, served: str
) -> None:
    attachment = keep_bytes(desk, b"<script>", content_type=content_type, filename="견적 1.html")
    answer = follow(desk, link_of(desk, attachment))
    assert answer.header("content-type") == served
    disposition = answer.header("content-disposition") or ""
    assert disposition.startswith("attachment; ")
    assert "filename*=UTF-8''%EA%B2%AC%EC%A0%81%201.html" in disposition
    assert answer.header("x-content-type-options") == "nosniff"
    assert answer.header("content-security-policy") == "sandbox; default-src 'none'"
    assert "no-store" in (answer.header("cache-control") or "")
    assert answer.header("x-request-id")


@pytest.mark.parametrize(
    "filename", ['a"; b="c.txt', "a\r\nx-evil: 1.txt", "../../etc/passwd", "%41.txt", "\u202etxt.exe", ""]
)
def test_no_filename_changes_the_headers(desk: Desk, filename: str) -> None:
    answer = follow(desk, link_of(desk, keep_bytes(desk, b"x", filename=filename)))
    assert answer.status == 200
    assert answer.header("x-evil") is None
    disposition = answer.header("content-disposition") or ""
    assert re.fullmatch(r"attachment; filename=\"[^\"\\\r\n/%]+\"; filename\*=UTF-8''[^\s/\"]+", disposition)


def test_the_link_works_for_5_minutes_and_not_a_moment_longer(desk: Desk) -> None:
    desk.house.clock.advance(SECOND_US // 3)
    attachment = keep_bytes(desk, b"bytes")
    shown = desk.get(f"/attachments/{attachment['id']}").data
    assert shown["url_expires_at"] == at(300)
    link = link_of(desk, attachment)
    desk.house.clock.now = type(NEW_YEAR)(NEW_YEAR + 300 * SECOND_US - 1)
    assert follow(desk, link).status == 200
    desk.house.clock.advance(1)
    answer = follow(desk, link)
    assert answer.failure == (403, "FORBIDDEN")
    assert "expired" in answer.json["error"]["message"]


def test_each_read_gives_a_link_that_is_good_for_5_minutes_again(desk: Desk) -> None:
    attachment = keep_bytes(desk, b"bytes")
    first = link_of(desk, attachment)
    desk.house.clock.advance(299 * SECOND_US)
    second = link_of(desk, attachment)
    desk.house.clock.advance(2 * SECOND_US)
    assert (follow(desk, first).status, follow(desk, second).status) == (403, 200)


def test_an_altered_link_is_refused_wherever_it_was_altered(desk: Desk) -> None:
    attachment, other = keep_bytes(desk, b"mine"), keep_bytes(desk, b"other")
    link = link_of(desk, attachment)
    path, query = link.split("?")
    signature = parse_qs(query)["signature"][0]
    altered = [
        link.replace(str(attachment["id"]), str(other["id"])),
        link.replace(desk.workspace_id, str(other["id"])),
        link.replace("expires=", "expires=9"),
        link.replace("expires=", "expires=%30"),
        link.replace("expires=", "expires=%2B"),
        link.replace(signature, signature.upper()),
        link.replace(signature, signature[:-1]),
        link.replace(signature, signature + "0"),
        link.replace(signature, "0" * len(signature)),
        link.replace(signature, "%FF%00"),
        link.replace(signature, ""),
        path,
        f"{path}?expires=9999999999",
        f"{path}?signature={signature}",
        link.replace(desk.workspace_id, desk.workspace_id.upper()),
        link + "&expires=9999999999",
        link + "&signature=0",
        "/attachments/x/y?expires=%D9%A5&signature=x",
    ]
    for each in altered:
        if each != link:
            answer = follow(desk, each)
            assert answer.failure == (403, "FORBIDDEN"), each
    assert follow(desk, link).body == b"mine"


def test_a_link_of_another_workspace_does_not_open_the_same_id_here(desk: Desk, other_desk: Desk) -> None:
    attachment = keep_bytes(desk, b"mine")
    other_desk.put(attachment)
    theirs = link_of(other_desk, attachment)
    swapped = theirs.replace(other_desk.workspace_id, desk.workspace_id)
    assert follow(other_desk, swapped).failure == (403, "FORBIDDEN")


def test_a_good_signature_over_ids_that_are_none_finds_nothing(desk: Desk) -> None:
    expires_at_s = NEW_YEAR // SECOND_US + 60
    link = sign(DOWNLOAD_KEY, "", "x", "y", expires_at_s)
    assert follow(desk, link).failure == (404, "NOT_FOUND")


@pytest.mark.parametrize("status", ["pending", "failed"])
def test_an_attachment_that_is_no_longer_ready_is_not_found_by_its_link(desk: Desk, status: str) -> None:
    attachment = keep_bytes(desk, b"bytes")
    link = link_of(desk, attachment)
    desk.put({**attachment, "status": status})
    assert follow(desk, link).failure == (404, "NOT_FOUND")


def test_an_attachment_whose_message_or_channel_was_deleted_is_not_found_by_its_link(desk: Desk) -> None:
    attachment, channel = keep_bytes(desk, b"bytes"), record("channel")
    message = record("message", channel_id=channel["id"], attachment_ids=[attachment["id"]])
    desk.put(channel, message)
    link = link_of(desk, attachment)
    assert follow(desk, link).status == 200
    desk.put({**message, "deleted": True})
    assert follow(desk, link).failure == (404, "NOT_FOUND")
    desk.put(message, {**channel, "deleted": True})
    assert follow(desk, link).failure == (404, "NOT_FOUND")


def test_bytes_that_were_never_stored_or_are_lost_are_not_found_though_the_attachment_is(desk: Desk) -> None:
    never, lost = record("attachment"), keep_bytes(desk, b"bytes")
    desk.put(never)
    lose_bytes(desk, lost)
    for attachment in (never, lost):
        answer = follow(desk, link_of(desk, attachment))
        assert answer.failure == (404, "NOT_FOUND")
        assert "never stored" in answer.json["error"]["message"]


def test_only_get_and_head_are_there(desk: Desk) -> None:
    link = link_of(desk, keep_bytes(desk, b"bytes"))
    assert follow(desk, link, "HEAD").status == 200
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        answer = follow(desk, link, method)
        assert answer.failure == (405, "METHOD_NOT_ALLOWED")
        assert set((answer.header("allow") or "").split(", ")) == {"GET", "HEAD"}


@pytest.fixture
def bucket_house(house: House, run: Run, clock: SetClock, monkeypatch: pytest.MonkeyPatch) -> House:
    """Signing for a bucket needs no word with it."""
    for name, value in {
        "ENDPOINT_URL": "https://objects.example.com",
        "ACCESS_KEY_ID": "id",
        "SECRET_ACCESS_KEY": "secret",
        "REGION": "eu-central-1",
    }.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    files: Files = open_files("s3://bucket/desk")
    return House(house.store, files, clock, run, house.folder)


def test_a_bucket_signs_its_own_link_for_5_minutes(bucket_house: House) -> None:
    desk = bucket_house.open_desk()
    attachment = AttachmentRecord(id=new_id(), created_at=NEW_YEAR, filename="a.pdf")
    key = content_key(desk.workspace_id, attachment.id)
    desk.house.run(
        desk.house.store.write(
            lambda tx: put(tx, kinds.ATTACHMENTS, desk.workspace_id, attachment, file_key=key)
        )
    )
    shown = desk.get(f"/attachments/{attachment.id}").data
    link = urlsplit(shown["url"])
    assert link.netloc == "objects.example.com"
    assert link.path.endswith(f"/desk/{key}")
    assert parse_qs(link.query)["X-Amz-Expires"] == ["300"]
    assert "X-Amz-Signature" in parse_qs(link.query)
    assert shown["url_expires_at"] == at(300)


def test_a_link_to_bytes_that_a_bucket_never_got_is_our_own_and_finds_nothing(bucket_house: House) -> None:
    desk = bucket_house.open_desk()
    attachment = record("attachment")
    desk.put(attachment)
    assert follow(desk, link_of(desk, attachment)).failure == (404, "NOT_FOUND")
