"""The code holds to the tables of the specification, and to nothing beyond them."""

from typing import Any

import msgspec
import pytest

from deskwire.api.endpoint import Answers, BadId, Endpoint
from deskwire.api.parameters import QueryParser
from deskwire.api.schemas import Json, schemas_of
from deskwire.api.statuses import STATUSES
from deskwire.api.table import ENDPOINTS
from deskwire.model import limits
from deskwire.model.scopes import ALWAYS_GRANTED, SCOPES
from tests.api import specification
from tests.api.specification import Row

BUILT: dict[tuple[str, str], Endpoint] = {
    (endpoint.method, endpoint.path): endpoint for endpoint in ENDPOINTS
}
SPECIFIED = {(row.method, row.path): row for row in specification.ROWS}
_, SCHEMAS = schemas_of([endpoint.shows for endpoint in ENDPOINTS if endpoint.shows])

each_row = pytest.mark.parametrize(
    "row",
    specification.ROWS,
    ids=lambda row: f"{row.method} {row.path}",
)
each_resource = pytest.mark.parametrize("name", specification.RESOURCES)


def test_every_specified_endpoint_is_built_and_no_other() -> None:
    assert set(BUILT) == set(SPECIFIED)


def test_an_endpoint_stands_in_the_table_once() -> None:
    assert len(ENDPOINTS) == len(BUILT)


@each_row
def test_an_endpoint_needs_the_specified_scopes(row: Row) -> None:
    assert set(built(row).scopes) == set(row.scopes)


@each_row
def test_an_endpoint_takes_the_specified_query(row: Row) -> None:
    assert set(QueryParser(built(row).query).parameters) == set(row.query)


@each_row
def test_an_endpoint_answers_the_specified_data(row: Row) -> None:
    endpoint = built(row)
    suffix = {Answers.PAGE: "[] page", Answers.ARRAY: "[]"}.get(endpoint.answers, "")
    assert (endpoint.shows.__name__ + suffix if endpoint.shows else "") == row.data


@each_row
def test_an_endpoint_takes_the_specified_body(row: Row) -> None:
    body = built(row).body
    fields = msgspec.structs.fields(body) if body else ()
    named = {f"{field.name}!" if field.required else field.name for field in fields}
    assert named == set(row.body.split())


@each_row
def test_an_endpoint_succeeds_with_the_specified_status(row: Row) -> None:
    assert built(row).successes == row.success


@each_row
def test_an_endpoint_answers_nothing_exactly_where_it_shows_nothing(row: Row) -> None:
    assert (built(row).answers is Answers.NOTHING) == (row.success == (204,)) == (not row.data)


@each_row
def test_an_endpoint_has_a_noun_where_its_path_has_an_id(row: Row) -> None:
    assert bool(built(row).noun) == ("{id}" in row.path)


def test_the_scopes_are_the_specified_ones() -> None:
    assert set(SCOPES) == set(specification.GRANTS)


def test_the_scope_of_every_token_is_the_specified_one() -> None:
    assert ALWAYS_GRANTED == "workspaces:read"


@pytest.mark.parametrize("scope", specification.GRANTS)
def test_a_scope_is_needed_by_what_it_grants_and_by_nothing_else(scope: str) -> None:
    needing = {f"{endpoint.method} {endpoint.path}" for endpoint in ENDPOINTS if scope in endpoint.scopes}
    assert needing == set(specification.GRANTS[scope])


def test_the_two_tables_of_the_specification_agree() -> None:
    by_rows = {(scope, f"{row.method} {row.path}") for row in specification.ROWS for scope in row.scopes}
    by_grants = {
        (scope, endpoint) for scope, endpoints in specification.GRANTS.items() for endpoint in endpoints
    }
    assert by_rows == by_grants


def test_the_resources_are_the_specified_ones() -> None:
    assert set(SCHEMAS) - specification.NOT_SHOWN == set(specification.RESOURCES)


@each_resource
def test_a_resource_has_the_specified_keys(name: str) -> None:
    assert set(SCHEMAS[name]["properties"]) == set(specified_keys(name))


@each_resource
def test_a_resource_leaves_out_the_specified_keys_alone(name: str) -> None:
    always = {key for key, (_, may_be_absent) in specified_keys(name).items() if not may_be_absent}
    assert set(SCHEMAS[name]["required"]) == always


@each_resource
def test_the_keys_of_a_resource_have_the_specified_types(name: str) -> None:
    kinds = {key: kind_of(schema) for key, schema in SCHEMAS[name]["properties"].items()}
    # What the specification calls a string may be a UUID.
    agreed = {
        key: "string" if (kinds[key], kind) == ("uuid", "string") else kinds[key]
        for key, (kind, _) in specified_keys(name).items()
    }
    assert agreed == {key: kind for key, (kind, _) in specified_keys(name).items()}


def test_every_enumeration_has_the_specified_words() -> None:
    built = {
        f"{name}.{key}": set(value["enum"])
        for name, schema in SCHEMAS.items()
        if name not in specification.NOT_SHOWN
        for key, value in schema["properties"].items()
        if "enum" in value
    }
    assert built == {
        key: {word.strip("'") for word in words.split()} for key, words in specification.ENUMERATIONS.items()
    }


def test_a_malformed_id_is_invalid_input_where_specified_alone() -> None:
    paths = {endpoint.path for endpoint in ENDPOINTS if endpoint.bad_id is BadId.INVALID_INPUT}
    assert paths == specification.INVALID_INPUT_PATHS


@pytest.mark.parametrize(("code", "status"), specification.STATUSES.items())
def test_a_code_has_the_specified_status(code: Any, status: int) -> None:
    assert STATUSES[code] == status


@pytest.mark.parametrize(("name", "value"), specification.LIMITS.items())
def test_a_limit_is_the_specified_one(name: str, value: int) -> None:
    assert getattr(limits, name) == value


def test_every_limit_parameter_has_the_specified_bounds() -> None:
    found = [
        QueryParser(endpoint.query).parameters["limit"].schema
        for endpoint in ENDPOINTS
        if "limit" in endpoint.query.__struct_fields__
    ]
    assert found
    assert all((one["minimum"], one["maximum"], one["default"]) == (1, 100, 50) for one in found)


def test_every_cursor_lives_a_day_except_that_of_messages() -> None:
    walked = [endpoint for endpoint in ENDPOINTS if "cursor" in endpoint.query.__struct_fields__]
    lasting = {endpoint.path for endpoint in walked if endpoint.cursor_lifetime_us is None}
    assert lasting == specification.LASTING_CURSORS
    assert {endpoint.cursor_lifetime_us for endpoint in walked} == {None, limits.CURSOR_LIFETIME_US}


def built(row: Row) -> Endpoint:
    return BUILT[row.method, row.path]


def specified_keys(name: str) -> dict[str, tuple[str, bool]]:
    """Each key with its type, and whether it may be absent."""
    pairs = (pair.split(":") for pair in specification.RESOURCES[name].split())
    return {key.rstrip("?"): (kind, key.endswith("?")) for key, kind in pairs}


def kind_of(schema: Json) -> str:
    """A schema in the words in which the specification is copied."""
    match schema:
        case {"$ref": str(path)}:
            return path.rpartition("/")[2]
        case {"anyOf": list(options)}:
            return "|".join(kind_of(option) for option in options)
        case {"enum": _}:
            return "enum"
        case {"type": "array", "items": items}:
            return f"{kind_of(items)}[]"
        case {"format": "date-time"}:
            return "time"
        case {"format": str(form)}:
            return form
        case _:
            return str(schema["type"])
