"""Requests that nobody means well with, sent to the real server with a real workspace behind it."""

import json
import re
import socket
import time
from typing import NamedTuple

import pytest

from tests.system.conftest import Demo
from tests.system.operators import PREFIX

API = PREFIX.encode()
METHODS = (b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS", b"TRACE", b"PROPFIND", b"FOO", b"get", b"G\0T")
IDS = (
    *(b"x", b"0", b"-1", b"null", b".", b"..", b"%2e%2e", b"%00", b"%ff%fe", b"%F0%9F%98%80", b"a" * 5000),
    *(
        b"%s%%20",
        b"%%20%s",
        b"%s%%0a",
        b"%s%%00",
        b"{%s}",
        b"urn:uuid:%s",
        b"%s%%2fx",
        b"%s/",
        b"%s//",
        b"%s;x",
    ),
    *(b"%%D9%%A3%s", b"'%%20or%%201=1--%s", b"%%252e%s"),
)
NOT_QUERIES = {
    b"limit": (
        b"1_0",
        b"5.0",
        b"-1",
        b"0",
        b"101",
        b"9" * 20,
        b"",
        b"+1",
        b"%2b1",
        b"1%00",
        b"%D9%A3",
        b"1e1",
    ),
    b"cursor": (b"x", b"%00", b"", b"a" * 513, b"A" * 512, b"%ff%fe", b"%F0%9F%98%80", b"..", b"e30.e30"),
    b"tags": (b",", b"%20", b",,%20", b"a%00", b"%ff", b"%ed%a0%80"),
    b"tag_match": (b"x", b"", b"ANY", b"any%00"),
}
TOKENS = (
    *(b"", b"Bearer", b"Bearer ", b"Bearer x", b"Basic eDp5", b"Bearer \xff\xfe", b"Bearer " + b"a" * 9000),
    *(b"Token %s", b"%s", b"Bearer\t%s", b"Bearer %sx", b'Bearer "%s"', b"Bearer %s, Bearer %s"),
    *(b"Bearer dwp_" + b"\xe9" * 40, b"Bearer dwp_" + b"%%61" * 40, b"Bearer DWP_%s"),
)


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        return str(json.loads(self.body)["error"]["code"]) if self.status >= 400 and self.body else ""


class Attacker:
    def __init__(self, demo: Demo) -> None:
        self._served = demo.served
        self.token = demo.token.encode()
        with demo.served.client(demo.token) as client:
            self.channel = client.api("/channels?limit=1").data[0]["id"].encode()

    def get(self, target: bytes, headers: bytes = b"", body: bytes = b"", method: bytes = b"GET") -> Reply:
        authorization = b"Authorization: Bearer %s\r\n" % self.token
        head = b"%s %s HTTP/1.1\r\nHost: a\r\n" % (method, target)
        return self.say(head + authorization + headers + b"\r\n" + body)

    def say(self, request: bytes) -> Reply:
        """What every answer has in common is looked over here."""
        head, _, body = self._served.say(request).partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        assert first.startswith("HTTP/1.1 "), request[:200]
        reply = Reply(int(first.split()[1]), headers, body)
        assert reply.status < 500, request[:200]
        assert re.fullmatch("[A-Za-z0-9_-]{1,64}", headers["x-request-id"])
        assert not any(name.startswith("access-control-") for name in headers)
        assert "server" not in headers
        if reply.status >= 400 and not request.startswith(b"HEAD"):
            document = json.loads(body)
            assert document["success"] is False
            assert document["error"].keys() - {"details"} == {"code", "message"}
            assert "Traceback" not in document["error"]["message"]
        return reply


@pytest.fixture(scope="module")
def attacker(demo: Demo) -> Attacker:
    return Attacker(demo)


def test_ids_in_every_wrong_form_lead_nowhere(attacker: Attacker) -> None:
    for form in IDS:
        id = form.replace(b"%s", attacker.channel).replace(b"%%", b"%")
        for kind, code in ((b"channels", "NOT_FOUND"), (b"members", "INVALID_INPUT")):
            reply = attacker.get(b"%s/%s/%s" % (API, kind, id))
            assert reply.code in (code, "NOT_FOUND"), id
    assert attacker.get(API + b"/channels/" + attacker.channel.upper()).status == 200


def test_paths_that_are_none_lead_nowhere(attacker: Attacker) -> None:
    for path in (
        *(API, API + b"/", API + b"//workspace", b"/" + API + b"/workspace", API + b"/workspace/"),
        *(
            API + b"/x/../workspace",
            API + b"/x/%2e%2e/workspace",
            API + b"/%2e/workspace",
            API + b"/members/",
        ),
        *(API + b"%2fworkspace", API + b"/channels%2f" + attacker.channel, API + b"/channels/"),
        *(b"/docs/", b"/%00", b"/%ff", b"/healthz/..", b"/.env", b"/attachments/%2e%2e", b"/metrics/x"),
    ):
        assert attacker.get(path).code == "NOT_FOUND", path


def test_a_path_is_what_is_asked_for_whatever_stands_before_it(attacker: Attacker) -> None:
    for target in (b"http://a", b"https://evil.test:99", b"HTTP://a:80"):
        assert attacker.get(target + API + b"/workspace").status == 200
    for target in (b"*", b"a:80", b"http://[::1/", b"http://a:99999999/", API + b"/workspace#x", b"x"):
        assert attacker.get(target).status == 400, target
    assert attacker.say(b"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n").status == 400


def test_queries_that_break_a_rule_are_refused_by_name(attacker: Attacker) -> None:
    for name, values in NOT_QUERIES.items():
        for value in values:
            reply = attacker.get(API + b"/channels?" + name + b"=" + value)
            assert reply.code == "INVALID_QUERY", (name, value)
            fields = json.loads(reply.body)["error"]["details"]["fields"]
            assert [each["field"] for each in fields] == [name.decode()]


def test_text_that_is_none_is_refused_and_odd_text_is_searched_for(attacker: Attacker) -> None:
    for path in (b"/contacts?q=", b"/contacts?external_id=", b"/search?q="):
        for text in (b"%00", b"a%00", b"%ff%fe", b"%ed%a0%80", b"%c0%af", b"%f8"):
            assert attacker.get(API + path + text).code == "INVALID_QUERY", text
        for text in (b"\xff", b"\0", b" a", b"\x7f\x80"):
            assert attacker.get(API + path + text).status == 400, text
        for text in (b"%25", b"_", b"'", b"%22", b"*", b"NEAR(", b"a%20OR%20b", b":*", b"(", b"%F0%9F%98%80"):
            assert attacker.get(API + path + text).status == 200, text
    assert attacker.get(API + b"/contacts?q=&external_id=").code == "INVALID_QUERY"
    assert attacker.get(API + b"/search?q=" + b"%CC%81" * 200).status == 200
    assert attacker.get(API + b"/search?q=" + b"a" * 201).code == "INVALID_QUERY"


def test_a_window_that_is_none_is_refused(attacker: Attacker) -> None:
    path = b"%s/channels/%s/messages?" % (API, attacker.channel)
    for query in (
        *(
            b"",
            b"since=",
            b"since=x",
            b"since=2026-11-01",
            b"since=2026-11-01T00:00:00",
            b"since=" + b"9" * 99,
        ),
        *(b"since=0000-01-01T00:00:00Z", b"since=2026-13-01T00:00:00Z", b"since=2026-11-20T00:00:00%2b99:00"),
        *(b"since=9999-12-31T23:59:59Z", b"since=0001-01-01T00:00:00Z&until=9999-12-31T23:59:59Z"),
        b"since=2026-11-01T00:00:00Z&until=2026-11-01T00:00:00Z",
    ):
        assert attacker.get(path + query).code == "INVALID_QUERY", query


def test_tokens_that_are_none_are_refused(attacker: Attacker) -> None:
    for form in TOKENS:
        sent = form.replace(b"%s", attacker.token)
        request = b"GET %s/workspace HTTP/1.1\r\nHost: a\r\nAuthorization: %s\r\n\r\n" % (API, sent)
        reply = attacker.say(request)
        assert reply.code == "INVALID_TOKEN", form
        assert reply.headers["www-authenticate"] == "Bearer"
    assert attacker.get(API + b"/workspace", b"Authorization: Bearer x\r\n").code == "INVALID_TOKEN"


def test_methods_that_are_not_there_are_refused(attacker: Attacker) -> None:
    for method in METHODS:
        for path in (API + b"/workspace", API + b"/channels/" + attacker.channel, b"/healthz", b"/docs"):
            reply = attacker.get(path, method=method)
            assert reply.status in (400, 405), method
            if reply.status == 405:
                assert "GET" in reply.headers["allow"]
    preflight = b"Origin: https://evil.test\r\nAccess-Control-Request-Method: GET\r\n"
    assert attacker.get(API + b"/workspace", preflight, method=b"OPTIONS").status == 405
    assert attacker.get(API + b"/workspace", method=b"HEAD").body == b""


def test_a_body_where_none_belongs_is_passed_over(attacker: Attacker) -> None:
    assert attacker.get(API + b"/workspace", b"Content-Length: 5\r\n", b"hello").status == 200
    chunked = b"5\r\nhello\r\n0\r\n\r\n"
    assert attacker.get(API + b"/workspace", b"Transfer-Encoding: chunked\r\n", chunked).status == 200
    two = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"
    assert attacker.get(API + b"/workspace", two, chunked).status == 400


def test_heads_out_of_all_proportion_are_refused(attacker: Attacker) -> None:
    assert attacker.get(API + b"/workspace", b"X: %s\r\n" % (b"a" * 1_000_000)).status == 431
    many = b"".join(b"X-%d: a\r\n" % number for number in range(2000))
    assert attacker.get(API + b"/workspace", many).status == 431
    assert attacker.get(API + b"/channels?" + b"a" * 1_000_000).status == 431
    assert attacker.get(API + b"/channels?" + b"&".join([b"a=1"] * 5000)).status == 200
    for header in (b"X: a\0b\r\n", b"X: a\rb\r\n", b" X: a\r\n", b"X : a\r\n"):
        assert attacker.get(API + b"/workspace", header).status == 400, header
    assert attacker.get(API + b"/workspace", b"X-Request-ID: \xff\xfe\r\n").status == 200


def test_old_and_other_protocols_are_answered_or_refused(attacker: Attacker) -> None:
    authorization = b"Authorization: Bearer %s\r\n\r\n" % attacker.token
    assert attacker.say(b"GET %s/workspace HTTP/1.0\r\n" % API + authorization).status == 200
    assert attacker.say(b"GET %s/workspace HTTP/1.1\r\n" % API + authorization).status == 400
    for greeting in (
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"SSH-2.0-x\r\n",
        b"\0" * 99,
    ):
        assert attacker.say(greeting).status == 400


@pytest.mark.stress
def test_who_drips_holds_up_nobody_and_is_cut_at_last(demo: Demo) -> None:
    with socket.create_connection(("127.0.0.1", demo.served.port), timeout=15) as dripping:
        began_s = time.monotonic()
        dripping.sendall(b"GET / HTTP/1.1\r\n")
        assert demo.served.get("/healthz").status == 200
        assert b" 408 " in dripping.makefile("rb").readline()
        assert time.monotonic() - began_s < 14


def test_a_link_of_an_attachment_that_was_altered_is_refused(attacker: Attacker) -> None:
    path = b"/attachments/%s/%s" % (attacker.channel, attacker.channel)
    for query in (
        *(b"", b"?expires=%ff&signature=%ff", b"?expires=%00&signature=%00", b"?expires=%D9%A3&signature=x"),
        *(b"?expires=" + b"9" * 30 + b"&signature=x", b"?expires=-1&signature=%C3%A9", b"?expires=1e9"),
    ):
        assert attacker.get(path + query).code == "FORBIDDEN", query


def test_after_all_that_the_log_knows_of_no_failure(demo: Demo) -> None:
    assert demo.served.get(f"{PREFIX}/workspace", demo.token).status == 200
    log = demo.served.log()
    assert "Traceback" not in log and " error " not in log
    assert demo.token not in log
