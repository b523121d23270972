"""Requests made up from the OpenAPI document: none breaks the service, every answer is as documented."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import settings
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance
from starlette.types import Receive, Scope, Send

from deskwire.api.openapi import document
from deskwire.api.schemas import Json
from deskwire.api.table import ENDPOINTS
from tests.api.example_desk import BASE_URL, VERSION, ExampleDesk

DESKS: list[ExampleDesk] = []


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """The document is read before there is a desk, so it is told of an application that finds one."""
    assert scope["type"] == "http"
    await DESKS[-1].app(scope, receive, send)


def schema_of(described: Json) -> schemathesis.BaseSchema:
    schema = schemathesis.openapi.from_dict(described)
    schema.app = app
    return schema


SCHEMA = schema_of(document(ENDPOINTS, BASE_URL, VERSION))
# A text that fits the schema of a cursor need not be a cursor, nor need two moments be at most 30 days apart.
# A parameter that is not known is ignored, as the contract of the API says.
TOO_STRICT: list[schemathesis.CheckFunction] = [positive_data_acceptance, negative_data_rejection]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExampleDesk]:
    found = ExampleDesk(tmp_path_factory.mktemp("desk"))
    DESKS.append(found)
    yield found
    DESKS.remove(found)
    found.close()


@SCHEMA.parametrize()
@settings(max_examples=40, deadline=None, derandomize=True)
def test_every_answer_is_as_documented(case: schemathesis.Case[Any], desk: ExampleDesk) -> None:
    headers = {"Authorization": f"Bearer {desk.token}"}
    case.call_and_validate(headers=headers, excluded_checks=TOO_STRICT)


def test_an_answer_that_is_not_as_documented_is_found(desk: ExampleDesk) -> None:
    wrong = document(ENDPOINTS, BASE_URL, VERSION)
    wrong["components"]["schemas"]["Workspace"]["required"].append("unheard_of")
    case = schema_of(wrong)["/workspace"]["GET"].Case()
    with pytest.raises(FailureGroup, match="unheard_of"):
        case.call_and_validate(headers={"Authorization": f"Bearer {desk.token}"})
