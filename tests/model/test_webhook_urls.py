"""What the URL of a webhook may be: every form that is refused, and what passes."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from yarl import URL

from deskwire.model.webhook_urls import Target, UrlRefused, ip_address_of, normalise_host, parse_target

SCHEME = "must begin with https://"
NO_ADDRESS = "must have a domain name, not an IP address"
NO_NAME = "must have a valid domain name"
NO_HOST = "must have a domain name after https://"
UNSPEAKABLE = "must not contain spaces, control characters or backslashes"
CREDENTIALS = "must not contain a user name or password"
NUMBER = "must have a port from 1 to 65535"
PORT = "must have port 443, 8443 or one above 1023"
INCOMPLETE = "must have a complete domain name, such as hooks.example.com"
FRAGMENT = "must not have a fragment (the part from # on), since it would not be sent"
NO_URL = "must be a valid URL"

REFUSED = [
    ("", SCHEME),
    ("hooks.example.com", SCHEME),
    ("//hooks.example.com/", SCHEME),
    ("http://hooks.example.com/", SCHEME),
    ("HTTP://hooks.example.com/", SCHEME),
    ("ftp://hooks.example.com/", SCHEME),
    ("file:///etc/passwd", SCHEME),
    ("gopher://hooks.example.com/", SCHEME),
    ("javascript:alert(1)", SCHEME),
    ("wss://hooks.example.com/", SCHEME),
    ("httpſ://hooks.example.com/", SCHEME),
    ("https://127.0.0.1/", NO_ADDRESS),
    ("https://127.0.0.1:8443/", NO_ADDRESS),
    ("https://127.0.0.1./", NO_ADDRESS),
    ("https://8.8.8.8/", NO_ADDRESS),
    ("https://10.0.0.1/", NO_ADDRESS),
    ("https://169.254.169.254/latest/meta-data/", NO_ADDRESS),
    ("https://127.1/", NO_ADDRESS),
    ("https://127.0.1/", NO_ADDRESS),
    ("https://0/", NO_ADDRESS),
    ("https://0./", NO_ADDRESS),
    ("https://2130706433/", NO_ADDRESS),
    ("https://02130706433/", NO_ADDRESS),
    ("https://0x7f000001/", NO_ADDRESS),
    ("https://0X7F000001/", NO_ADDRESS),
    ("https://0x7f.0x0.0x0.0x1/", NO_ADDRESS),
    ("https://0x7f.1/", NO_ADDRESS),
    ("https://0x/", NO_ADDRESS),
    ("https://017700000001/", NO_ADDRESS),
    ("https://0177.0.0.1/", NO_ADDRESS),
    ("https://0177.0.0.01/", NO_ADDRESS),
    ("https://127.0.0.1.1/", NO_ADDRESS),
    ("https://256.256.256.256/", NO_ADDRESS),
    ("https://example.1/", NO_ADDRESS),
    ("https://example.0x1/", NO_ADDRESS),
    ("https://①②⑦.⓪.⓪.①/", NO_ADDRESS),
    ("https://１２７.０.０.１/", NO_ADDRESS),
    ("https://127。0。0。1/", NO_ADDRESS),
    ("https://127．0．0．1/", NO_ADDRESS),
    ("https://127｡0｡0｡1/", NO_ADDRESS),
    ("https://𝟏𝟐𝟕.𝟎.𝟎.𝟏/", NO_ADDRESS),
    ("https://¹²⁷.0.0.1/", NO_ADDRESS),
    ("https://0\u00adx7f.1/", NO_ADDRESS),
    ("https://127.0.0.\u200b1/", NO_ADDRESS),
    ("https://٠.٠.٠.٠/", NO_NAME),
    ("https://[::1]/", NO_ADDRESS),
    ("https://[::]/", NO_ADDRESS),
    ("https://[::ffff:127.0.0.1]/", NO_ADDRESS),
    ("https://[::ffff:7f00:1]/", NO_ADDRESS),
    ("https://[0:0:0:0:0:0:0:1]:8443/", NO_ADDRESS),
    ("https://[64:ff9b::7f00:1]/", NO_ADDRESS),
    ("https://[2606:4700::1111]/", NO_ADDRESS),
    ("https://[fe80::1%25eth0]/", NO_ADDRESS),
    ("https://[fe80::1%eth0]/", NO_ADDRESS),
    ("https://[::1/", NO_URL),
    ("https://::1/", NO_HOST),
    ("https://[v1.hooks]/", None),
    ("https://[hooks.example.com]/", None),
    ("https://[]/", None),
    ("https://%31%32%37.0.0.1/", NO_NAME),
    ("https://%6cocalhost/", NO_NAME),
    ("https://localhost/", None),
    ("https://LOCALHOST/", None),
    ("https://localhost./", None),
    ("https://ⓛocalhost/", None),
    ("https://a.localhost/", None),
    ("https://localhost.localdomain/", None),
    ("https://printer.local/", None),
    ("https://metadata/", None),
    ("https://metadata.google.internal/computeMetadata/v1/", None),
    ("https://metadata.google.internal./", None),
    ("https://metadata.goog/", None),
    ("https://instance-data.ec2.internal/", None),
    ("https://instance-data/", None),
    ("https://kubernetes.default.svc/", None),
    ("https://kubernetes.default.svc.cluster.local/", None),
    ("https://router.home.arpa/", None),
    ("https://hooks/", INCOMPLETE),
    ("https://hooks./", INCOMPLETE),
    ("https:///hook", NO_HOST),
    ("https://", NO_HOST),
    ("https:", NO_HOST),
    ("https:hooks.example.com", NO_HOST),
    ("https:/hooks.example.com/", NO_HOST),
    ("https://./", NO_HOST),
    ("https://:8443/", NO_HOST),
    ("https://?a=b", NO_HOST),
    ("https://hooks..example.com/", NO_NAME),
    ("https://.example.com/", NO_NAME),
    ("https://hooks.example.com../", NO_NAME),
    ("https://-hooks.example.com/", NO_NAME),
    ("https://hooks-.example.com/", NO_NAME),
    ("https://hooks,example.com/", NO_NAME),
    ("https://*.example.com/", NO_NAME),
    ("https://hooks!.example.com/", NO_NAME),
    ("https://" + "a" * 64 + ".example.com/", NO_NAME),
    ("https://" + "a." * 127 + "com/", NO_NAME),
    ("https://hooks℀.example.com/", NO_URL),
    ("https://hooks.example.com／@127.0.0.1/", None),
    ("https://user@hooks.example.com/", CREDENTIALS),
    ("https://user:password@hooks.example.com/", CREDENTIALS),
    ("https://@hooks.example.com/", CREDENTIALS),
    ("https://hooks.example.com@127.0.0.1/", CREDENTIALS),
    ("https://127.0.0.1#@hooks.example.com/", None),
    ("https://hooks.example.com:0/", PORT),
    ("https://hooks.example.com:22/", PORT),
    ("https://hooks.example.com:25/", PORT),
    ("https://hooks.example.com:80/", PORT),
    ("https://hooks.example.com:1023/", PORT),
    ("https://hooks.example.com:65536/", NUMBER),
    ("https://hooks.example.com:-1/", NUMBER),
    ("https://hooks.example.com:+443/", NUMBER),
    ("https://hooks.example.com:４４３/", None),
    ("https://hooks.example.com:https/", NUMBER),
    ("https://hooks.example.com:443:443/", None),
    (" https://hooks.example.com/", UNSPEAKABLE),
    ("https://hooks.example.com/ ", UNSPEAKABLE),
    ("https://hooks.example.com/a b", UNSPEAKABLE),
    ("https://hooks.example.com/\n", UNSPEAKABLE),
    ("https://hooks.example.com/\r\nX: y", UNSPEAKABLE),
    ("ht\ttps://hooks.example.com/", UNSPEAKABLE),
    ("https://hooks.example.com/\x00", UNSPEAKABLE),
    ("https://hooks.example.com/\x7f", UNSPEAKABLE),
    ("https://hooks.example.com/\u2028", UNSPEAKABLE),
    ("https://hooks.example.com/\u00a0", UNSPEAKABLE),
    ("https://hooks.example.com\\@127.0.0.1/", UNSPEAKABLE),
    ("https:\\\\hooks.example.com/", UNSPEAKABLE),
    ("https://hooks.example.com/\ud800", NO_URL),
    ("https://hooks.example.com/#part", FRAGMENT),
    ("https://hooks.example.com/#", FRAGMENT),
    ("https://hooks.example.com/" + "a" * 2023, "must be at most 2048 characters"),
]  # fmt: skip

PASSING = [
    ("https://hooks.example.com", "hooks.example.com", 443, "/"),
    ("https://hooks.example.com/", "hooks.example.com", 443, "/"),
    ("HTTPS://Hooks.Example.COM/Hook", "hooks.example.com", 443, "/Hook"),
    ("https://hooks.example.com./a", "hooks.example.com", 443, "/a"),
    ("https://hooks.example.com:/a", "hooks.example.com", 443, "/a"),
    ("https://hooks.example.com:443/a", "hooks.example.com", 443, "/a"),
    ("https://hooks.example.com:8443/a?b=c&d=%20", "hooks.example.com", 8443, "/a?b=c&d=%20"),
    ("https://hooks.example.com:1024/", "hooks.example.com", 1024, "/"),
    ("https://hooks.example.com:65535/", "hooks.example.com", 65535, "/"),
    ("https://hooks.example.com?a=b", "hooks.example.com", 443, "/?a=b"),
    ("https://hooks.example.com/a@b:c", "hooks.example.com", 443, "/a@b:c"),
    ("https://hooks.example.com/ä?ö=<ü>", "hooks.example.com", 443, "/%C3%A4?%C3%B6=%3C%C3%BC%3E"),
    ("https://bücher.example/", "xn--bcher-kva.example", 443, "/"),
    ("https://faß.example/", "xn--fa-hia.example", 443, "/"),
    ("https://훅.한국/", "xn--i18b.xn--3e0b707e", 443, "/"),
    ("https://my_app.example.com/", "my_app.example.com", 443, "/"),
    ("https://1.example.com/", "1.example.com", 443, "/"),
    ("https://127.0.0.1.example.com/", "127.0.0.1.example.com", 443, "/"),
    ("https://0x7f.example/", "0x7f.example", 443, "/"),
    ("https://mylocal.example/", "mylocal.example", 443, "/"),
    ("https://ｈooks。example．com/", "hooks.example.com", 443, "/"),
    ("https://hooks.example.com/" + "ä" * 2022, "hooks.example.com", 443, "/" + "%C3%A4" * 2022),
]


@pytest.mark.parametrize(("url", "problem"), REFUSED, ids=range(len(REFUSED)))
def test_a_url_that_breaks_a_rule_is_refused_with_the_rule(url: str, problem: str | None) -> None:
    with pytest.raises(UrlRefused) as refused:
        parse_target(url)
    assert refused.value.problem == problem or problem is None
    assert refused.value.problem.startswith("must ")


@pytest.mark.parametrize(("url", "host", "port", "path"), PASSING, ids=range(len(PASSING)))
def test_a_url_within_the_rules_leads_to_its_target(url: str, host: str, port: int, path: str) -> None:
    assert parse_target(url) == Target("https", host, port, path, False)


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://127.0.0.1:9000/a", ("127.0.0.1", 9000)),
        ("http://[::1]:9000/", ("::1", 9000)),
        ("http://[0:0:0:0:0:0:0:1]:9000/", ("::1", 9000)),
        ("https://localhost:9000/", ("LOCALHOST", 9000)),
        ("http://receiver:80/", ("receiver", 80)),
        ("http://receiver/", ("receiver", 80)),
        ("https://receiver/", ("receiver", 443)),
        ("http://bücher.example:25/", ("BÜCHER.example", 25)),
    ],
)
def test_an_allowed_host_and_port_passes_whatever_it_is(url: str, allowed: tuple[str, int]) -> None:
    assert parse_target(url, [allowed]).is_allowed


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9001/",
        "http://127.0.0.2:9000/",
        "http://127.1:9000/",
        "http://2130706433:9000/",
        "http://localhost:9000/",
        "ftp://127.0.0.1:9000/",
        "http://user@127.0.0.1:9000/",
        "http://127.0.0.1:9000/#a",
        "http://127.0.0.1:9000/ ",
        "http://127.0.0.1:9000/" + "a" * 2048,
    ],
)
def test_what_is_allowed_is_that_host_and_port_alone_and_the_form_still_counts(url: str) -> None:
    with pytest.raises(UrlRefused):
        parse_target(url, [("127.0.0.1", 9000)])


def test_a_name_beside_the_allowed_one_is_not_allowed() -> None:
    assert not parse_target("https://hooks.example.com:9000/", [("example.com", 9000)]).is_allowed


@given(st.text(max_size=60))
def test_any_text_after_the_scheme_is_a_target_or_refused(text: str) -> None:
    check_what_passes("https://" + text)


@given(st.from_regex(r"https://[a-z0-9.①-⑳０-９。．%:\[\]@x-]{1,30}(/.*)?", fullmatch=True))
def test_what_passes_leads_the_http_library_to_the_same_place(url: str) -> None:
    check_what_passes(url)


def check_what_passes(url: str) -> None:
    try:
        target = parse_target(url)
    except UrlRefused:
        return
    seen = URL(target.url, encoded=True)
    assert (seen.scheme, seen.raw_host, seen.port) == ("https", target.host, target.port)
    assert seen.raw_path_qs == target.path and target.url.isascii()
    assert ip_address_of(target.host) is None
    assert parse_target(target.url[:2048]).host == target.host


@given(st.from_regex(r"[a-zA-Z0-9ａ-ｚäöü]{1,20}(\.[a-zA-Z0-9]{1,9}){1,3}", fullmatch=True))
def test_a_normalised_host_stays_as_it_is(text: str) -> None:
    try:
        host = normalise_host(text)
    except UrlRefused:
        assume(False)
    assert normalise_host(host) == host == host.lower()
