"""Looking the database over."""

from collections.abc import Callable

import click

from deskwire.cli.house import Invocation, OpenHouse
from deskwire.cli.operation import run_open
from deskwire.cli.output import complain, printable
from deskwire.cli.progress import progress
from deskwire.desk.checking import check


def check_database(invocation: Invocation) -> int:
    invocation.house.find_database(invocation.options)
    with progress("checking") as advance:
        differences = run_open(invocation, lambda house: print_differences(house, advance))
    if differences:
        complain(f"values that differ from what they are derived from: {differences:,}")
        return 1
    click.echo("Every derived value is as it should be.")
    return 0


async def print_differences(house: OpenHouse, advance: Callable[[int, int], None]) -> int:
    found = 0
    async for difference in check(house.store, advance):
        click.echo(printable(difference))
        found += 1
    return found
