import socket

import pytest

from deskwire.model.emails import parse_email


@pytest.mark.parametrize(
    "text",
    [
        "ann@example.com",
        "Ann.Lee+desk@Example.COM",
        "owner@desk.test",
        "ann@desk.invalid",
        "ann@printer.local",
        "한국@예시.kr",
        f"{'a' * 64}@example.com",
        "o'hara@example.ie",
    ],
)
def test_an_address_comes_back_as_it_was_typed(text: str) -> None:
    assert parse_email(text) == text


def test_blanks_around_an_address_are_cut_off() -> None:
    assert parse_email(" ann@example.com\t\n") == "ann@example.com"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ann",
        "ann@",
        "@example.com",
        "ann@example",
        "ann@@example.com",
        "ann@example..com",
        "an n@example.com",
        "Ann <ann@example.com>",
        "ann@[127.0.0.1]",
        '"ann lee"@example.com',
        f"{'a' * 65}@example.com",
        f"ann@{'.'.join(['d' * 60] * 4)}.example.com",
        "ann\x00@example.com",
        "ann\ud800@example.com",
    ],
)
def test_what_is_no_address_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be an e-mail address such as ann@example\.com: \S"):
        parse_email(text)


def test_no_name_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(socket, "getaddrinfo")
    monkeypatch.delattr(socket, "socket")
    assert parse_email("ann@nowhere.example.com") == "ann@nowhere.example.com"
