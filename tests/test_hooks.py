"""Does the decision hook get every new decision once, and does nothing ever wait or fail for it?"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.surfaces.conftest import Facts

from whence.bootstrap import open_memory
from whence.config import Settings, load_settings
from whence.core.errors import InvalidParameter
from whence.core.life import Whence
from whence.features.portable import export_lines, import_lines
from whence.hooks import PATIENCE, decision_hook, message, start, watch
from whence.models import NoModels
from whence.storage import open_store

BOUND = 30.0  # seconds until a test gives up on a process
KEEPS_NOTES = """
    import json, os, sys
    told = sys.stdin.buffer.read().decode()
    note = {"told": json.loads(told), "arguments": sys.argv[2:], "pid": os.getpid()}
    note["sessions"] = [os.getsid(0), os.getsid(os.getppid())]
    path = os.path.join(sys.argv[1], f"{os.getpid()}.note")
    with open(path + ".half", "w", encoding="utf-8") as out:
        json.dump(note, out)
    os.rename(path + ".half", path)
"""
WAITS_FIRST = """
    import os, sys, time
    while not os.path.exists(os.path.join(sys.argv[1], "go")):
        time.sleep(0.01)
"""
pytestmark = pytest.mark.skipif(os.name != "posix", reason="the commands of these tests are POSIX's")


def eventually(look):
    """Return what `look` gives as soon as it gives something; looking ends after a while."""
    until = time.monotonic() + BOUND
    pause = threading.Event()
    while not (seen := look()):
        assert time.monotonic() < until, "it never came"
        pause.wait(0.01)
    return seen


def no_watch_is_left():
    return not [each for each in threading.enumerate() if each.name == "whence-hook"]


@pytest.fixture
def program(tmp_path):
    """How to write a program and get the command that runs it on the folder of notes."""
    notes = tmp_path / "notes"
    notes.mkdir()

    def written(*parts: str) -> tuple[str, ...]:
        path = tmp_path / f"program_{len(list(tmp_path.iterdir()))}.py"
        path.write_text("".join(map(textwrap.dedent, parts)), encoding="utf-8")
        return (sys.executable, "-I", str(path), str(notes))

    return written


@pytest.fixture
def notes(tmp_path, program):
    """What the programs noted, as soon as there are so many."""

    def read(count: int) -> list[dict]:
        folder = tmp_path / "notes"
        eventually(lambda: len(list(folder.glob("*.note"))) >= count)
        return [json.loads(each.read_text(encoding="utf-8")) for each in folder.glob("*.note")]

    return read


@pytest.fixture
def hooked(tmp_path):
    """How to open a memory with a hook, without models, and call its tools."""
    opened = []

    def open_with(*command: str) -> Facts:
        settings = Settings(home=tmp_path, store=f"sqlite:///{tmp_path / 'w.db'}", decision_hook=command)
        opened.append(open_memory(settings, models=NoModels()))
        return Facts(opened[-1])

    yield open_with
    for each in opened:
        each.close()


@pytest.fixture
def told(clock):
    """The tools of all families, and the decisions that the hook was called with so far."""
    called: list = []
    store = open_store("sqlite:///:memory:", tenant="local", clock=clock)
    whence = Whence(store, NoModels(), clock, after_decision=called.append)
    yield Facts(whence), called
    whence.close()


def record(tools, subject="database", decision="Use SQLite", **more):
    asked = {"action": "record", "subject": subject, "decision": decision, **more}
    return tools.ask("decision_memory", **asked)["id"]


# -- what the command gets


@pytest.mark.promise("004-011", "004-012", "004-013")
def test_the_command_gets_the_decision_as_it_is_listed_with_workspace_text_and_domain(hooked, program, notes):
    tools = hooked(*program(KEEPS_NOTES))
    record(
        tools,
        "데이터베이스 'one' $HOME",
        'Use "SQLite"\nfor 100%; rm -rf /',
        rationale="서버가 없다",
        alternatives_rejected=["PostgreSQL"],
        context_tags=["storage"],
        confidence=0.5,
    )
    (listed,) = tools.ask("decision_memory", action="list")["decisions"]
    (note,) = notes(1)
    assert note["told"] == {
        **listed,
        "workspace": "project",
        "text": "데이터베이스 'one' $HOME: Use \"SQLite\"\nfor 100%; rm -rf /",
        "domain": "software-engineering",
    }


@pytest.mark.promise("004-013")
def test_the_command_is_run_without_a_shell_in_a_session_of_its_own(hooked, program, notes, tmp_path):
    odd = ["a b", "$(touch ran)", "; touch ran", "`touch ran`", "*", "%PATH%", '"', "", "한글"]
    record(hooked(*program(KEEPS_NOTES), *odd))
    (note,) = notes(1)
    assert note["arguments"] == odd
    assert note["sessions"][0] == note["pid"]
    assert os.getsid(0) not in note["sessions"], "nor does Ctrl-C end its watch before it"
    assert not list(Path.cwd().glob("ran*"))
    assert not list(tmp_path.rglob("ran"))


def test_shell_words_are_no_command(hooked):
    tools = hooked("touch ran; true")
    assert record(tools) == 1
    assert tools.ask("decision_memory", action="list")["count"] == 1


DECISION = {"id": 1, "subject": "s", "decision": "d", "decision_type": "tech_choice", "rationale": None}


@pytest.mark.promise("004-012")
def test_the_text_holds_the_first_500_and_2000_characters_and_no_nul():
    subject, decision = "s" * 499 + "\0" + "never", "한" * 1999 + "\0" + "never"
    sent = message({**DECISION, "subject": subject, "decision": decision})
    assert sent["text"] == f"{'s' * 499}: {'한' * 1999}"
    assert (sent["subject"], sent["decision"]) == (subject, decision), "the fields themselves are whole"
    assert message(DECISION)["text"] == "s: d"


@pytest.mark.promise("004-012")
@given(st.text(alphabet="ab\0 한", max_size=600), st.text(alphabet="ab\0:", max_size=2100))
def test_any_text_is_cut_first_and_cleaned_then(subject, decision):
    sent = message({**DECISION, "subject": subject, "decision": decision})
    cut = f"{subject[:500]}: {decision[:2000]}".replace("\0", "")
    assert sent["text"] == cut
    assert (sent["subject"], sent["decision"]) == (subject, decision)


@pytest.mark.promise("004-013")
@pytest.mark.parametrize("kind", ["tech_choice", "architecture", "workflow", "pattern", "dependency"])
def test_the_domain_is_workflow_for_that_type_and_else_software_engineering(kind):
    domain = "workflow" if kind == "workflow" else "software-engineering"
    assert message({**DECISION, "decision_type": kind})["domain"] == domain


# -- which decisions it gets


@pytest.mark.promise("004-011")
def test_every_family_that_makes_a_decision_calls_the_hook_once_for_it(told):
    tools, called = told
    record(tools)
    tools.decide("Use JWT", topic="auth", supersedes=called[0].id, reasons=["a"], consequences=["b"])
    old = tools.decide("Use sessions", topic="login")
    tools.ask("evolve/supersede", old_id=old, decision="Use keys", reasoning="Short")
    fact = tools.store("The login page is slow")
    tools.ask("evolve/supersede", old_id=fact, decision="Cache the login page", reasoning="It is slow")
    record(tools, workspace="global")
    assert [(each.number, each.content) for each in called] == [
        (1, "Use SQLite"),
        (2, "Use JWT"),
        (3, "Use sessions"),
        (4, "Use keys"),
        (5, "Cache the login page"),
        (6, "Use SQLite"),
    ]
    assert all(each.type == "decision" for each in called)


@pytest.mark.promise("004-011")
def test_nothing_else_calls_it(told, clock):
    tools, called = told
    here = tools.of(may_repeat=True)
    first, second = record(here), record(here, "cache", "LRU")
    ids = [each.id for each in called]
    called.clear()
    assert record(here) == first, "a retry"
    tools.ask("decision_memory", action="update", id=first, new_decision="Use DuckDB")
    tools.ask("decision_memory", action="supersede", old_id=first, new_id=second)
    tools.ask("decision_memory", action="check_alignment", technology="LRU")
    tools.ask("evolve/outcome", decision_id=ids[1], outcome="FAILED", reason="Too small")
    tools.learn("A lesson")
    tools.store("A fact")
    tools.ask("save/checkpoint", summary="It works", implements=ids)
    tools.refused("decision_memory", action="record", subject="x", decision="y", confidence=2)
    unknown = {"topic": "x", "decision": "y", "reasoning": "z", "supersedes": "decision_nobody"}
    tools.refused("save/decision", **unknown)
    tools.whence.archive(ids[1])
    tools.whence.restore(ids[1])
    third = tools.store("Another fact")
    tools.ask("evolve/supersede", old_id=ids[1], new_id=third)
    assert called == []
    store = open_store("sqlite:///:memory:", tenant="local", clock=clock)
    other = Whence(store, NoModels(), clock, after_decision=called.append)
    assert import_lines(other, export_lines(tools.whence)).memories >= 2
    assert called == [], "an import brings what was decided before"
    other.close()


@pytest.mark.promise("004-011")
def test_the_decision_is_committed_before_the_hook_is_called(tmp_path, clock):
    url = f"sqlite:///{tmp_path / 'w.db'}"
    seen = []

    def look(memory):
        other = open_store(url, tenant="local", clock=clock)  # as another process sees it
        seen.extend(other.memories([memory.id]))
        other.close()

    whence = Whence(open_store(url, tenant="local", clock=clock), NoModels(), clock, after_decision=look)
    record(Facts(whence))
    whence.close()
    assert [each.content for each in seen] == ["Use SQLite"]


def test_without_a_command_nothing_is_called_and_nothing_said(hooked, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)  # whoever starts a process fails
    tools = hooked()
    outcome = tools.call("decision_memory", action="record", subject="x", decision="y")
    assert outcome.structured == {"success": True, "id": 1, "message": "Decision recorded: x"}
    assert not any("hook" in each for each in outcome.notices)


# -- what goes wrong with it


@pytest.mark.promise("004-016")
@pytest.mark.parametrize(
    "command",
    [
        ("/nowhere/at/all",),
        ("/",),
        ("false",),
        (sys.executable, "-c", "raise SystemExit('no')"),
        (sys.executable, "-c", "import os; os.close(0); os.kill(os.getpid(), 9)"),
    ],
    ids=["missing", "folder", "fails", "throws", "dies"],
)
def test_a_bad_command_touches_neither_reply_nor_record_nor_the_next_one(hooked, command):
    wanted = hooked().call("decision_memory", action="record", subject="x", decision="y")
    tools = hooked(*command)
    outcome = tools.call("decision_memory", action="record", subject="x", decision="y")
    assert outcome.structured == {**wanted.structured, "id": 2}
    assert (outcome.notices, outcome.text) == (wanted.notices, wanted.text.replace("id 1", "id 2"))
    assert record(tools) == 3
    assert tools.ask("decision_memory", action="list")["count"] == 3
    eventually(no_watch_is_left)


@pytest.mark.promise("004-016")
def test_one_that_hangs_touches_nothing_either(told):
    tools, _ = told
    hangs = [sys.executable, "-c", "import time; time.sleep(600)"]
    tools.whence.after_decision = lambda memory: start(hangs, {"id": memory.number}, patience=0.5)
    assert [record(tools) for _ in range(3)] == [1, 2, 3]
    assert not no_watch_is_left(), "all three were answered while it hung"
    assert tools.ask("decision_memory", action="list")["count"] == 3
    eventually(no_watch_is_left)


@pytest.mark.promise("004-016")
def test_a_hook_that_cannot_be_told_or_started_is_logged_and_the_record_stands(told, caplog):
    tools, _ = told

    def tell(memory):
        raise RuntimeError(memory.content)

    tools.whence.after_decision = decision_hook(["true"], tell)
    assert record(tools) == 1
    tools.whence.after_decision = decision_hook(["a\0b"], lambda _: DECISION)
    assert record(tools) == 2
    assert [each.getMessage() for each in caplog.records] == ["The decision hook could not be started"] * 2
    assert tools.ask("decision_memory", action="list")["count"] == 2


@pytest.mark.promise("004-015")
def test_the_reply_does_not_wait_for_the_command(hooked, program, notes, tmp_path):
    tools = hooked(*program(WAITS_FIRST, KEEPS_NOTES))
    assert record(tools) == 1
    assert record(tools, "cache", "LRU") == 2
    assert not list((tmp_path / "notes").iterdir()), "both wait for a sign that comes after the replies"
    (tmp_path / "notes" / "go").touch()
    assert sorted(each["told"]["id"] for each in notes(2)) == [1, 2]


@contextmanager
def lifeline(path):
    """Lend a pipe that everyone who opens it holds: it ends when the last of them is dead."""
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield reading
    finally:
        os.close(reading)


def heard(reading):
    """Return what the holders of the pipe wrote; nothing once all of them are dead."""
    ready, _, _ = select.select([reading], [], [], BOUND)
    assert ready, "the processes live on"
    return os.read(reading, 100)


HANGS_WITH_A_CHILD = """
    import os, signal, sys, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.fork()
    line = os.open(sys.argv[2], os.O_WRONLY)
    os.write(line, b"x")
    time.sleep(600)
"""


@pytest.mark.promise("004-015")
def test_a_command_that_hangs_is_ended_after_its_time_with_what_it_started(program, tmp_path):
    assert PATIENCE == 30
    line = tmp_path / "line"
    with lifeline(line) as reading:
        start([*program(HANGS_WITH_A_CHILD), str(line)], DECISION, patience=2)
        alive = b""
        while alive != b"xx":  # it and its child
            part = heard(reading)
            assert part, "ended before its time"
            alive += part
        assert heard(reading) == b""
    eventually(no_watch_is_left)


def test_the_watch_gives_the_end_of_the_command_and_says_when_it_had_to_end_it():
    assert watch(BOUND, [sys.executable, "-c", "raise SystemExit(7)"]) == 7
    assert watch(0.1, [sys.executable, "-c", "import time; time.sleep(600)"]) == 124


@pytest.mark.promise("004-015")
def test_the_command_goes_on_when_the_program_that_started_it_has_ended(program, notes, tmp_path):
    command = program(WAITS_FIRST, KEEPS_NOTES)
    code = f"from whence.hooks import start; start({list(command)!r}, {{'id': 7}})"
    done = subprocess.run([sys.executable, "-c", code], timeout=BOUND, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not list((tmp_path / "notes").iterdir())
    (tmp_path / "notes" / "go").touch()
    assert [each["told"] for each in notes(1)] == [{"id": 7}]


# -- the setting


@pytest.mark.parametrize("value", ['["note", "--json"]', '["note"]'])
def test_the_command_is_a_list_in_the_environment_and_in_the_file(tmp_path, value):
    wanted = tuple(json.loads(value))
    home = {"WHENCE_HOME": str(tmp_path)}
    assert load_settings({**home, "WHENCE_DECISION_HOOK": value}).decision_hook == wanted
    (tmp_path / "config.toml").write_text(f"decision_hook = {value}\n", encoding="utf-8")
    assert load_settings(home).decision_hook == wanted


@pytest.mark.parametrize("value", ["note --json", '{"a": 1}', '["note", 5]', '["", "x"]', "[", '"note"'])
def test_what_is_no_list_of_texts_is_refused_with_an_example(tmp_path, value):
    with pytest.raises(InvalidParameter) as refused:
        load_settings({"WHENCE_HOME": str(tmp_path), "WHENCE_DECISION_HOOK": value})
    assert refused.value.message == "The setting decision_hook must be a list of texts"
    assert refused.value.hint
