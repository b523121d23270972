"""Running the API and the delivery worker, and bringing the database to this version."""

from collections.abc import Sequence

import click

from deskwire.cli.house import Invocation
from deskwire.cli.output import complain


def serve(
    invocation: Invocation, *, host: str, port: int, demo: bool, workers: int, no_delivery: bool
) -> int:
    return invocation.house.serve(
        invocation.options, host=host, port=port, demo=demo, workers=workers, delivery=not no_delivery
    )


def work(invocation: Invocation) -> int:
    return invocation.house.work(invocation.options)


def migrate(invocation: Invocation, *, check: bool, distribute: bool) -> int:
    if check and distribute:
        raise click.UsageError("--check changes nothing, --distribute does: give one of them")
    was_behind = invocation.house.migrate(invocation.options, check=check)
    if check and was_behind:
        complain("the database is behind this version: run `deskwire migrate`")
        return 1
    click.echo(
        "The database was brought to this version." if was_behind else "The database is at this version."
    )
    if distribute:
        tell_distributed(invocation.house.distribute(invocation.options))
    return 0


def tell_distributed(tables: Sequence[str]) -> None:
    click.echo(
        f"Distributed: {', '.join(tables)}." if tables else "Every table is distributed; nothing was to do."
    )
