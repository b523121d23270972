import re
from email.message import Message
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskwire.model.downloads import Verdict, disposition, safe_content_type, sign, verify
from deskwire.model.limits import MAX_DOWNLOAD_FILENAME_CHARACTERS

KEY = b"k" * 32
WORKSPACE = "018f3e1c-7c2a-7b11-9a53-000000000001"
ATTACHMENT = "018f3e1c-7c2a-7b11-9a53-000000000002"
EXPIRES = 1_720_000_300
URL = sign(KEY, "http://desk.test/base", WORKSPACE, ATTACHMENT, EXPIRES)
SIGNATURE = parse_qs(urlsplit(URL).query)["signature"][0]


def test_an_address_names_the_attachment_its_end_and_the_signature() -> None:
    address, _, query = URL.partition("?")
    assert address == f"http://desk.test/base/attachments/{WORKSPACE}/{ATTACHMENT}"
    assert query == f"expires={EXPIRES}&signature={SIGNATURE}"
    assert re.fullmatch("[0-9a-f]{64}", SIGNATURE)


def test_an_address_is_valid_until_the_second_in_which_it_ends() -> None:
    ends = [(EXPIRES - 300, Verdict.VALID), (EXPIRES - 0.001, Verdict.VALID), (EXPIRES, Verdict.EXPIRED)]
    for now_s, verdict in ends:
        assert verify(KEY, WORKSPACE, ATTACHMENT, str(EXPIRES), SIGNATURE, now_s) is verdict


@pytest.mark.parametrize(
    ("workspace_id", "attachment_id", "expires", "signature"),
    [
        (ATTACHMENT, ATTACHMENT, str(EXPIRES), SIGNATURE),
        (WORKSPACE, WORKSPACE, str(EXPIRES), SIGNATURE),
        (WORKSPACE.upper(), ATTACHMENT, str(EXPIRES), SIGNATURE),
        (WORKSPACE, ATTACHMENT, str(EXPIRES + 1), SIGNATURE),
        (WORKSPACE, ATTACHMENT, f"0{EXPIRES}", SIGNATURE),
        (WORKSPACE, ATTACHMENT, f" {EXPIRES}", SIGNATURE),
        (WORKSPACE, ATTACHMENT, "1_720_000_300", SIGNATURE),
        (WORKSPACE, ATTACHMENT, "", SIGNATURE),
        (WORKSPACE, ATTACHMENT, "never", SIGNATURE),
        (WORKSPACE, ATTACHMENT, "9" * 5000, SIGNATURE),
        (WORKSPACE, ATTACHMENT, str(EXPIRES), SIGNATURE.upper()),
        (WORKSPACE, ATTACHMENT, str(EXPIRES), SIGNATURE + "0"),
        (WORKSPACE, ATTACHMENT, str(EXPIRES), SIGNATURE[:-1]),
        (WORKSPACE, ATTACHMENT, str(EXPIRES), ""),
        (WORKSPACE, ATTACHMENT, str(EXPIRES), "é"),
        (WORKSPACE, ATTACHMENT, "\ud800", "\ud800"),
    ],
)
def test_an_altered_address_is_refused(
    workspace_id: str, attachment_id: str, expires: str, signature: str
) -> None:
    assert verify(KEY, workspace_id, attachment_id, expires, signature, EXPIRES - 1) is Verdict.ALTERED


def test_every_change_of_the_signature_is_refused() -> None:
    for at, character in enumerate(SIGNATURE):
        for other in set("0123456789abcdef") - {character}:
            altered = SIGNATURE[:at] + other + SIGNATURE[at + 1 :]
            assert verify(KEY, WORKSPACE, ATTACHMENT, str(EXPIRES), altered, 0) is Verdict.ALTERED


def test_an_address_signed_with_another_key_is_refused() -> None:
    assert verify(b"other", WORKSPACE, ATTACHMENT, str(EXPIRES), SIGNATURE, 0) is Verdict.ALTERED


@pytest.mark.parametrize(
    ("filename", "header"),
    [
        ("a b.txt", "attachment; filename=\"a b.txt\"; filename*=UTF-8''a%20b.txt"),
        ("견적서.pdf", "attachment; filename=\"___.pdf\"; filename*=UTF-8''%EA%B2%AC%EC%A0%81%EC%84%9C.pdf"),
        ("100%41.txt", "attachment; filename=\"100_41.txt\"; filename*=UTF-8''100%2541.txt"),
        (
            'a"; filename="b.exe',
            "attachment; filename=\"a_; filename=_b.exe\"; filename*=UTF-8''a_%3B%20filename%3D_b.exe",
        ),
        ("../../etc/passwd", "attachment; filename=\"_.._etc_passwd\"; filename*=UTF-8''_.._etc_passwd"),
        (
            "C:\\x\r\nSet-Cookie: y",
            "attachment; filename=\"C__x Set-Cookie_ y\"; filename*=UTF-8''C__x%20Set-Cookie_%20y",
        ),
        ("photo\u202egpj.exe\x00", "attachment; filename=\"photogpj.exe\"; filename*=UTF-8''photogpj.exe"),
    ],
)
def test_a_file_name_is_made_harmless_and_kept_readable(filename: str, header: str) -> None:
    assert disposition(filename) == header


@pytest.mark.parametrize("filename", ["", ".", "..", " . ", "\n", "\ud800"])
def test_a_name_of_nothing_becomes_attachment(filename: str) -> None:
    assert disposition(filename) == "attachment; filename=\"attachment\"; filename*=UTF-8''attachment"


def test_a_long_name_keeps_its_extension() -> None:
    for name in ("x" * 500 + ".pdf", "x." + "y" * 500, "x" * 500):
        shown = unquote(disposition(name).partition("UTF-8''")[2])
        assert len(shown) == MAX_DOWNLOAD_FILENAME_CHARACTERS
        assert shown.endswith(name[-4:])


@given(st.text())
def test_any_name_gives_one_plain_header_that_parsers_understand(filename: str) -> None:
    header = disposition(filename)
    assert re.fullmatch(
        r"""attachment; filename="[^"\\%\x00-\x1f\x7f-\U0010ffff]+"; filename\*=UTF-8''[\w.~%-]+""", header
    )
    message = Message()
    message["Content-Disposition"] = header
    assert message.get_content_disposition() == "attachment"
    assert message.get_filename()


@pytest.mark.parametrize(
    ("content_type", "served"),
    [
        ("image/png", "image/png"),
        ("IMAGE/JPEG; q=1", "image/jpeg"),
        ("application/pdf", "application/pdf"),
        ("text/plain", "text/plain; charset=utf-8"),
        ("text/plain; charset=utf-7", "text/plain; charset=utf-8"),
        ("text/csv", "text/csv; charset=utf-8"),
        ("image/svg+xml", "application/octet-stream"),
        ("text/html", "application/octet-stream"),
        ("application/xhtml+xml", "application/octet-stream"),
        ("text/javascript", "application/octet-stream"),
        ("multipart/x-mixed-replace", "application/octet-stream"),
        ("image/png\r\nX: y", "application/octet-stream"),
        ("image/png, text/html", "application/octet-stream"),
        ("", "application/octet-stream"),
    ],
)
def test_only_harmless_types_are_served_as_such(content_type: str, served: str) -> None:
    assert safe_content_type(content_type) == served
