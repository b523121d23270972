"""What a token may do: scopes, each and in pairs, and no scope that another one implies."""

import pytest

from deskwire.api.endpoint import Endpoint
from deskwire.api.table import READS
from deskwire.model.scopes import SCOPES
from tests.api import specification
from tests.api.desk import Desk
from tests.api.filled import Filled, path_with, query_of

SPECIFIED = {row.path: set(row.scopes) for row in specification.ROWS if row.method == "GET"}
GUARDED = [(endpoint, scope) for endpoint in READS for scope in endpoint.scopes if scope != "workspaces:read"]
NO_UUID = "not-a-uuid"


@pytest.mark.parametrize("endpoint", READS, ids=lambda endpoint: endpoint.path)
def test_the_scopes_of_a_route_suffice_for_it(filled: Filled, endpoint: Endpoint) -> None:
    assert filled.get(endpoint, token=filled.desk.token(*endpoint.scopes)).status == 200


@pytest.mark.parametrize(("endpoint", "scope"), GUARDED, ids=lambda each: getattr(each, "path", each))
def test_a_route_is_refused_without_any_one_of_its_scopes(
    filled: Filled, endpoint: Endpoint, scope: str
) -> None:
    token = filled.desk.token(*(SCOPES.keys() - {scope}))
    answer = filled.get(endpoint, token=token)
    assert answer.failure == (403, "INSUFFICIENT_SCOPE")
    assert scope in answer.json["error"]["message"]
    assert "details" not in answer.json["error"]


@pytest.mark.parametrize("scope", SCOPES)
def test_a_scope_alone_opens_what_it_is_the_only_one_for(filled: Filled, scope: str) -> None:
    token = filled.desk.token(scope)
    opened = {e.path for e in READS if filled.get(e, token=token).status == 200}
    assert opened == {path for path, scopes in SPECIFIED.items() if scopes <= {scope, "workspaces:read"}}


def test_write_scopes_imply_no_read(filled: Filled) -> None:
    token = filled.desk.token(*(scope for scope in SCOPES if scope.endswith(":write")))
    opened = {e.path for e in READS if filled.get(e, token=token).status == 200}
    assert opened == {"/workspace"}


def test_every_token_may_read_its_workspace(desk: Desk) -> None:
    assert desk.get("/workspace", token=desk.token()).status == 200


@pytest.mark.parametrize("endpoint", [e for e in READS if e.noun], ids=lambda endpoint: endpoint.path)
def test_without_the_scope_neither_ids_nor_parameters_are_judged(desk: Desk, endpoint: Endpoint) -> None:
    answer = desk.get(path_with(endpoint, NO_UUID), "limit=x&since=x", token=desk.token())
    assert answer.failure == (403, "INSUFFICIENT_SCOPE")


@pytest.mark.parametrize("endpoint", READS, ids=lambda endpoint: endpoint.path)
def test_head_needs_the_same_scopes(filled: Filled, endpoint: Endpoint) -> None:
    path = filled.path(endpoint)
    answer = filled.desk.get(path, query_of(endpoint), method="HEAD", token=filled.desk.token())
    assert answer.status == (200 if endpoint.path == "/workspace" else 403)
