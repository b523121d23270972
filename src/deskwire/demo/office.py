"""The shop's settings: workflows, integrations, business hours and the AI agent."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from deskwire.demo.chance import Chance
from deskwire.demo.history import FOUNDED_DAYS, STAFFED_DAYS
from deskwire.demo.records import Record, record
from deskwire.demo.texts import IntegrationText, Office, WorkflowText, read

WITHOUT_INBOUND_PATH = ("web", "email")
HOLIDAYS = ("01-01", "05-01", "10-03", "12-25", "12-26")


@dataclass(frozen=True)
class Workflow:
    id: str
    text: WorkflowText
    created_at: datetime


def workflows(now: datetime) -> list[Workflow]:
    chance = Chance(now, "workflows")
    moments = [chance.ago(STAFFED_DAYS, FOUNDED_DAYS - 5) for _ in read("office", Office).workflows]
    return [
        Workflow(chance.uuid(moment), text, moment)
        for text, moment in zip(read("office", Office).workflows, moments, strict=True)
    ]


def workflow_records(automations: list[Workflow]) -> Iterator[Record]:
    for workflow in automations:
        yield record(
            "workflow",
            id=workflow.id,
            name=workflow.text.name,
            is_active=workflow.text.is_active,
            trigger_type=workflow.text.trigger_type,
            created_at=workflow.created_at,
        )


def integration_records(now: datetime) -> Iterator[Record]:
    chance = Chance(now, "integrations")
    for text in read("office", Office).integrations:
        yield _integration(chance, text)


def ai_agent_record(now: datetime) -> Record:
    """The setting without an id: that is the workspace's."""
    chance = Chance(now, "ai agent")
    created_at = chance.ago(200, 250)
    return record(
        "ai_agent",
        enabled=True,
        failover_timeout=90,
        created_at=created_at,
        updated_at=chance.since(created_at),
    )


def business_hours_record(now: datetime) -> Record:
    chance = Chance(now, "business hours")
    years = (now.year, now.year + 1)
    config = {
        "timezone": "Europe/Berlin",
        "schedule": [_weekday(day) for day in range(7)],
        "holidays": [f"{year}-{day}" for year in years for day in HOLIDAYS],
        "custom_holidays": [
            _custom_holiday(chance, "Inventory 🔩", 20, 20),
            _custom_holiday(chance, "Betriebsausflug", 62, 63),
            _custom_holiday(chance, "", 90, 97, open_time="10:00", close_time="14:00"),
        ],
    }
    return record("business_hours", config=config)


def _integration(chance: Chance, text: IntegrationText) -> Record:
    created_at = chance.ago(30, FOUNDED_DAYS - 5)
    token = chance.dice.randbytes(12).hex()
    inbound = text.provider not in WITHOUT_INBOUND_PATH and text.status != "awaiting_setup"
    return record(
        "integration",
        id=chance.uuid(created_at),
        provider=text.provider,
        name=text.name,
        status=text.status,
        webhook_url=f"https://desk.example.com/inbound/{text.provider}/{token}" if inbound else None,
        icon_url=f"https://cdn.example.com/icons/{text.provider}.svg" if chance.percent(70) else None,
        created_at=created_at,
        updated_at=chance.since(created_at),
    )


def _weekday(day: int) -> dict[str, object]:
    """Sunday closed, a break at noon, and the long Thursday evening."""
    spans = {0: (), 4: (("08:00", "12:30"), ("13:15", "24:00")), 6: (("09:00", "14:00"),)}.get(
        day, (("08:00", "12:30"), ("13:15", "18:30"))
    )
    ranges = [{"open_time": opens, "close_time": closes} for opens, closes in spans]
    return {"day": day, "is_open": bool(ranges), "ranges": ranges}


def _custom_holiday(
    chance: Chance, name: str, first_day: int, last_day: int, **times: str
) -> dict[str, object]:
    """A period in days from now; one with opening times is not closed."""
    start, end = (chance.now + timedelta(days=days) for days in (first_day, last_day))
    return {
        "id": chance.random_uuid(),
        "name": name,
        "start_date": start.date().isoformat(),
        "end_date": end.date().isoformat(),
        "closed": not times,
        **times,
    }
