"""Several programs on one file: nothing acknowledged is lost, and each sees what the others did."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from whence.bootstrap import SystemClock
from whence.core.life import Whence
from whence.features.workspaces import Place, found_workspace
from whence.models import NoModels
from whence.storage import open_store

WORKER = Path(__file__).with_name("worker.py")
HERE = Path(__file__).resolve().parents[2]


class Worker:
    """Another process with the file open."""

    def __init__(self, url: str, kind: str, *rest: str, home: Path | None = None) -> None:
        environment = os.environ | {"PYTHONPATH": str(HERE / "src"), "WHENCE_HOME": str(home)}
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER), url, kind, *rest],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert self.hear() == "ready"

    def hear(self) -> object:
        line = self.process.stdout.readline()
        assert line.endswith("\n"), "the process ended without an answer"
        return json.loads(line)

    def tell(self, call: dict[str, str] | None = None) -> None:
        self.process.stdin.write(("" if call is None else json.dumps(call)) + "\n")
        self.process.stdin.flush()

    def ask(self, **call: str) -> object:
        self.tell(call)
        return self.hear()

    def acknowledged(self) -> list[str]:
        """Return every id told until the end; a half line was told by nobody."""
        out, _ = self.process.communicate(timeout=60)
        return [json.loads(line) for line in out.splitlines(keepends=True) if line.endswith("\n")]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'whence.db'}"


@pytest.fixture
def room(url: str) -> str:
    """The id of a workspace in the file, which nobody has open."""
    clock = SystemClock()
    whence = Whence(open_store(url, tenant="local", clock=clock), NoModels(), clock)
    made = found_workspace(whence, Place(name="room")).id
    whence.close()
    return made


@pytest.fixture
def start(url: str, model_home: Path) -> Iterator[Callable[..., Worker]]:
    started: list[Worker] = []

    def starter(kind: str, *rest: str) -> Worker:
        started.append(Worker(url, kind, *rest, home=model_home))
        return started[-1]

    yield starter
    for worker in started:
        worker.process.kill()
        worker.process.communicate()


def check_whole(url: str, acknowledged: set[str]) -> None:
    """Every acknowledged memory is there with its words and its event, and so is nothing half."""
    with closing(apsw.Connection(url.removeprefix("sqlite:///"))) as connection:
        assert list(connection.execute("PRAGMA integrity_check")) == [("ok",)]
        assert list(connection.execute("PRAGMA foreign_key_check")) == []
        assert list(connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")) == []
        stored = {row[0] for row in connection.execute("SELECT id FROM memories")}
        assert acknowledged <= stored
        assert {row[0] for row in connection.execute("SELECT memory_id FROM events")} == stored
        seqs = {row[0] for row in connection.execute("SELECT seq FROM memories")}
        assert {row[0] for row in connection.execute("SELECT rowid FROM words")} == seqs


@pytest.mark.slow
@pytest.mark.promise("001-008", "001-056")
def test_eight_programs_saving_at_once_lose_nothing_and_hear_no_error(url, room, start):
    workers = [start("wordless", room, f"writer {number}", "50") for number in range(8)]
    for worker in workers:
        worker.tell()
    told = [worker.acknowledged() for worker in workers]
    assert [worker.process.returncode for worker in workers] == [0] * 8
    assert [len(each) for each in told] == [50] * 8
    every = {one for each in told for one in each}
    assert len(every) == 400
    check_whole(url, every)


@pytest.mark.slow
@pytest.mark.promise("001-048", "001-056")
def test_a_program_killed_at_any_moment_loses_nothing_that_it_acknowledged(url, room, start):
    chance = random.Random(7)
    every: set[str] = set()
    for life in range(8):
        worker = start("wordless", room, f"life {life}", "100000")
        worker.tell()
        every |= {worker.hear() for _ in range(chance.randint(1, 40))}
        worker.process.kill()
        every |= set(worker.acknowledged())
        check_whole(url, every)
    assert len(every) >= 8


@pytest.mark.slow
@pytest.mark.promise("001-002", "001-054", "001-055", "003-116")
def test_what_one_program_acknowledged_the_next_search_of_another_sees(url, room, start):
    doer, asker = start("models"), start("models")
    annex = doer.ask(do="found", name="annex")

    def hears(text: str, workspace: str = room) -> object:
        return asker.ask(do="search", text=text, workspace=workspace)

    seattle = doer.ask(do="save", workspace=room, content="Ana lives in Seattle")
    assert hears("Seattle") == ["Ana lives in Seattle"]  # by words
    assert hears("which city is her home?") == ["Ana lives in Seattle"]  # by meaning: no word is shared
    tea = doer.ask(do="save", workspace=room, content="Green tea is what Ana drinks at breakfast")
    assert hears("favourite morning beverage?")[0].startswith("Green tea")

    austin = doer.ask(do="save", workspace=room, content="Ana moved to Austin")
    doer.ask(do="supersede", old=seattle, new=austin)
    assert "Ana lives in Seattle" not in hears("Ana lives in Seattle")
    assert hears("Ana lives in Seattle")[0] == "Ana moved to Austin"

    doer.ask(do="archive", id=tea)
    assert not any("tea" in each for each in hears("tea") + hears("favourite morning beverage?"))
    doer.ask(do="restore", id=tea)
    assert hears("favourite morning beverage?")[0].startswith("Green tea")

    doer.ask(do="edit", id=tea, content="The nightly backup copies the ledger to tape")
    assert not any("tea" in each for each in hears("tea") + hears("favourite morning beverage?"))
    assert hears("archiving of the accounting records")[0].startswith("The nightly backup")

    doer.ask(do="move", id=tea, workspace=annex)
    assert not any("backup" in each for each in hears("nightly backup"))
    assert hears("nightly backup", annex) == ["The nightly backup copies the ledger to tape"]
    assert hears("archiving of the accounting records", annex)[0].startswith("The nightly backup")
    asker.ask(do="move", id=tea, workspace=room)
    assert doer.ask(do="search", text="nightly backup", workspace=annex) == []
    assert any("backup" in each for each in hears("archiving of the accounting records"))


def test_programs_that_found_the_same_project_at_once_get_one_workspace(url, room, start):
    workers = [start("wordless") for _ in range(3)]
    for name in ("alpha", "beta", "gamma"):
        for worker in workers:
            worker.tell({"do": "found", "name": name, "identity": f"git@host:me/{name}"})
        assert len({worker.hear() for worker in workers}) == 1
