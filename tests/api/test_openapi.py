"""The OpenAPI document: valid, complete, and true of what the API answers."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlencode

import jsonschema_rs
import msgspec
import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR

from deskwire.api.endpoint import Answers, Endpoint
from deskwire.api.envelope import FailureEnvelope
from deskwire.api.examples import EXAMPLES, IDS, SHOWN, body_of, parameters_of
from deskwire.api.failures import WHEN, codes_of
from deskwire.api.openapi import document
from deskwire.api.operation_ids import operation_id
from deskwire.api.schemas import Json
from deskwire.api.statuses import STATUSES
from deskwire.api.subjects import SUBJECTS, subject_of
from deskwire.api.table import ENDPOINTS
from deskwire.model.errors import Code
from deskwire.model.event_examples import BODIES
from deskwire.model.events import EventKind
from deskwire.model.example_records import MEMBER
from deskwire.model.limits import CHANNEL_TAGS, CONTACT_TAGS, MAX_BODY_BYTES
from deskwire.model.moments import decode_moment
from deskwire.model.received_events import read_event, write_event
from tests.api.example_desk import BASE_URL, VERSION, Answer, ExampleDesk

DOCUMENT = document(ENDPOINTS, BASE_URL, VERSION)
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"

each_endpoint = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda one: f"{one.method} {one.path}")


@pytest.fixture(scope="module")
def standing_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExampleDesk]:
    found = ExampleDesk(tmp_path_factory.mktemp("desk"))
    yield found
    found.close()


@pytest.fixture
def desk(request: pytest.FixtureRequest, standing_desk: ExampleDesk, tmp_path: Path) -> Iterator[ExampleDesk]:
    """For what writes a desk of its own, in which the examples of the documentation are still true."""
    endpoint = getattr(request.node, "callspec", None) and request.node.callspec.params.get("endpoint")
    if endpoint is None or not endpoint.is_write:
        yield standing_desk
        return
    found = ExampleDesk(tmp_path)
    yield found
    found.close()


def test_the_document_is_valid_openapi_3_1() -> None:
    assert DOCUMENT["openapi"].startswith("3.1.")
    OPENAPI_31_VALIDATOR.validate(DOCUMENT)


def test_a_document_that_breaks_openapi_3_1_is_found() -> None:
    broken = DOCUMENT | {"info": {"title": "Without a version"}}
    assert not OPENAPI_31_VALIDATOR.is_valid(broken)


def test_every_schema_in_the_document_is_a_valid_json_schema() -> None:
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema_rs.meta.validate(schema | {"$schema": "https://json-schema.org/draft/2020-12/schema"})


def test_every_reference_leads_somewhere() -> None:
    references = [part["$ref"] for part in parts(DOCUMENT) if "$ref" in part]
    assert references
    for path in references:
        assert resolved({"$ref": path})


def test_the_document_and_the_table_have_the_same_operations() -> None:
    documented = [(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods]
    assert sorted(documented) == sorted((endpoint.method, endpoint.path) for endpoint in ENDPOINTS)


def test_the_version_and_the_address_are_those_given() -> None:
    assert DOCUMENT["info"]["version"] == VERSION
    assert DOCUMENT["servers"] == [{"url": BASE_URL}]


def test_operation_ids_are_distinct_names() -> None:
    names = [operation_id(endpoint) for endpoint in ENDPOINTS]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() for name in names)


@pytest.mark.parametrize(
    ("method", "path", "answers", "name"),
    [
        ("GET", "/contacts", Answers.PAGE, "listContacts"),
        ("GET", "/contacts/{id}", Answers.OBJECT, "getContact"),
        ("GET", "/contacts/{id}/tags", Answers.ARRAY, "listTagsOfContact"),
        ("GET", "/contact-tags", Answers.PAGE, "listContactTags"),
        ("GET", "/attachments/{id}", Answers.KEPT_ATTACHMENT, "getAttachment"),
        ("GET", "/voice/calls", Answers.PAGE, "listVoiceCalls"),
        ("GET", "/search", Answers.ARRAY, "search"),
        ("GET", "/hours", Answers.OBJECT, "getHours"),
        ("POST", "/contacts", Answers.OBJECT, "createContact"),
        ("PATCH", "/contacts/{id}", Answers.OBJECT, "updateContact"),
        ("POST", "/channels/{id}/close", Answers.OBJECT, "closeChannel"),
        ("POST", "/channels/{id}/tags", Answers.OBJECT, "createTagOfChannel"),
        ("PUT", "/contacts/{id}/sms-consent", Answers.OBJECT, "setSmsConsentOfContact"),
        ("DELETE", "/outbound-webhooks/{id}", Answers.OBJECT, "deleteOutboundWebhook"),
        ("POST", "/outbound-webhooks/{id}/toggle", Answers.OBJECT, "toggleOutboundWebhook"),
    ],
)
def test_an_operation_is_named_for_what_it_does(method: Any, path: str, answers: Answers, name: str) -> None:
    assert operation_id(replace(ENDPOINTS[0], method=method, path=path, answers=answers)) == name


@each_endpoint
def test_an_operation_shows_the_scopes_that_it_needs(endpoint: Endpoint) -> None:
    operation = operation_of(endpoint)
    assert operation["security"] == [{"accessToken": list(endpoint.scopes)}]
    assert operation["x-required-scopes"] == list(endpoint.scopes)
    assert all(f"`{scope}`" in operation["description"] for scope in endpoint.scopes)


@each_endpoint
def test_an_operation_describes_every_parameter(endpoint: Endpoint) -> None:
    found = [resolved(one) for one in operation_of(endpoint)["parameters"]]
    for one in found:
        if "example" in one:
            validator(one["schema"]).validate(one["example"])
    by_place = {
        place: [one["name"] for one in found if one["in"] == place] for place in ("path", "query", "header")
    }
    assert by_place["path"] == (["id"] if "{id}" in endpoint.path else [])
    assert sorted(by_place["query"]) == sorted(endpoint.query.__struct_fields__)
    assert by_place["header"] == [*(["Idempotency-Key"] if endpoint.is_idempotent else []), "X-Request-ID"]
    assert all(one["description"].endswith(".") for one in found)
    assert all(one["schema"]["type"] for one in found)


@each_endpoint
def test_an_operation_describes_the_body_that_it_takes(endpoint: Endpoint) -> None:
    operation = operation_of(endpoint)
    assert ("requestBody" in operation) == (endpoint.body is not None)
    if endpoint.body is None:
        return
    described: Json = operation["requestBody"]
    content = content_of(described)
    assert described["required"] is True
    assert content["schema"]["additionalProperties"] is False
    assert set(content["schema"]["properties"]) == set(endpoint.body.__struct_fields__)
    validator(content["schema"]).validate(content["example"])
    assert not validator(content["schema"]).is_valid(content["example"] | {"unheard_of": 1})


def test_the_body_of_channel_tags_needs_one_of_its_lists() -> None:
    schema = content_of(DOCUMENT["paths"]["/channels/{id}/tags"]["post"]["requestBody"])["schema"]
    acting = {"actor_member_id": UNKNOWN_ID}
    assert validator(schema).is_valid(acting | {"tags": ["a"]})
    assert validator(schema).is_valid(acting | {"tags": [], "tag_ids": [UNKNOWN_ID]})
    assert not validator(schema).is_valid(acting)
    assert not validator(schema).is_valid(acting | {"tags": []})


@each_endpoint
def test_the_successes_are_those_of_the_row(endpoint: Endpoint) -> None:
    responses = operation_of(endpoint)["responses"]
    assert [int(status) for status in responses if status < "300"] == list(endpoint.successes)
    assert ("content" in responses[str(endpoint.status)]) == (endpoint.answers is not Answers.NOTHING)


@each_endpoint
def test_every_answer_carries_the_request_id(endpoint: Endpoint) -> None:
    for response in operation_of(endpoint)["responses"].values():
        assert "X-Request-ID" in resolved(response)["headers"]


@each_endpoint
def test_every_code_that_a_row_can_answer_is_documented_under_its_status(endpoint: Endpoint) -> None:
    documented = {
        (int(status), code)
        for status, response in operation_of(endpoint)["responses"].items()
        if int(status) >= 400
        for code in content_of(response)["examples"]
    }
    assert documented == {(STATUSES[code], code) for code in codes_of(endpoint)}


@each_endpoint
def test_every_example_of_an_answer_fits_its_schema(endpoint: Endpoint) -> None:
    for status, response in operation_of(endpoint)["responses"].items():
        if status == "204":
            continue
        content = content_of(response)
        shown = [one["value"] for one in content.get("examples", {}).values()]
        for example in [*shown, *([content["example"]] if "example" in content else [])]:
            validator(content["schema"]).validate(example)


@pytest.mark.parametrize("name", DOCUMENT["components"]["schemas"])
def test_every_schema_has_examples_that_fit_it(name: str) -> None:
    schema = DOCUMENT["components"]["schemas"][name]
    for example in schema["examples"]:
        validator(schema).validate(example)


@pytest.mark.parametrize("shown", SHOWN, ids=lambda one: type(one).__name__)
def test_an_example_reads_back_as_what_it_was(shown: msgspec.Struct) -> None:
    again = msgspec.convert(EXAMPLES[type(shown)], type(shown), dec_hook=decode_moment)
    assert msgspec.structs.asdict(again) == msgspec.structs.asdict(shown)


def test_a_page_that_ends_must_not_have_a_next_cursor() -> None:
    meta = validator({"$ref": "#/components/schemas/PageMeta"})
    assert meta.is_valid({"has_more": False})
    assert meta.is_valid({"has_more": True, "next_cursor": "x"})
    assert not meta.is_valid({"has_more": True})
    assert not meta.is_valid({"has_more": False, "next_cursor": "x"})


def test_null_is_allowed_for_business_hours_and_for_nobody_assigned_alone() -> None:
    schemas = DOCUMENT["components"]["schemas"].items()
    allowing = [
        (name, key)
        for name, schema in schemas
        for key, value in schema.get("properties", {}).items()
        if value is not False and any(part.get("type") == "null" for part in parts(value))
    ]
    assert sorted(allowing) == [
        ("BusinessHours", "business_hours"),
        *((f"{name}Event", "assigned_member") for name in ("Channel", "Contact", "Message")),
    ]


def test_every_kind_of_event_has_a_delivery() -> None:
    assert set(DOCUMENT["webhooks"]) == set(get_args(EventKind)) == set(BODIES)
    names = [delivery["post"]["operationId"] for delivery in DOCUMENT["webhooks"].values()]
    assert len(set(names)) == len(names) and all(name.isidentifier() for name in names)


@pytest.mark.parametrize("kind", DOCUMENT["webhooks"])
def test_the_example_of_a_delivery_fits_its_schema_and_no_other_kind_does(kind: EventKind) -> None:
    content = content_of(DOCUMENT["webhooks"][kind]["post"]["requestBody"])
    assert content["example"] == msgspec.json.decode(BODIES[kind])
    validator(content["schema"]).validate(content["example"])
    for other in BODIES.keys() - {kind}:
        assert not validator(content["schema"]).is_valid(msgspec.json.decode(BODIES[other]))


@pytest.mark.parametrize("kind", DOCUMENT["webhooks"])
def test_the_example_of_a_delivery_reads_back_as_what_it_was(kind: EventKind) -> None:
    assert write_event(read_event(BODIES[kind])) == BODIES[kind]


def test_a_delivery_is_secured_by_its_signature() -> None:
    schemes = DOCUMENT["components"]["securitySchemes"]
    for delivery in DOCUMENT["webhooks"].values():
        [(name, scopes)] = delivery["post"]["security"][0].items()
        assert (schemes[name]["name"], scopes) == ("X-Webhook-Signature", [])
        assert [resolved(one)["name"] for one in delivery["post"]["parameters"]] == ["X-Webhook-Timestamp"]


def test_every_code_has_a_sentence_and_a_status() -> None:
    assert set(WHEN) == set(STATUSES) == set(get_args(Code))


def test_a_path_without_a_subject_is_refused() -> None:
    with pytest.raises(LookupError, match="/unheard-of belongs to no subject"):
        subject_of("/unheard-of")


def test_a_path_belongs_to_the_subject_that_names_most_of_it() -> None:
    assert subject_of("/channels/{id}/messages").name == "Messages"
    assert subject_of("/channels/{id}/close").name == "Channels"
    assert subject_of("/contact-tags").name == "Contacts"
    assert len({subject.name for subject in SUBJECTS}) == len(SUBJECTS)


@each_endpoint
def test_the_example_of_a_success_is_what_the_api_answers(desk: ExampleDesk, endpoint: Endpoint) -> None:
    answer = tried(desk, endpoint)
    assert answer.status == endpoint.status
    if answer.body is None:
        assert endpoint.answers is Answers.NOTHING
        return
    documented = content_of(operation_of(endpoint)["responses"][str(answer.status)])
    validator(documented["schema"]).validate(answer.body)
    shown, example = answer.body["data"], documented["example"]["data"]
    if isinstance(example, list):
        assert example[0] in shown
    else:
        # What signs a link is a secret, and what is made has a new id.
        new = {"secret", "id" if answer.status == 201 else "", "url" if "url_expires_at" in shown else ""}
        assert [part for part in shown.items() if part[0] not in new] == [
            part for part in example.items() if part[0] not in new
        ]


@pytest.mark.parametrize("endpoint", [one for one in ENDPOINTS if one.may_find], ids=lambda one: one.path)
def test_what_is_sent_again_is_answered_as_documented(desk: ExampleDesk, endpoint: Endpoint) -> None:
    made, found = tried(desk, endpoint), tried(desk, endpoint)
    assert (made.status, found.status) == (endpoint.status, 200)
    example = content_of(operation_of(endpoint)["responses"]["200"])["example"]["data"]
    assert found.body["data"] | {"id": ""} == example | {"id": ""}
    assert found.body["data"]["id"] == made.body["data"]["id"]


@each_endpoint
def test_the_examples_of_failures_are_what_the_api_answers(desk: ExampleDesk, endpoint: Endpoint) -> None:
    for code in codes_of(endpoint):
        answer = failed(desk, endpoint, code)
        if answer is None:
            continue
        response = operation_of(endpoint)["responses"][str(STATUSES[code])]
        assert answer.status == STATUSES[code]
        assert answer.body == content_of(response)["examples"][code]["value"]
        assert headers_of(response) <= {name.lower() for name in answer.headers}


def test_a_method_that_a_path_lacks_is_answered_as_documented(desk: ExampleDesk) -> None:
    response = DOCUMENT["components"]["responses"]["METHOD_NOT_ALLOWED"]
    answer = desk.ask("/workspace", method="DELETE")
    assert answer.status == 405
    assert answer.body == content_of(response)["examples"]["METHOD_NOT_ALLOWED"]["value"]
    assert headers_of(response) <= {name.lower() for name in answer.headers}


def test_the_failure_envelope_is_the_one_schema_of_every_failure() -> None:
    for endpoint in ENDPOINTS:
        for status, response in operation_of(endpoint)["responses"].items():
            if status >= "300":
                assert content_of(response)["schema"]["$ref"].endswith(f"/{FailureEnvelope.__name__}")


def tried(desk: ExampleDesk, endpoint: Endpoint) -> Answer:
    """The endpoint with the examples of its parameters."""
    return desk.ask(path_of(endpoint), query_of(endpoint), method=endpoint.method, body=body_bytes(endpoint))


def failed(desk: ExampleDesk, endpoint: Endpoint, code: Code) -> Answer | None:
    """The answer to a request that must fail with the code; None where none can be made to."""
    path, query, body = path_of(endpoint), query_of(endpoint), body_bytes(endpoint)
    ask = partial(desk.ask, method=endpoint.method)
    match code:
        case "INVALID_TOKEN":
            return ask(path, query, body=body, token=f"dwp_{'x' * 40}")
        case "INSUFFICIENT_SCOPE":
            return ask(path, query, body=body, token=desk.narrow_token)
        case "INVALID_QUERY":
            return ask(path, "limit=0", body=body)
        case "INVALID_INPUT":
            return ask(endpoint.path.replace("{id}", "17"), query, body=body)
        case "NOT_FOUND":
            return ask(endpoint.path.replace("{id}", UNKNOWN_ID), query, body=body)
        case "INVALID_BODY":
            assert endpoint.body_read is not None
            needs_some = any(field.required for field in msgspec.structs.fields(endpoint.body_read))
            return ask(path, query, body=b"{}" if needs_some else b'{"name":17}')
        case "UNSUPPORTED_MEDIA_TYPE":
            return ask(path, query, body=body or b"{}", content_type="text/plain")
        case "PAYLOAD_TOO_LARGE":
            return ask(path, query, body=body.ljust(MAX_BODY_BYTES + 1))
        case "FORBIDDEN":
            return ask(
                path,
                query.replace(MEMBER.id, UNKNOWN_ID),
                body=body.replace(MEMBER.id.encode(), UNKNOWN_ID.encode()),
            )
        case "TAG_LIMIT_EXCEEDED":
            example = msgspec.json.decode(body)
            there, most = len(example["tags"]), CONTACT_TAGS if endpoint.noun == "contact" else CHANNEL_TAGS
            return ask(
                path, body=msgspec.json.encode(example | {"tags": [str(n) for n in range(most + 1 - there)]})
            )
        case "CONFLICT" if code in endpoint.errors:
            tried(desk, endpoint)
            return tried(desk, endpoint)
        case _:
            return None


def query_of(endpoint: Endpoint) -> str:
    return urlencode(parameters_of(endpoint.query), doseq=True)


def body_bytes(endpoint: Endpoint) -> bytes:
    return b"" if endpoint.body is None else msgspec.json.encode(body_of(endpoint.body))


def path_of(endpoint: Endpoint) -> str:
    return endpoint.path.replace("{id}", IDS.get(endpoint.noun, ""))


def operation_of(endpoint: Endpoint) -> Json:
    operation: Json = DOCUMENT["paths"][endpoint.path][endpoint.method.lower()]
    return operation


def content_of(response: Json) -> Json:
    content: Json = resolved(response)["content"]["application/json"]
    return content


def headers_of(response: Json) -> set[str]:
    return {name.lower() for name in resolved(response)["headers"]}


def resolved(part: Json) -> Json:
    if "$ref" not in part:
        return part
    found = DOCUMENT
    for key in part["$ref"].removeprefix("#/").split("/"):
        found = found[key]
    return found


def validator(schema: Json) -> jsonschema_rs.Draft202012Validator:
    whole = schema | {"components": DOCUMENT["components"]}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


def parts(value: object) -> Iterator[Json]:
    """Every object in a document."""
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from parts(part)
    elif isinstance(value, list):
        for part in value:
            yield from parts(part)
