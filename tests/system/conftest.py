"""Operators on both engines, and a demo that a module shares."""

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engines import PostgresServer
from tests.system.operators import Operator, Served

SECRET_KEY = "a secret key of the tests, long enough"

Hire = Callable[..., Operator]


class Demo:
    """The demo, served; its token has every scope."""

    def __init__(self, operator: Operator, served: Served) -> None:
        self.operator, self.served = operator, served
        self.said = served.said()
        self.token = re.findall(r"dwp_[A-Za-z0-9]{40}", self.said)[0]


@pytest.fixture(scope="module")
def hire(tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer) -> Iterator[Hire]:
    """Makes operators: `hire("sqlite")`, and `hire("postgres")`, whose database may be left empty."""
    hired: list[Operator] = []

    def one(engine: str, template: str = "migrated") -> Operator:
        settings = {}
        if engine == "postgres":
            url = asyncio.run(postgres_server.new_database(template))
            settings = {"DESKWIRE_DATABASE_URL": url, "DESKWIRE_SECRET_KEY": SECRET_KEY}
        hired.append(Operator(tmp_path_factory.mktemp("operator"), **settings))
        return hired[-1]

    yield one
    for somebody in hired:
        somebody.leave()


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    """On SQLite."""
    somebody = Operator(tmp_path)
    yield somebody
    somebody.leave()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    somebody = Operator(tmp_path_factory.mktemp("demo"))
    yield Demo(somebody, somebody.serve("--demo"))
    somebody.leave()
