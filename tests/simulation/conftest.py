"""An option for one seed of the simulation."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", default="0", help="the seed of the simulated world that runs alone")
