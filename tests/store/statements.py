"""Every statement of the project by its name, as it stands when all of its modules are imported."""

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import deskwire
from deskwire.store.statement import Statement

# `python -m deskwire` begins to run when it is imported.
PROGRAMS = {"deskwire.__main__"}


def named_statements() -> dict[str, Statement]:
    found: dict[int, tuple[str, Statement]] = {}
    for module in modules():
        for name, value in vars(module).items():
            for suffix, statement in statements_in(value):
                found.setdefault(id(statement), (f"{module.__name__}.{name}{suffix}", statement))
    return dict(found.values())


def modules() -> list[ModuleType]:
    names = [found.name for found in pkgutil.walk_packages(deskwire.__path__, "deskwire.")]
    return [
        importlib.import_module(name) for name in names if name not in PROGRAMS and "versions" not in name
    ]


def statements_in(value: object) -> Iterator[tuple[str, Statement]]:
    """The statement that a value is, or those that it holds."""
    match value:
        case Statement():
            yield "", value
        case dict():
            for key, held in value.items():
                for suffix, statement in statements_in(held):
                    yield f"[{key}]{suffix}", statement
        case type() | ModuleType():
            return
        case _ if type(value).__module__.startswith("deskwire."):
            for name, held in getattr(value, "__dict__", {}).items():
                if isinstance(held, Statement | dict):
                    for suffix, statement in statements_in(held):
                        yield f".{name}{suffix}", statement
