import pytest

from deskwire.model.durations import parse_duration
from deskwire.model.limits import DURATION_MAXIMUM_DAYS


@pytest.mark.parametrize(
    ("text", "seconds"), [("45s", 45), ("30m", 1_800), ("12h", 43_200), ("90d", 7_776_000), ("1s", 1)]
)
def test_a_whole_number_and_a_unit_are_a_duration(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds * 1_000_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0d",
        "00d",
        "-1d",
        "+1d",
        "1.5h",
        "90",
        "d",
        "1w",
        "1D",
        "1 d",
        " 1d",
        "1d\n",
        "1_0d",
        "1d12h",
        "٣d",
    ],
)
def test_anything_else_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="must be a positive whole number with its unit"):
        parse_duration(text)


def test_the_longest_duration_is_taken_and_one_second_more_is_not() -> None:
    assert parse_duration(f"{DURATION_MAXIMUM_DAYS}d") == DURATION_MAXIMUM_DAYS * 86_400_000_000
    with pytest.raises(ValueError, match="must be at most"):
        parse_duration(f"{DURATION_MAXIMUM_DAYS * 86_400 + 1}s")
