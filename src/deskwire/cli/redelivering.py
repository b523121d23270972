"""Sending a webhook again what was accepted before."""

from collections.abc import Sequence

import click

from deskwire.cli.house import Invocation, OpenHouse
from deskwire.cli.operation import run_open
from deskwire.cli.output import print_json
from deskwire.desk.redelivering import Redelivered, Wish
from deskwire.desk.redelivering import redeliver as redeliver_events
from deskwire.desk.webhooks import locate_webhook
from deskwire.model.events import EventKind
from deskwire.model.limits import DELIVERY_HORIZON_US, DUPLICATE_WINDOW_US
from deskwire.model.moments import Moment
from deskwire.model.times import format_time
from deskwire.store.clock import system_clock


def redeliver(
    invocation: Invocation,
    *,
    id: str,
    since: Moment | None,
    kind: Sequence[EventKind],
    again: bool,
    json: bool,
) -> None:
    earliest = Moment(system_clock() - DELIVERY_HORIZON_US)
    start = earliest if since is None else max(since, earliest)

    async def work(house: OpenHouse) -> Redelivered:
        workspace_id, _ = await house.store.read(lambda tx: locate_webhook(tx, id))
        return await redeliver_events(house.store, Wish(workspace_id, id, start, kind, again))

    done = run_open(invocation, work)
    if json:
        print_json({"id": id, "since": start, **done._asdict()})
        return
    click.echo(f"{done.queued:,} events accepted since {format_time(start)} are sent again, oldest first.")
    if done.held:
        click.echo(
            "The webhook is in error, so they are held: "
            f"`deskwire webhook toggle {id}` activates it and sends them."
        )
    if done.waiting:
        click.echo(f"{done.waiting:,} more were on their way already.")
    if done.recent:
        click.echo(
            f"{done.recent:,} were left out, as they arrived within the last "
            f"{DUPLICATE_WINDOW_US // 60_000_000} minutes; --again sends these too."
        )
