"""How a record is written down: its kind first, what is empty left out, moments as timestamps."""

from datetime import UTC, datetime

Record = dict[str, object]


def record(kind: str, **fields: object) -> Record:
    return {"kind": kind} | {
        name: stamp(value) if isinstance(value, datetime) else value
        for name, value in fields.items()
        if value is not None
    }


def stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
