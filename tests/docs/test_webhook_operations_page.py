"""The page for those who operate webhooks: its commands, metrics and numbers are those of the code."""

import re
from pathlib import Path

import pytest

from deskwire.api.metrics import Metrics
from deskwire.cli.command import Group
from deskwire.cli.commands import build_commands
from deskwire.model import limits
from deskwire.wiring.access_log import AccessLog
from deskwire.wiring.delivering import open_deliveries
from deskwire.wiring.opening import open_house, prepare
from deskwire.wiring.serving import metrics_of
from deskwire.wiring.settings import load_given
from tests.engines import Run

TEXT = (Path(__file__).parents[2] / "docs" / "webhook-operations.md").read_text("utf-8")
# What the page is not about.
OF_THE_DATABASE = {
    "deskwire_commit_groups",
    "deskwire_committed_operations",
    "deskwire_waiting_operations",
    "deskwire_http_request_duration_seconds",
}


def test_every_metric_of_deliveries_is_explained_and_no_other(run: Run, tmp_path: Path) -> None:
    async def told() -> str:
        settings = load_given({"data-dir": str(tmp_path)})
        await prepare(settings)
        access_log = AccessLog("text")
        try:
            async with open_house(settings) as house:
                metrics = metrics_of(house.store, Metrics())
                async with open_deliveries(settings, house, metrics, access_log):
                    return metrics.render().decode()
        finally:
            access_log.close()

    names = set(re.findall(r"^# HELP (deskwire_\w+)", run(told()), re.MULTILINE))
    assert names - OF_THE_DATABASE == set(re.findall(r"^\| `(deskwire_\w+)`", TEXT, re.MULTILINE))


def test_every_command_and_its_options_are_named() -> None:
    webhook = build_commands([]).commands["webhook"]
    assert isinstance(webhook, Group)
    told = dict(re.findall(r"^\| `deskwire webhook (\w+)([^`]*)`", TEXT, re.MULTILINE))
    assert list(told) == list(webhook.commands)
    for name, command in webhook.commands.items():
        options = {each for parameter in command.params for each in parameter.opts if each[:2] == "--"}
        assert options - {"--json"} == set(re.findall(r"--[a-z-]+", told[name]))


@pytest.mark.parametrize(
    "sentence",
    [
        f"arrived within the last {limits.DUPLICATE_WINDOW_US // 60_000_000} minutes",
        f"fails {limits.WEBHOOK_FAILURES_TO_ERROR} times in a row",
        f"once in {limits.NOTICE_PAUSE_US // 3_600_000_000} hours",
        f"up to {limits.CYCLE_ATTEMPTS} attempts",
        f"near {limits.DELIVERIES_AT_ONCE:,} for each process",
        f"looked for work for {limits.DELIVERY_STALLED_S:g} seconds",
        f"events after {limits.EVENT_LIFETIME_US // 3_600_000_000} hours",
        f"every hour, for {limits.MAIL_HORIZON_US // 3_600_000_000} hours",
    ],
)
def test_the_numbers_are_those_of_the_code(sentence: str) -> None:
    assert sentence in " ".join(TEXT.split())
