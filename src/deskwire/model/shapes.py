"""What every resource is made of: ids, the base of what is kept, the base of what is shown."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from deskwire.model.moments import Moment

Id = Annotated[
    str,
    Meta(
        pattern="^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
        # `$` alone lets a line end pass after the last digit.
        max_length=36,
        extra_json_schema={"format": "uuid"},
        examples=["0192f1c0-7a3e-7c4d-9b1a-2f6d8e5c4b3a"],
    ),
]


class Record(msgspec.Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="kind"):
    """A resource as it is kept and as a line of the record format gives it; None stands for no value."""

    id: Id
    created_at: Moment
    updated_at: Moment | None = None

    def visible(self) -> bool:
        return True

    def changed_at(self) -> Moment:
        """As the API shows it; the first moment of 1970 is a moment too, though it is 0."""
        return self.created_at if self.updated_at is None else self.updated_at


class Shown(msgspec.Struct, kw_only=True):
    """A resource as the API shows it; a key whose value is UNSET is left out."""


def shown_text(value: str | None) -> str | UnsetType:
    return value or UNSET


def shown_time(value: Moment | None) -> Moment | UnsetType:
    return UNSET if value is None else value
