"""What a command is made of: its options, and what it does, which is loaded when it is run."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, cast

import click

from deskwire.cli.house import House, Invocation, Option


class Session:
    """What belongs to this run of the program, and not to one command."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.shows_traceback = False


class Group(click.Group):
    """Its commands are listed in the order in which a newcomer meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


def group(name: str, help: str, *commands: click.Command, **more: Any) -> Group:
    return Group(name, {each.name: each for each in commands if each.name}, help=help, **more)


def command(
    name: str, does: str, help: str, *params: click.Parameter, settings: Sequence[Option], epilog: str = ""
) -> click.Command:
    options = [click.Option([f"--{each.name}"], metavar="VALUE", help=each.help) for each in settings]
    return click.Command(
        name,
        callback=Later(does, settings),
        params=[*params, *options],
        help=help,
        short_help=help.partition(":")[0],
        epilog=epilog,
    )


class Later:
    """Calls `module:function` of this package with a command's values, and apart from them the settings."""

    def __init__(self, does: str, settings: Sequence[Option]) -> None:
        self.does = does
        self._settings = settings

    def __call__(self, **values: Any) -> object:
        given = {each.name: values.pop(each.name.replace("-", "_")) for each in self._settings}
        said = {name: text for name, text in given.items() if text is not None}
        return self.load()(Invocation(current_session().house, said), **values)

    def load(self) -> Callable[..., object]:
        module, _, function = self.does.partition(":")
        return cast(Callable[..., object], getattr(import_module(f"{__package__}.{module}"), function))


def current_session() -> Session:
    session = click.get_current_context().find_object(Session)
    assert session is not None
    return session


def required(name: str, type: click.ParamType[Any], help: str) -> click.Option:
    return click.Option([name], type=type, required=True, help=help)


def option(
    name: str, type: click.ParamType[Any], help: str, default: str | int | None = None
) -> click.Option:
    return click.Option([name], type=type, help=help, default=default, show_default=default is not None)


def flag(name: str, help: str) -> click.Option:
    return click.Option([name], is_flag=True, help=help)
