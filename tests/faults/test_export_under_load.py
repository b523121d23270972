"""Exports taken while clients write: each is of one moment, and every transaction is in it whole or not."""

import itertools
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.engines import ENGINES
from tests.faults.desk import FaultyDesk
from tests.faults.report import Report
from tests.faults.retrying import retrying, wait_for_more
from tests.system.conftest import Hire

WRITERS, WRITES_A_SECOND = 6, 150
MANY = [pytest.mark.stress, pytest.mark.timeout(900)]


@pytest.mark.parametrize("engine", ENGINES[:2])
@pytest.mark.parametrize("exports", [2, pytest.param(40, marks=MANY)])
def test_an_export_under_load_is_one_moment(hire: Hire, report: Report, engine: str, exports: int) -> None:
    desk = FaultyDesk(hire(engine), "--no-delivery")
    sizes = []
    with tagging(desk), retrying(desk.client, WRITERS, WRITES_A_SECOND) as writers:
        for number in range(exports):
            wait_for_more(writers, 2)
            before = {each.name: each.acknowledged for each in writers}
            file = desk.operator.folder / f"export-{number}.ndjson"
            done = desk.operator.run("export", "--workspace", desk.workspace, "--output", file)
            assert done.code == 0, done.err
            assert any(each.acknowledged > before[each.name] for each in writers), "nobody wrote meanwhile"
            sizes.append(look_over(file, before))
    assert sizes == sorted(sizes)
    written = desk.assert_nothing_lost(writers)
    report(exports=exports, smallest=sizes[0], largest=sizes[-1], acknowledged=written, torn=0)


@contextmanager
def tagging(desk: FaultyDesk) -> Iterator[None]:
    """Each contact is given a tag that is made by that: one transaction, and two records of an export."""
    done = threading.Event()

    def tag() -> None:
        with desk.client() as client:
            for number in itertools.count():
                if done.wait(0.02):
                    return
                contact = client.post("/contacts", {"name": "Kim"}).json["data"]["id"]
                tagged = client.post(f"/contacts/{contact}/tags", {"tags": [f"tag {number}"]})
                assert tagged.status == 200, tagged.body

    with ThreadPoolExecutor(1) as pool:
        tags = pool.submit(tag)
        try:
            yield
        finally:
            done.set()
        tags.result()


def look_over(file: Path, acknowledged: dict[str, int]) -> int:
    """How many replies are in it: all that were acknowledged before, of each writer without a gap."""
    records = [json.loads(line) for line in file.read_text().splitlines()]
    numbers: dict[str, list[int]] = {name: [] for name in acknowledged}
    for record in records:
        if record["kind"] == "message":
            name, number = record["content"].split()
            numbers[name].append(int(number))
    for name, found in numbers.items():
        assert sorted(found) == list(range(len(found)))
        assert len(found) >= acknowledged[name]
    tags = {record["name"] for record in records if record["kind"] == "contact_tag"}
    used = {tag for record in records if record["kind"] == "contact" for tag in record.get("tags", ())}
    assert tags == used and used
    return sum(map(len, numbers.values()))
