"""Attachments: records that point at the demo's few files under many names."""

from datetime import datetime

from deskwire.demo.chance import Chance
from deskwire.demo.files import Medium, specimens
from deskwire.demo.records import Record, record

FOLDER = "files"
CAMERA_NAMES = ("IMG_####", "photo-20##-####", "Bildschirmfoto ####", "사진 ###", "DSC0####")


class Shelf:
    """The attachments so far; now and then one is still pending or has failed, and then it has no bytes."""

    def __init__(self, now: datetime) -> None:
        self.records: list[Record] = []
        self._chance = Chance(now, "attachments")

    def add(self, medium: Medium, created_at: datetime) -> str:
        chance = self._chance
        names = [name for name, specimen in specimens().items() if specimen.medium == medium]
        source = names[len(self.records) % len(names)]
        status = self._status()
        attachment_id = chance.uuid(created_at)
        self.records.append(
            record(
                "attachment",
                id=attachment_id,
                filename=self._filename(source, medium),
                content_type=specimens()[source].content_type,
                size_bytes=len(specimens()[source].content),
                created_at=created_at,
                status=status,
                file=f"{FOLDER}/{source}" if status == "ready" else None,
            )
        )
        return attachment_id

    def _status(self) -> str:
        match len(self.records) % 12:
            case 5:
                return "pending"
            case 9:
                return "failed"
        return "ready"

    def _filename(self, source: str, medium: Medium) -> str:
        if medium != "image" or self._chance.percent(40):
            return source
        return f"{self._chance.digits(self._chance.pick(CAMERA_NAMES))}.{source.rpartition('.')[2]}"
