"""The whole demo workspace, in the order in which its records are read best."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from deskwire.demo.attachments import FOLDER, Shelf
from deskwire.demo.calls import voice_calls
from deskwire.demo.campaigns import campaign_records
from deskwire.demo.channels import user_chats
from deskwire.demo.contacts import contact_records, contacts
from deskwire.demo.files import specimens
from deskwire.demo.history import FOUNDED_DAYS
from deskwire.demo.internal import internal_channels
from deskwire.demo.macros import macro_records
from deskwire.demo.messages import message_records
from deskwire.demo.office import (
    ai_agent_record,
    business_hours_record,
    integration_records,
    workflow_records,
    workflows,
)
from deskwire.demo.records import Record, record
from deskwire.demo.staff import member_records, members, team_records, teams
from deskwire.demo.tags import tag_records
from deskwire.demo.tasks import task_records
from deskwire.demo.texts import shop

FILE_NAME = "demo.ndjson"


def records(now: datetime) -> Iterator[dict[str, object]]:
    """Every record of the demo as it would stand at `now`; the same `now` gives the same records."""
    staff, people, automations = members(now), contacts(now), workflows(now)
    groups = teams(now, staff)
    calls = list(voice_calls(now, people, staff, automations))
    channels = [
        *user_chats(now, people, staff, automations),
        *internal_channels(now, staff, groups),
        *(channel for channel, _ in calls if channel),
    ]
    shelf = Shelf(now)

    yield record("workspace", name=shop().name, created_at=now - timedelta(days=FOUNDED_DAYS))
    yield from _office(now)
    yield from workflow_records(automations)
    yield from member_records(now, staff)
    yield from team_records(now, groups)
    yield from tag_records(now)
    yield from contact_records(now, people)
    yield from (channel.record for channel in channels)
    yield from message_records(now, channels, shelf)
    # The messages have put onto it what they attach.
    yield from shelf.records
    yield from (call for _, call in calls)
    yield from task_records(now, staff, groups, channels)
    yield from macro_records(now, groups)
    yield from campaign_records(now)


def write(folder: Path, now: datetime) -> Path:
    """Writes the records and the files they name into the folder; answers where the records are."""
    attached = folder / FOLDER
    attached.mkdir(parents=True, exist_ok=True)
    for name, specimen in specimens().items():
        (attached / name).write_bytes(specimen.content)
    path = folder / FILE_NAME
    with path.open("wb") as lines:
        lines.writelines(msgspec.json.encode(one) + b"\n" for one in records(now))
    return path


def _office(now: datetime) -> Iterator[Record]:
    yield business_hours_record(now)
    yield ai_agent_record(now)
    yield from integration_records(now)
