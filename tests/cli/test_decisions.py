"""Do decisions work from a shell: recorded, listed, put away, and told to the user's own command?"""

from __future__ import annotations

import json
import os
import sys
import threading
import time

import pytest

WAITS_AND_NOTES = """
import os, sys, time
while not os.path.exists(sys.argv[1] + ".go"):
    time.sleep(0.01)
told = sys.stdin.buffer.read()
with open(sys.argv[1] + ".half", "wb") as out:
    out.write(told)
os.rename(sys.argv[1] + ".half", sys.argv[1])
"""


def ask(shell, **arguments):
    done = shell("call", "decision_memory", json.dumps(arguments))
    assert done.code == 0, done.err
    return done.json


def memory_id(shell):
    """Return the id of the one decision there is."""
    return shell("call", "search/recent").json["memories"][0]["id"]


@pytest.mark.promise("004-008", "004-050")
def test_a_call_prints_the_fixed_reply_and_the_rest_on_standard_error(shell):
    told = {"action": "record", "subject": "db", "decision": "Use SQLite with AKIAIOSFODNN7EXAMPLE"}
    done = shell("call", "decision_memory", json.dumps(told))
    assert (done.code, done.json) == (0, {"success": True, "id": 1, "message": "Decision recorded: db"})
    assert "whence: Masked before storing: AWS key" in done.err
    wrong = shell("call", "decision_memory", '{"action": "list", "workspace": "defalt"}')
    assert (wrong.code, wrong.json) == (1, {"error": 'Workspace "defalt" not found'})
    assert "Did you mean: default?" in wrong.err
    assert shell("call", "decision_memory").json == {"error": "Unknown action: undefined"}


@pytest.mark.promise("004-001", "004-020")
def test_what_is_archived_leaves_the_register_until_it_is_asked_for_or_restored(shell):
    ask(shell, action="record", subject="db", decision="Use SQLite", alternatives_rejected=["MySQL"])
    kept = memory_id(shell)
    assert shell("archive", kept).code == 0
    assert ask(shell, action="list")["decisions"] == []
    (listed,) = ask(shell, action="list", filter_status="archived")["decisions"]
    assert (listed["id"], listed["status"]) == (1, "archived")
    assert ask(shell, action="check_alignment", technology="MySQL")["aligned"] is True
    assert shell("archive", kept, "--restore").code == 0
    assert ask(shell, action="list")["decisions"][0]["status"] == "active"
    assert ask(shell, action="check_alignment", technology="MySQL")["aligned"] is False


@pytest.mark.skipif(os.name != "posix", reason="the command of this test is POSIX's")
@pytest.mark.promise("004-011", "004-015")
def test_a_call_is_done_before_the_users_command_which_then_goes_on_alone(shell, tmp_path):
    note, script = tmp_path / "note", tmp_path / "command.py"
    script.write_text(WAITS_AND_NOTES, encoding="utf-8")
    hook = json.dumps([sys.executable, "-I", str(script), str(note)])
    told = {"action": "record", "subject": "db", "decision": "Use SQLite", "decision_type": "workflow"}
    done = shell.program("call", "decision_memory", json.dumps(told), WHENCE_DECISION_HOOK=hook)
    assert (done.code, json.loads(done.out)["id"]) == (0, 1)
    assert not note.exists()
    (tmp_path / "note.go").touch()
    until, pause = time.monotonic() + 30, threading.Event()
    while not note.exists():
        assert time.monotonic() < until, "the command never came to its end"
        pause.wait(0.01)
    (listed,) = ask(shell, action="list")["decisions"]
    beside = {"workspace": "default", "text": "db: Use SQLite", "domain": "workflow"}
    assert json.loads(note.read_bytes()) == {**listed, **beside}


@pytest.mark.parametrize("command", ["touch ran", "{}", '["a", 5]'])
def test_a_command_that_is_no_list_is_refused_before_anything_is_stored(shell, monkeypatch, command):
    monkeypatch.setenv("WHENCE_DECISION_HOOK", command)
    told = '{"action": "record", "subject": "x", "decision": "y"}'
    said = shell.refused("call", "decision_memory", told)
    assert "The setting decision_hook must be a list of texts" in said
    monkeypatch.delenv("WHENCE_DECISION_HOOK")
    assert ask(shell, action="list")["count"] == 0
