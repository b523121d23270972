"""The OpenAPI 3.1 document, derived from the API's table."""

from collections.abc import Sequence

from deskwire.api.bodies import Body
from deskwire.api.components import (
    REQUEST_ID,
    SECURITY,
    failure_response,
    header_references,
    headers,
    idempotency_key_parameter,
    request_id_parameter,
    security_scheme,
)
from deskwire.api.deliveries import SIGNED, signature_scheme, timestamp_parameter, webhooks
from deskwire.api.endpoint import Answers, Endpoint
from deskwire.api.envelope import FailureEnvelope
from deskwire.api.examples import CURSOR, IDS, answer_of, body_of, parameters_of
from deskwire.api.failures import EVERYWHERE, answered, codes_of, failure_of
from deskwire.api.failures import EXAMPLES as FAILURES
from deskwire.api.idempotency_key import IDEMPOTENCY_KEY
from deskwire.api.introduction import as_markdown, introduction
from deskwire.api.operation_ids import operation_id
from deskwire.api.parameters import Parameter, QueryParser
from deskwire.api.schemas import ONLY_PAGE, SUCCESS, Json, body_schema, page_meta, reference, schemas_of
from deskwire.api.statuses import STATUSES
from deskwire.api.subjects import SUBJECTS, subject_of
from deskwire.model.errors import Code
from deskwire.model.received_events import EVENTS
from deskwire.model.signatures import TIMESTAMP_HEADER

FOUND = "It was there already, made by the first request."


def document(endpoints: Sequence[Endpoint], base_url: str, version: str) -> Json:
    """The whole API; the base URL ends with the prefix of its paths."""
    codes = answered(endpoints)
    shown = (one.shows for one in endpoints if one.shows)
    schemas, named = schemas_of([FailureEnvelope, *shown, *EVENTS])
    paths: dict[str, Json] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation(endpoint, schemas)
    used = {subject_of(endpoint.path) for endpoint in endpoints}
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "Deskwire public API",
            "version": version,
            "summary": "Customer-support conversations of one workspace, as JSON over HTTP.",
            "description": as_markdown(introduction(base_url, codes)),
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": base_url}],
        "tags": [
            {"name": subject.name, "description": subject.description}
            for subject in SUBJECTS
            if subject in used
        ],
        "paths": paths,
        "webhooks": webhooks(),
        "components": {
            "securitySchemes": {SECURITY: security_scheme(), SIGNED: signature_scheme()},
            "parameters": {
                REQUEST_ID: request_id_parameter(),
                IDEMPOTENCY_KEY: idempotency_key_parameter(),
                TIMESTAMP_HEADER: timestamp_parameter(),
            },
            "headers": headers(),
            "responses": {code: failure_response([FAILURES[code]]) for code in shared(codes)},
            "schemas": named | {"PageMeta": page_meta(CURSOR), "OnlyPage": ONLY_PAGE},
        },
    }


def operation(endpoint: Endpoint, schemas: dict[type, Json]) -> Json:
    return {
        "operationId": operation_id(endpoint),
        "tags": [subject_of(endpoint.path).name],
        "summary": endpoint.summary,
        "description": f"{endpoint.description}\n\n{scope_sentence(endpoint)}".strip(),
        "security": [{SECURITY: list(endpoint.scopes)}],
        "x-required-scopes": list(endpoint.scopes),
        "parameters": parameters(endpoint),
        **({"requestBody": request_body(endpoint.body)} if endpoint.body is not None else {}),
        "responses": {
            **{str(status): success(endpoint, status, schemas) for status in endpoint.successes},
            **failures(endpoint),
        },
    }


def scope_sentence(endpoint: Endpoint) -> str:
    scopes = " and ".join(f"`{scope}`" for scope in endpoint.scopes)
    return f"Needs the scope{'s' if len(endpoint.scopes) > 1 else ''} {scopes}."


def parameters(endpoint: Endpoint) -> list[Json]:
    found: list[Json] = []
    if endpoint.noun:
        found.append(
            {
                "name": "id",
                "in": "path",
                "required": True,
                "description": f"The id of the {endpoint.noun}.",
                "schema": {"type": "string", "format": "uuid"},
                "example": IDS[endpoint.noun],
            }
        )
    parser, examples = QueryParser(endpoint.query), parameters_of(endpoint.query)
    for name, parameter in sorted(parser.parameters.items(), key=lambda one: one[0] not in parser.required):
        found.append(
            {
                "name": name,
                "in": "query",
                "required": name in parser.required,
                "description": parameter.description,
                **values_of(parameter),
                **({"example": examples[name]} if name in examples else {}),
            }
        )
    shared_headers = (*((IDEMPOTENCY_KEY,) if endpoint.is_idempotent else ()), REQUEST_ID)
    return [*found, *({"$ref": f"#/components/parameters/{name}"} for name in shared_headers)]


def values_of(parameter: Parameter) -> Json:
    if not parameter.is_repeated:
        return {"schema": parameter.schema}
    return {"style": "form", "explode": True, "schema": array(parameter.schema) | {"minItems": 1}}


def request_body(body: type[Body]) -> Json:
    return {
        "required": True,
        "content": {"application/json": {"schema": body_schema(body), "example": body_of(body)}},
    }


def success(endpoint: Endpoint, status: int, schemas: dict[type, Json]) -> Json:
    if endpoint.shows is None:
        return {"description": "It is done; there is no body.", "headers": header_references()}
    shape, example = enveloped(endpoint, schemas[endpoint.shows], answer_of(endpoint, status))
    return {
        "description": FOUND if status == 200 and endpoint.may_find else endpoint.summary,
        "headers": header_references(),
        "content": {"application/json": {"schema": shape, "example": example}},
    }


def enveloped(endpoint: Endpoint, schema: Json, one: Json) -> tuple[Json, Json]:
    """The schema of a success, and an example of it."""
    match endpoint.answers:
        case Answers.OBJECT | Answers.KEPT_ATTACHMENT:
            return envelope_schema(data=schema), {"success": True, "data": one}
        case Answers.ARRAY:
            return envelope_schema(data=array(schema)), {"success": True, "data": [one]}
        case Answers.PAGE:
            walked = "cursor" in endpoint.query.__struct_fields__
            meta = {"has_more": True, "next_cursor": CURSOR} if walked else {"has_more": False}
            shape = envelope_schema(data=array(schema), meta=reference("PageMeta" if walked else "OnlyPage"))
            return shape, {"success": True, "data": [one], "meta": meta}
        case Answers.NOTHING:
            raise LookupError(f"{endpoint.path} shows something, though it answers nothing")


def envelope_schema(**properties: Json) -> Json:
    return {
        "type": "object",
        "properties": {"success": SUCCESS, **properties},
        "required": ["success", *properties],
    }


def array(schema: Json) -> Json:
    return {"type": "array", "items": schema}


def failures(endpoint: Endpoint) -> Json:
    """The failures by status; what every operation answers alike stands once, in the components."""
    by_status: dict[int, list[Code]] = {}
    for code in codes_of(endpoint):
        by_status.setdefault(STATUSES[code], []).append(code)
    return {
        str(status): (
            {"$ref": f"#/components/responses/{codes[0]}"}
            if set(codes) <= set(EVERYWHERE)
            else failure_response([failure_of(endpoint, code) for code in codes])
        )
        for status, codes in by_status.items()
    }


def shared(codes: list[Code]) -> list[Code]:
    """What is answered alike everywhere; a method that a path lacks belongs to no operation."""
    return [code for code in codes if code in (*EVERYWHERE, "METHOD_NOT_ALLOWED")]
