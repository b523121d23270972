"""From a method and a path to a row of the table."""

from collections.abc import Iterable
from typing import NamedTuple

from deskwire.api.endpoint import Endpoint
from deskwire.model.errors import DeskError

PREFIX = "/api/public/v1"

Methods = dict[str, Endpoint]


class Route(NamedTuple):
    endpoint: Endpoint
    id: str


class MethodNotAllowed(DeskError):
    def __init__(self, methods: Iterable[str]) -> None:
        super().__init__("METHOD_NOT_ALLOWED", "This path has no such method.")
        allowed = set(methods)
        self.allow = ", ".join(sorted(allowed | {"HEAD"} if "GET" in allowed else allowed))


class Routes:
    """Every path is fixed, or has one id as its second segment."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._fixed: dict[str, Methods] = {}
        self._with_id: dict[tuple[str, str], Methods] = {}
        for endpoint in endpoints:
            self._methods_of(endpoint.path)[endpoint.method] = endpoint

    def find(self, method: str, path: str) -> Route:
        """The path is that of the request, with the prefix of the API."""
        path = path[len(PREFIX) :]
        methods, id = self._fixed.get(path), ""
        if methods is None:
            first, _, tail = path[1:].partition("/")
            id, slash, rest = tail.partition("/")
            methods = self._with_id.get((first, slash + rest)) if id else None
        if methods is None:
            raise DeskError("NOT_FOUND", "There is no such path; the reference is at /docs.")
        endpoint = methods.get("GET" if method == "HEAD" else method)
        if endpoint is None:
            raise MethodNotAllowed(methods)
        return Route(endpoint, id)

    def _methods_of(self, path: str) -> Methods:
        if "{id}" not in path:
            return self._fixed.setdefault(path, {})
        first, _, tail = path[1:].partition("/")
        return self._with_id.setdefault((first, tail.removeprefix("{id}")), {})
