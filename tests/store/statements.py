"""Every statement of the project by its name, as it stands when all of its modules are imported."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from types import ModuleType

import deskwire
from deskwire.store.statement import ALL_STATEMENTS, Statement

# `python -m deskwire` begins to run when it is imported.
PROGRAMS = {"deskwire.__main__"}


def named_statements() -> dict[str, Statement]:
    found: dict[int, tuple[str, Statement]] = {}
    for module in modules():
        for name, value in vars(module).items():
            for suffix, statement in statements_in(value) if value is not ALL_STATEMENTS else ():
                path = f"{module.__name__}.{name}{suffix}"
                # What holds what another module has made is further away from it.
                if id(statement) not in found or len(path) < len(found[id(statement)][0]):
                    found[id(statement)] = (path, statement)
    return dict(found.values())


def modules() -> list[ModuleType]:
    names = [found.name for found in pkgutil.walk_packages(deskwire.__path__, "deskwire.")]
    return [
        importlib.import_module(name) for name in names if name not in PROGRAMS and "versions" not in name
    ]


def statements_in(value: object) -> Iterator[tuple[str, Statement]]:
    """The statement that a value is, or those that it holds."""
    held: Iterable[tuple[str, object]]
    match value:
        case Statement():
            yield "", value
            return
        case type() | ModuleType():
            return
        case dict():
            held = [(f"[{key}]", one) for key, one in value.items()]
        case list() | tuple():
            held = [(f"[{at}]", one) for at, one in enumerate(value)]
        case _ if type(value).__module__.startswith("deskwire."):
            held = [(f".{name}", one) for name, one in getattr(value, "__dict__", {}).items()]
        case _:
            return
    for suffix, one in held:
        for more, statement in statements_in(one):
            yield suffix + more, statement
