"""The README says what the program does."""

from pathlib import Path

from deskwire.wiring.settings import render_table

README = Path(__file__).parent.parent / "README.md"


def test_the_readme_has_every_setting() -> None:
    begin, end = "<!-- settings -->\n", "<!-- /settings -->"
    table = README.read_text().partition(begin)[2].partition(end)[0]
    assert table == render_table()
