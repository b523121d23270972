"""A process killed in the middle of its writes: all that was acknowledged is there, and nothing by half."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deskwire.desk.checking import check
from deskwire.store.attachments import Files
from tests.api.desk import House
from tests.engines import PostgresServer, Run, SetClock
from tests.writes.endless_writes import open_place
from tests.writes.writer import Json, Writer

ROUNDS, STRESS_ROUNDS = 3, 60
LONGEST_S = 0.5


def kill_in_the_middle(*arguments: str) -> list[Json]:
    """What the program acknowledged before it was killed."""
    command = [sys.executable, "-m", "tests.writes.endless_writes", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        first = child.stdout.readline()
        assert first, "the program said nothing"
        time.sleep(random.uniform(0, LONGEST_S))
        child.kill()
        lines = [first, *child.stdout.readlines()]
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


class Survivor:
    """A house that is opened again and again after its program was killed."""

    def __init__(self, place: str, files: Files, folder: Path, run: Run) -> None:
        self._place, self._files, self._folder, self._run = place, files, folder, run
        self._round = 0
        house = self._open()
        self._desk = house.open_desk()
        writer = Writer(self._desk)
        self._secret = writer.token.secret
        self._channels = [writer.channel() for _ in range(4)]
        run(house.store.close())

    def survive(self) -> None:
        self._round += 1
        acknowledged = kill_in_the_middle(
            self._place,
            str(self._folder),
            self._secret,
            str(self._round),
            self._desk.owner_id,
            *self._channels,
        )
        house = self._open()
        try:
            self._desk.house = house
            writer = Writer(self._desk)
            for each in acknowledged:
                self._is_there(writer, each)
            self._is_whole(writer)
        finally:
            self._run(house.store.close())

    def _is_there(self, writer: Writer, write: Json) -> None:
        data = write["data"]
        if write["path"] == "/contacts":
            assert writer.see("/contacts", f"external_id={data['external_id']}") == [data]
        elif write["path"].endswith("/messages"):
            again = writer.done("POST", write["path"], write["body"])
            assert again == {**data, "deduplicated": True}

    def _is_whole(self, writer: Writer) -> None:
        seqs: dict[str, list[int]] = {channel: [] for channel in self._channels}
        versions: dict[str, list[int]] = {channel: [] for channel in self._channels}
        told = set()
        for event in writer.events:
            match event["kind"]:
                case "message.created":
                    seqs[event["channel"]["id"]].append(event["data"]["seq"])
                case "contact.created":
                    told.add(event["data"]["contact_id"])
                case _:
                    versions[event["channel"]["id"]].append(event["data"]["version"])
        for channel in self._channels:
            count = writer.see(f"/channels/{channel}")["message_count"]
            assert sorted(seqs[channel]) == list(range(1, count + 1))
            assert sorted(versions[channel]) == list(range(2, len(versions[channel]) + 2))
        assert told == {each["id"] for each in self._desk.walk("/contacts", {"limit": 100})}
        assert self._run(look(writer.house)) == []

    def _open(self) -> House:
        return House(
            self._run(open_place(self._place)), self._files, SetClock(), self._run, Path(self._folder)
        )


async def look(house: House) -> list[str]:
    return [line async for line in check(house.store, lambda done, total: None)]


@pytest.fixture
def survivor(
    engine: str,
    run: Run,
    files: Files,
    tmp_path: Path,
    migrated_sqlite: Path,
    request: pytest.FixtureRequest,
) -> Survivor:
    if engine == "sqlite":
        place = str(tmp_path / "deskwire.db")
        Path(place).write_bytes(migrated_sqlite.read_bytes())
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        place = run(server.new_database())
    return Survivor(place, files, tmp_path, run)


def test_a_killed_process_loses_nothing_that_it_acknowledged(survivor: Survivor) -> None:
    for _ in range(ROUNDS):
        survivor.survive()


@pytest.mark.stress
def test_a_process_killed_over_and_over_loses_nothing(survivor: Survivor) -> None:
    for _ in range(STRESS_ROUNDS):
        survivor.survive()
