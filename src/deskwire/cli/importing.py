"""Reading a file of records into a workspace."""

from pathlib import Path

import click

from deskwire.cli.house import Invocation
from deskwire.cli.operation import run_open
from deskwire.cli.output import complain, print_json, print_rows, printable
from deskwire.cli.progress import progress
from deskwire.desk.importing import ImportReport, import_file


def import_records(invocation: Invocation, *, file: Path, workspace: str, check: bool, json: bool) -> int:
    with progress("checking" if check else "importing") as advance:
        report = run_open(
            invocation,
            lambda house: import_file(
                house.store, house.files, workspace, file, check_only=check, progress=advance
            ),
        )
    if json:
        print_json(described(report, check))
    else:
        show(report, check)
    if report.bad_lines:
        some = "more than " if report.more_bad_lines else ""
        complain(f"nothing was imported; bad lines: {some}{len(report.bad_lines)}")
        return 1
    if report.not_analysed is not None:
        complain(
            f"all of it is imported, but may be found slowly until the next import: {report.not_analysed}"
        )
    return 0


def described(report: ImportReport, check: bool) -> dict[str, object]:
    return {
        "imported": not check and not report.bad_lines,
        "checked": check,
        "records": report.records,
        "bad_lines": [bad._asdict() for bad in report.bad_lines],
        "more_bad_lines": report.more_bad_lines,
    }


def show(report: ImportReport, check: bool) -> None:
    if report.bad_lines:
        for bad in report.bad_lines:
            click.echo(printable(f"line {bad.line}: {bad.reason}"), err=True)
        return
    print_rows([(kind, f"{count:,}") for kind, count in report.records.items()])
    click.echo("Every line is good; nothing was changed." if check else "Everything was imported.")
