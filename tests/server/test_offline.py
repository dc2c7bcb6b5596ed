"""Does everything work with the network cut?"""

from __future__ import annotations

import subprocess
import sys

import pytest

# Python runs this file at every start of every process below: no socket gets out, and who tried is noted.
GUARD = """
import os, socket
def cut(method):
    def refuse(self, address, *rest):
        if self.family == getattr(socket, "AF_UNIX", None):
            return method(self, address, *rest)
        with open(os.environ["ATTEMPTS"], "a") as attempts:
            attempts.write(f"{address}\\n")
        raise OSError("the network is cut")
    return refuse
for name in ("connect", "connect_ex", "sendto"):
    setattr(socket.socket, name, cut(getattr(socket.socket, name)))
asked = socket.getaddrinfo
def nobody(host, *rest, **more):
    with open(os.environ["ATTEMPTS"], "a") as attempts:
        attempts.write(f"{host}\\n")
    raise OSError("the network is cut")
socket.getaddrinfo = nobody
"""


@pytest.fixture
def cut_off(home):
    """A user with the model, whose processes cannot open a connection."""
    guard = home.folder / "guard"
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(GUARD)
    home.environment |= {"PYTHONPATH": str(guard), "ATTEMPTS": str(home.folder / "attempts")}
    return home


def attempts(home):
    noted = home.folder / "attempts"
    return noted.read_text() if noted.exists() else ""


def test_the_guard_notes_and_refuses_a_connection(cut_off):
    asking = "import urllib.request; urllib.request.urlopen('http://memory.example/')"
    done = subprocess.run(
        [sys.executable, "-c", asking], env=cut_off.env(), capture_output=True, text=True, check=False
    )
    assert "the network is cut" in done.stderr
    assert attempts(cut_off) == "memory.example\n"


@pytest.mark.slow
@pytest.mark.promise("003-116")
def test_a_whole_session_in_both_scripts_runs_and_nothing_so_much_as_tries_to_connect(cut_off, connect):
    with connect(cut_off, mode="legacy") as client:
        seattle = client.ask("store_memory", content="User lives in Seattle")
        assert "notices" not in seattle
        austin = client.ask("store_memory", content="User moved to Austin")
        client.ask(
            "supersede_memory",
            old_memory_id=seattle["created"]["id"],
            new_memory_id=austin["created"]["id"],
        )
        assert client.found("Where is the user's home town?") == ["User moved to Austin"]
        client.ask("store_memory", content="사용자는 매일 아침 커피를 마신다")
        answer = client.ask("search_memories", query="음료", limit=1)
        assert [each["content"] for each in answer["memories"]] == ["사용자는 매일 아침 커피를 마신다"]
    assert cut_off.run("search", "home town").returncode == 0
    assert cut_off.run("doctor").returncode == 0
    assert attempts(cut_off) == ""
