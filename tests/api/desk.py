"""A house to send requests to, and a desk in it: a workspace of its own, with tokens and records."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from starlette.types import ASGIApp

from deskwire.api import site
from deskwire.api.app import Api
from deskwire.api.authentication import Authentication
from deskwire.api.downloads import Downloads
from deskwire.api.routes import PREFIX
from deskwire.api.table import ENDPOINTS
from deskwire.delivery.resolving import ResolutionFailed
from deskwire.desk.importing import import_file
from deskwire.desk.sealing import Seal
from deskwire.desk.tokens import NewToken, create_token
from deskwire.desk.workspaces import create_workspace
from deskwire.model.addresses import Address
from deskwire.model.scopes import SCOPES
from deskwire.model.tokens import Token
from deskwire.store.attachments import Files
from deskwire.wiring.receivers import PublicReceivers
from tests.api.client import Answer, Header, QueryText, send, target_of
from tests.api.records import JsonRecord, record
from tests.engines import AnyStore, Run, SetClock

BASE_URL = "https://desk.example.com"
CURSOR_KEY, DOWNLOAD_KEY, SEAL_KEY = b"c" * 32, b"d" * 32, b"s" * 32


async def unknown_name(host: str) -> Sequence[Address]:
    """No test asks a name server."""
    raise ResolutionFailed("there is no such name")


RECEIVERS = PublicReceivers((), unknown_name)


class Observed:
    """The observer of every request; the last ones stay to be looked at."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, int, Token | None]] = []

    def answered(
        self, method: str, route: str, status: int, seconds: float, request_id: str, token: Token | None
    ) -> None:
        assert seconds >= 0
        assert request_id
        self.seen.append((method, route, status, token))


class Steady:
    """A clock that no one sets back, for what is remembered for a moment."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class House:
    """The whole application on one database."""

    store: AnyStore
    files: Files
    clock: SetClock
    run: Run
    # Where files of records are written that are then imported.
    folder: Path
    observed: Observed = field(default_factory=Observed)
    steady: Steady = field(default_factory=Steady)

    def __post_init__(self) -> None:
        self.authentication = Authentication(self.store, self.clock, self.steady)
        self.seal = Seal(SEAL_KEY)
        self.downloads = Downloads(self.store, self.files, self.clock, DOWNLOAD_KEY, BASE_URL)
        api = Api(
            ENDPOINTS,
            self.store,
            self.clock,
            self.authentication,
            CURSOR_KEY,
            self.downloads,
            self.observed,
            self.seal,
            RECEIVERS,
        )
        self.app: ASGIApp = site.Site(
            api,
            site.pages(
                self.store,
                self.downloads,
                self.observed,
                openapi=b"{}",
                reference=b"<!doctype html>",
                metrics=lambda: b"figures 1\n",
            ),
        )

    def send(
        self, path: str, query: QueryText = "", *, method: str = "GET", headers: tuple[Header, ...] = ()
    ) -> Answer:
        return self.run(send(self.app, method, target_of(path, query), headers))

    def open_desk(self, workspace_id: str | None = None) -> "Desk":
        made = self.run(
            self.store.write(lambda tx: create_workspace(tx, "Bicycles", "owner@example.com", workspace_id))
        )
        return Desk(self, made.workspace_id, made.owner_member_id)


class Desk:
    def __init__(self, house: House, workspace_id: str, owner_id: str) -> None:
        self.house = house
        self.workspace_id = workspace_id
        self.owner_id = owner_id
        self.secret = self.token(*SCOPES)

    def issue(self, *scopes: str, lifetime_us: int | None = None) -> NewToken:
        return self.house.run(
            self.house.store.write(
                lambda tx: create_token(tx, self.workspace_id, "Test", list(scopes), lifetime_us)
            )
        )

    def token(self, *scopes: str) -> str:
        return self.issue(*scopes).secret

    def put(self, *records: JsonRecord) -> None:
        """Imports the records, each in place of the one that has its id."""
        path = self.house.folder / "records.ndjson"
        path.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in records))
        report = self.house.run(
            import_file(
                self.house.store,
                self.house.files,
                self.workspace_id,
                path,
                check_only=False,
                progress=lambda done, size: None,
            )
        )
        assert not report.bad_lines, report

    def add(self, kind: str, **fields: object) -> str:
        """Puts one record, and says which id it has."""
        made = record(kind, **fields)
        self.put(made)
        return str(made.get("id", ""))

    def get(
        self,
        path: str,
        query: QueryText = "",
        *,
        token: str | None = None,
        method: str = "GET",
        headers: tuple[Header, ...] = (),
    ) -> Answer:
        authorization = ("authorization", f"Bearer {token or self.secret}")
        return self.house.send(PREFIX + path, query, method=method, headers=(authorization, *headers))

    def walk(self, path: str, query: dict[str, object]) -> list[Any]:
        """Everything of a list, page after page."""
        found: list[Any] = []
        answer = self.get(path, query)
        while True:
            found += answer.data
            if answer.next_cursor is None:
                return found
            answer = self.get(path, {**query, "cursor": answer.next_cursor})
