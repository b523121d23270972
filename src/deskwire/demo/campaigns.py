"""The shop's campaigns, each with the times its status implies."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from deskwire.demo.chance import Chance
from deskwire.demo.records import Record, record
from deskwire.demo.texts import Campaigns, CampaignText, read


@dataclass(frozen=True)
class Run:
    """How far a campaign has come."""

    scheduled_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    sent_count: int = 0
    failed_count: int = 0


def campaign_records(now: datetime) -> Iterator[Record]:
    chance = Chance(now, "campaigns")
    for text in read("campaigns", Campaigns).campaigns:
        created_at = chance.ago(6, 200)
        run = _run(chance, text, created_at)
        yield record(
            "campaign",
            id=chance.uuid(created_at),
            name=text.name,
            status=text.status,
            campaign_type=text.campaign_type,
            trigger_type=text.trigger_type,
            scheduled_at=run.scheduled_at,
            started_at=run.started_at,
            completed_at=run.completed_at,
            sent_count=run.sent_count,
            failed_count=run.failed_count,
            created_at=created_at,
            updated_at=run.completed_at or run.started_at or created_at + chance.seconds(60, 90_000),
            deleted=text.deleted or None,
        )


def _run(chance: Chance, text: CampaignText, created_at: datetime) -> Run:
    scheduled = text.trigger_type == "scheduled"
    match text.status:
        case "scheduled":
            return Run(scheduled_at=chance.now + chance.seconds(7_200, 2_000_000))
        case "sending" | "completed":
            started_at = created_at + chance.seconds(3_600, 250_000)
            finished = text.status == "completed"
            return Run(
                scheduled_at=started_at - chance.seconds(0.1, 2) if scheduled else None,
                started_at=started_at,
                completed_at=started_at + timedelta(hours=chance.number(1, 60)) if finished else None,
                sent_count=chance.number(40, 5_200),
                failed_count=chance.weighted({0: 2, 3: 1, 17: 1}),
            )
        case "canceled":
            return Run(scheduled_at=created_at + chance.seconds(90_000, 300_000) if scheduled else None)
    return Run()
