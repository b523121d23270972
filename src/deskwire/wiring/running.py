"""`serve`, from its options to its end."""

import asyncio
import logging
from collections.abc import Mapping

import uvloop

from deskwire.cli.operation import run_interruptibly
from deskwire.wiring import demonstration, logs, memory, processes
from deskwire.wiring.keys import secret_key
from deskwire.wiring.opening import prepare
from deskwire.wiring.serving import Serving
from deskwire.wiring.settings import load_given
from deskwire.wiring.worker import Place, obey
from deskwire.wiring.working import Working

logger = logging.getLogger("deskwire.serve")


def serve(
    options: Mapping[str, str],
    *,
    host: str,
    port: int,
    demo: bool,
    workers: int,
    delivery: bool,
) -> int:
    said = load_given(options)
    logs.configure(said.log)
    if demo:
        said = demonstration.settings_of(said)
    secret_key(said)
    if said.webhook_allow:
        logger.warning("DESKWIRE_WEBHOOK_ALLOW is set, which is for development only")
    introduce: demonstration.Introduction = nothing_more

    def get_ready() -> None:
        nonlocal introduce
        asyncio.run(prepare(said))
        if demo:
            introduce = run_interruptibly(lambda: demonstration.prepare(said))
        memory.give_back()

    def announce(url: str) -> None:
        print(f"ready on {url}{introduce(said.public_url or url)}", flush=True)

    processes.run(
        Serving(said, host, delivery),
        host=host,
        port=port,
        workers=workers,
        get_ready=get_ready,
        announce=announce,
    )
    return 0


def work(options: Mapping[str, str]) -> int:
    """The delivery worker alone, until a signal ends it."""
    said = load_given(options)
    logs.configure(said.log)
    secret_key(said)
    asyncio.run(prepare(said))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(obey(Working(said), [], Place(), lambda: print("delivering", flush=True)))
    return 0


def nothing_more(_url: str) -> str:
    return ""
