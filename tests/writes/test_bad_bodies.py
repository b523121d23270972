"""Bodies that are no bodies: each write refuses them, names the field, and keeps nothing of them."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from deskwire.api.bodies import NewContact
from deskwire.model.limits import MAX_BODY_BYTES, UNKNOWN_FIELDS_SHOWN
from tests.api.client import Answer
from tests.api.records import new_id
from tests.api.webhooks import add_webhook
from tests.writes.writer import Json, Writer

DEEP = 100_000
NOT_JSON = [
    b"",
    b" ",
    b"{",
    b"{}{}",
    b"{'name': 'x'}",
    b'{"name":"x",}',
    b'\xef\xbb\xbf{"name":"x"}',
    b'{"name":NaN}',
    b'{"name":"\xff"}',
    '{"name":"x"}'.encode("utf-16"),
    b'{"name":"a\x00b"}',
    b'{"name":"a\nb"}',
    b'{"name":"\\x41"}',
]
NOT_AN_OBJECT = [
    b"[]",
    b"null",
    b"1",
    b'"x"',
    b"true",
    b"[" * DEEP,
    b"[" * DEEP + b"]" * DEEP,
    b'[{"name":"x"}]',
]
# What stands in the place of a name that a text belongs in.
NOT_A_TEXT = [b"1", b"1.5", b"true", b"[]", b"{}", b"1e999", b"9" * 5_000]
NOT_A_TEXT += [b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP, b"[" * DEEP]
HALVES = [b"\xed\xa0\x80", b"\\ud800", b"\\udc00", b"x\\udfff\\ud800y", b"\\ud83d"]

ID = b'"%s"' % new_id().encode()
ACTOR = b',"actor_member_id":%s' % ID
# Method, path, a field, a value for it, and what the body needs beside it.
WRITES: list[tuple[str, str, str, bytes, bytes]] = [
    ("POST", "/contacts", "name", b'"x"', b""),
    ("PATCH", "/contacts/{contact}", "name", b'"x"', b""),
    ("POST", "/contacts/{contact}/tags", "tags", b'["x"]', b""),
    ("PUT", "/contacts/{contact}/sms-consent", "reason", b'"x"', b',"opted_in":true'),
    ("POST", "/channels/{channel}/messages", "content", b'"x"', b',"content_type":"text"'),
    ("POST", "/channels/{channel}/read", "message_id", ID, ACTOR),
    ("POST", "/channels/{channel}/close", "actor_member_id", ID, b""),
    ("POST", "/channels/{channel}/reopen", "actor_member_id", ID, b""),
    ("POST", "/channels/{channel}/assign", "member_id", ID, ACTOR),
    ("POST", "/channels/{channel}/tags", "tags", b'["x"]', ACTOR),
    ("POST", "/outbound-webhooks", "name", b'"x"', b',"url":"https://hooks.example.com/in"'),
    ("PATCH", "/outbound-webhooks/{webhook}", "url", b'"https://hooks.example.com/"', b""),
]
Send = Callable[..., Answer]


@pytest.fixture(params=WRITES, ids=lambda one: f"{one[0]} {one[1]}")
def write(request: pytest.FixtureRequest) -> tuple[str, str, str, bytes, bytes]:
    given: tuple[str, str, str, bytes, bytes] = request.param
    return given


@pytest.fixture
def field(write: tuple[str, str, str, bytes, bytes]) -> str:
    return write[2]


@pytest.fixture
def attempt(writer: Writer, write: tuple[str, str, str, bytes, bytes]) -> Iterator[Send]:
    """Sends bytes, of which nothing is to stay."""
    path = write[1].format(
        contact=writer.contact()["id"], channel=writer.channel(), webhook=add_webhook(writer.desk)
    )
    before = writer.everything()

    def send(raw: bytes = b"", **how: object) -> Answer:
        return writer(write[0], path, raw=raw, **how)

    yield send
    assert writer.everything() == before


def test_what_is_no_json_is_refused(attempt: Send) -> None:
    for raw in NOT_JSON:
        answer = attempt(raw)
        assert answer.failure == (400, "INVALID_BODY"), raw
        # What is wrong with the part that could be read may be said first.
        for field, problem in answer.fields.items():
            assert field == "body" or problem in ("is required", "is not a field of this request"), raw


def test_what_is_no_object_is_refused(attempt: Send) -> None:
    for raw in NOT_AN_OBJECT:
        answer = attempt(raw)
        assert answer.failure == (400, "INVALID_BODY"), raw[:40]
        assert list(answer.fields) == ["body"], raw[:40]


def test_a_field_of_the_wrong_type_is_named(attempt: Send, write: tuple[str, str, str, bytes, bytes]) -> None:
    *_, field, _, needed = write
    for value in NOT_A_TEXT:
        if field == "tags" and value in (b"[]", b"[" * DEEP):
            continue
        answer = attempt(b'{"%s":%s%s}' % (field.encode(), value, needed))
        assert answer.failure == (400, "INVALID_BODY"), value[:40]
        assert list(answer.fields) in ([field], ["body"]), value[:40]
        assert value.count(b"[") == DEEP or list(answer.fields) == [field], value[:40]


def test_a_half_character_is_refused_and_its_field_named(attempt: Send, field: str) -> None:
    for half in HALVES:
        text = b'["x","%s"]' % half if field == "tags" else b'"%s"' % half
        answer = attempt(b'{"%s":%s}' % (field.encode(), text))
        assert answer.failure == (400, "INVALID_BODY")
        assert answer.fields == {field: "must not contain half of a surrogate pair"}


def test_a_field_that_is_there_twice_is_named(
    attempt: Send, write: tuple[str, str, str, bytes, bytes]
) -> None:
    *_, field, value, needed = write
    name = field.encode()
    escaped = b"\\u%04x%s" % (name[0], name[1:])
    for first, second in ((name, name), (escaped, name), (name, escaped), (escaped, escaped)):
        answer = attempt(b'{"%s":%s,"%s":%s%s}' % (first, value, second, value, needed))
        assert answer.failure == (400, "INVALID_BODY")
        assert answer.fields == {field: "is there twice"}


@pytest.mark.parametrize(
    "name", ["x", "", "x\ny", "a`b", "x - at `$.y`", "\x00", "é", "__proto__", "k" * 9_999]
)
def test_an_unknown_field_is_refused_and_named(writer: Writer, name: str) -> None:
    answer = writer.leaves_no_trace(lambda: writer("POST", "/contacts", {name: 1}))
    assert answer.failure == (400, "INVALID_BODY")
    ((said, problem),) = answer.fields.items()
    assert said == (name if len(name) <= 64 else "k" * 64 + "…")
    assert problem == "is not a field of this request"


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x" * 21, "tags": 1, "phone": 7, "external_id": None, "id": 2, "email": 1.5},
        {"id": 1, "tags": [], "email": "x" * 321, "external_id": "x" * 256, "name": None},
        {"phone": {}, "name": [], "a`b": 1, "x" * 65: 2, "email": False},
    ],
    ids=str,
)
def test_every_bad_field_is_named_as_if_it_were_the_only_one(writer: Writer, body: Json) -> None:
    answer = writer.leaves_no_trace(lambda: writer("POST", "/contacts", body))
    assert answer.failure == (400, "INVALID_BODY")
    declared = [name for name in NewContact.__struct_fields__ if name in body]
    in_order = [*declared, *(name for name in body if name not in declared)]
    alone = [writer("POST", "/contacts", {name: body[name]}) for name in in_order]
    assert list(answer.fields.items()) == [item for one in alone for item in one.fields.items()]
    assert len(answer.fields) == len(body)
    assert answer.json["error"]["message"] == alone[0].json["error"]["message"]


def test_the_form_of_an_address_is_looked_at_when_the_types_are_right(writer: Writer) -> None:
    assert list(writer("POST", "/contacts", {"email": "nobody", "name": 1}).fields) == ["name"]
    assert list(writer("POST", "/contacts", {"email": "nobody", "name": ""}).fields) == ["email"]


def test_what_is_missing_is_named_beside_what_is_wrong(writer: Writer) -> None:
    body = {"extra": 1, "client_request_id": "", "content": 5, "sender_member_id": "nope"}
    answer = writer("POST", f"/channels/{writer.channel()}/messages", body)
    assert list(answer.fields.items()) == [
        ("content_type", "is required"),
        ("content", "must be a text, not a whole number"),
        ("sender_member_id", "must be a UUID"),
        ("client_request_id", "must not be empty"),
        ("extra", "is not a field of this request"),
    ]


def test_a_list_is_named_once_however_many_of_its_entries_are_bad(writer: Writer) -> None:
    body = {"tags": ["", 1, None], "tag_ids": ["nope", 7]}
    answer = writer("POST", f"/channels/{writer.channel()}/tags", body)
    assert list(answer.fields.items()) == [
        ("actor_member_id", "is required"),
        ("tags", "must not be empty"),
        ("tag_ids", "must be a UUID"),
    ]


def test_unknown_fields_are_named_in_the_order_sent_and_not_without_end(writer: Writer) -> None:
    names = [f"x{number}" for number in range(10_000, 0, -1)]
    answer = writer("POST", "/contacts", {**dict.fromkeys(names, 1), "name": 1})
    assert list(answer.fields) == ["name", *names[:UNKNOWN_FIELDS_SHOWN]]


def test_where_what_is_wrong_cannot_be_told_apart_the_first_of_it_is_named(writer: Writer) -> None:
    for raw in (b'{"name":1,"email":"\\ud800"}', b'{"name":1,"email":2', b'{"name":1,"name":"x"}'):
        assert writer("POST", "/contacts", raw=raw).fields == {"name": "must be a text, not a whole number"}


@pytest.mark.parametrize("path", ["/contacts", "/channels/{channel}/messages", "/channels/{channel}/tags"])
@pytest.mark.parametrize("written", ["a\\u0000b", "\\u0000", "\\\\\\u0000"])
def test_nul_is_refused_however_it_is_written(writer: Writer, path: str, written: str) -> None:
    fields = {"/contacts": "external_id", "/channels/{channel}/messages": "content"}
    field = fields.get(path, "tags")
    value = f'["{written}"]' if field == "tags" else f'"{written}"'
    more = {
        "external_id": "",
        "content": ',"content_type":"text"',
        "tags": f',"actor_member_id":"{writer.owner}"',
    }[field]
    raw = f'{{"{field}":{value}{more}}}'.encode()
    path = path.format(channel=writer.channel())
    answer = writer.leaves_no_trace(lambda: writer("POST", path, raw=raw))
    assert answer.failure == (400, "INVALID_BODY")
    assert answer.fields == {field: "must not contain NUL"}


def test_a_backslash_and_digits_are_no_nul(writer: Writer) -> None:
    made = writer("POST", "/contacts", raw=b'{"external_id":"a\\\\u0000b"}')
    assert made.json["data"]["external_id"] == "a\\u0000b"


def test_a_body_that_is_too_long_is_not_read(attempt: Send) -> None:
    claimed = (("content-length", str(MAX_BODY_BYTES + 1)),)
    assert attempt(b"{}", headers=claimed).failure == (413, "PAYLOAD_TOO_LARGE")


def test_a_body_that_is_too_long_is_refused_where_none_is_asked_for(writer: Writer) -> None:
    path = f"/outbound-webhooks/{add_webhook(writer.desk)}/toggle"
    claimed = (("content-length", str(MAX_BODY_BYTES + 1)),)
    answer = writer.leaves_no_trace(lambda: writer("POST", path, raw=b"", headers=claimed))
    assert answer.failure == (413, "PAYLOAD_TOO_LARGE")


@pytest.mark.parametrize("verb", ["toggle", "regenerate-secret"])
def test_where_none_is_asked_for_an_empty_object_may_be_sent_and_no_other(writer: Writer, verb: str) -> None:
    path = f"/outbound-webhooks/{add_webhook(writer.desk)}/{verb}"
    for raw in (b"{", b"[]", b"null", b'{"status":"active"}'):
        answer = writer.leaves_no_trace(partial(writer, "POST", path, raw=raw))
        assert answer.failure == (400, "INVALID_BODY")
    answer = writer.leaves_no_trace(partial(writer, "POST", path, raw=b"{}", content_type="text/plain"))
    assert answer.failure == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert writer("POST", path, raw=b"{}").status == 200
    assert writer("POST", path, raw=b"", content_type=None).status == 200


def test_a_body_that_turns_out_too_long_is_refused(attempt: Send) -> None:
    chunk = b" " * 65_536
    endless = [b"{", *[chunk] * 17, b"}"]
    assert attempt(chunks=endless).failure == (413, "PAYLOAD_TOO_LARGE")


def test_ten_megabytes_of_reason_are_too_long(writer: Writer) -> None:
    path = f"/contacts/{writer.contact()['id']}/sms-consent"
    raw = b'{"opted_in":false,"reason":"' + b"x" * 10_000_000 + b'"}'
    answer = writer.leaves_no_trace(lambda: writer("PUT", path, raw=raw))
    assert answer.failure == (413, "PAYLOAD_TOO_LARGE")


def test_a_body_of_just_the_limit_is_read_in_chunks(writer: Writer) -> None:
    body = b'{"name":"Ann"}'
    chunks = [body[:5], body[5:], b" " * (MAX_BODY_BYTES - len(body))]
    assert writer("POST", "/contacts", chunks=chunks).status == 201
    assert writer("POST", "/contacts", chunks=[*chunks, b" "]).status == 413


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "application/merge-patch+json",
        "text/json",
        "",
    ],
)
def test_another_content_type_is_refused(attempt: Send, content_type: str | None) -> None:
    answer = attempt(b'{"name":"x"}', content_type=content_type)
    assert answer.failure == (415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"]
)
def test_json_is_json_in_any_spelling(writer: Writer, content_type: str) -> None:
    assert writer("POST", "/contacts", {"name": "x"}, content_type=content_type).status == 201


@pytest.mark.parametrize("field", ["email", "name", "phone", "external_id"])
def test_a_megabyte_of_text_is_refused_in_no_time(writer: Writer, field: str) -> None:
    for text in ("x", " ", "a@b.", "\U0001f600"):
        body = {field: text * (1_000_000 // len(text.encode()))}
        answer = writer("POST", "/contacts", body)
        assert answer.failure == (400, "INVALID_BODY")
        assert list(answer.fields) == [field]
        assert len(answer.body) < 1_000


def test_a_wrong_token_or_scope_is_refused_before_the_body_is_looked_at(writer: Writer) -> None:
    reader = writer.desk.token("contacts:read", "channels:read", "messages:read")
    for method, path, *_ in WRITES:
        path = path.format(contact=new_id(), channel=new_id(), webhook=new_id())
        assert writer(method, path, raw=b"{", token=reader).failure == (403, "INSUFFICIENT_SCOPE")
        unknown = writer(method, path, raw=b"{", token="dwp_" + "x" * 40)
        assert unknown.failure == (401, "INVALID_TOKEN")
