"""What every test shares: both engines, and the option and the mark of those that take minutes."""

import gc

import pytest

pytest_plugins = ("tests.engines",)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--stress", action="store_true", help="also run the tests that take minutes")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "stress: takes minutes, so it runs with --stress only")


def pytest_collection_finish() -> None:
    # What was imported and collected stays, and is much to look through for circles again and again.
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--stress"):
        return
    for item in items:
        if item.get_closest_marker("stress"):
            item.add_marker(pytest.mark.skip(reason="takes minutes; runs with --stress"))
