"""Business hours in the form that the current dashboard saves; a stored configuration is passed through."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from deskwire.model.limits import CUSTOM_HOLIDAY_NAME_CHARACTERS
from deskwire.model.shapes import Id

TimeOfDay = Annotated[str, Meta(description="`HH:MM`.", examples=["09:00"])]
Day = Annotated[str, Meta(description="`YYYY-MM-DD`.", extra_json_schema={"format": "date"})]


class OpeningTimes(msgspec.Struct):
    open_time: TimeOfDay
    close_time: Annotated[str, Meta(description="`HH:MM`; `24:00` stands for midnight.", examples=["18:00"])]


class Weekday(msgspec.Struct):
    day: Annotated[int, Meta(ge=0, le=6, description="0 is Sunday.")]
    is_open: bool
    ranges: list[OpeningTimes]


class CustomHoliday(msgspec.Struct):
    """A period of the workspace's own, both of its days included."""

    id: Id
    name: Annotated[str, Meta(max_length=CUSTOM_HOLIDAY_NAME_CHARACTERS, description="May be empty.")]
    start_date: Day
    end_date: Day
    closed: Annotated[bool, Meta(description="True means no support in the period.")]
    open_time: Annotated[
        str | UnsetType, Meta(description="`HH:MM`; only when `closed` is false.", examples=["10:00"])
    ] = UNSET
    close_time: Annotated[
        str | UnsetType, Meta(description="`HH:MM`; only when `closed` is false.", examples=["14:00"])
    ] = UNSET


class BusinessHoursConfig(msgspec.Struct):
    """Do not count on any key: a legacy workspace that was never saved again may lack each of them."""

    timezone: Annotated[
        str | UnsetType, Meta(description="An IANA time zone name.", examples=["Europe/Berlin"])
    ] = UNSET
    schedule: Annotated[list[Weekday] | UnsetType, Meta(description="One entry for each weekday.")] = UNSET
    holidays: Annotated[
        list[Day] | UnsetType,
        Meta(description="National holidays; empty when they are not applied automatically."),
    ] = UNSET
    custom_holidays: list[CustomHoliday] | UnsetType = UNSET
    enabled: Annotated[bool | UnsetType, Meta(description="Of legacy workspaces only.")] = UNSET
