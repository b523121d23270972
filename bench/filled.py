"""A desk that is filled and serves: what the cases ask of it."""

import http.client
import json
from typing import Any

from bench.load import HOST, Request
from bench.programs import ProgramFailed, Server
from bench.records import Size

PREFIX = "/api/public/v1"
TIMEOUT_S = 30


class FilledDesk:
    def __init__(self, server: Server, token: str, size: Size) -> None:
        self.server = server
        self.token = token
        self.size = size

    def ask(self, request: Request) -> bytes:
        connection = http.client.HTTPConnection(HOST, self.server.port, timeout=TIMEOUT_S)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        try:
            connection.request(request.method, request.path, request.body or None, headers)
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        if answer.status >= 300:
            raise ProgramFailed(f"{request.path} was answered with {answer.status}: {body.decode()}")
        return body

    def next_cursor(self, path: str, cursor: str | None) -> str:
        """That of a page of a list; the path has a query."""
        more = "" if cursor is None else f"&cursor={cursor}"
        page: Any = json.loads(self.ask(get(f"{path}{more}")))
        return str(page["meta"]["next_cursor"])


def get(path: str) -> Request:
    return Request(PREFIX + path)


def post(path: str, **body: str | list[str]) -> Request:
    return Request(PREFIX + path, "POST", json.dumps(body).encode())


def delete(path: str) -> Request:
    return Request(PREFIX + path, "DELETE")
