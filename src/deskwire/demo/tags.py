"""The two tag catalogues."""

from collections.abc import Iterator
from datetime import datetime

from deskwire.demo.chance import Chance
from deskwire.demo.history import FOUNDED_DAYS, STAFFED_DAYS
from deskwire.demo.records import Record, record
from deskwire.demo.texts import tags


def tag_records(now: datetime) -> Iterator[Record]:
    chance = Chance(now, "tags")
    for kind, texts in (("channel_tag", tags().channel_tags), ("contact_tag", tags().contact_tags)):
        for text in texts:
            created_at = chance.ago(STAFFED_DAYS, FOUNDED_DAYS - 5)
            yield record(
                kind,
                id=chance.uuid(created_at),
                name=text.name,
                color=text.color,
                created_at=created_at,
                updated_at=chance.since(created_at) if chance.percent(30) else created_at,
            )
