"""Does `whence serve` answer real clients over HTTP, and nobody else?"""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass

import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client

MODERN, LEGACY = "auto", "legacy"  # what the SDK's client calls them: discover, or shake hands
ERAS = pytest.mark.parametrize("mode", [MODERN, LEGACY])
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@dataclass
class Served:
    """A `whence serve` under way."""

    url: str
    process: subprocess.Popen
    home: object


@contextlib.contextmanager
def serving(home, *flags, cwd=None, **environment):
    """Start a server on a port of the system's choice and stop it in the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "whence", "serve", "--port", "0", *flags],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=home.env(**environment),
        cwd=cwd or home.folder,
        encoding="utf-8",
    )
    with process:
        try:
            # The port is open before it is told, so that nobody has to wait.
            first = process.stderr.readline()
            told = re.search(r"http://[^ ]+/mcp", first)
            assert told, first + process.stderr.read()
            yield Served(told.group(), process, home)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def server(shared_home):
    with serving(shared_home, "--tools", "facts") as served:
        yield served


@contextlib.asynccontextmanager
async def over(url, **headers):
    """Return a transport that sends these headers with every request."""
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http_client,
        streamable_http_client(url, http_client=http_client) as streams,
    ):
        yield streams


def http(url, *, body=None, **headers):
    """Return status and body of one plain request."""
    asked = urllib.request.Request(  # noqa: S310  a loopback address
        url, data=None if body is None else json.dumps(body).encode(), headers=headers
    )
    try:
        with urllib.request.urlopen(asked, timeout=30) as answer:  # noqa: S310  a loopback address
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}


def test_the_health_check_tells_the_version_and_that_the_memory_answers(server):
    status, body = http(server.url.replace("/mcp", "/healthz"))
    assert status == 200
    told = json.loads(body)
    assert told["status"] == "ok"
    assert told["version"] in server.home.run("version").stdout


def test_the_health_check_fails_when_the_memory_cannot_be_opened(bare):
    bare.whence_home.mkdir()
    (bare.whence_home / "whence.db").write_bytes(b"this is no database, " * 500)
    with serving(bare) as broken:
        status, body = http(broken.url.replace("/mcp", "/healthz"))
        assert status == 503
        assert "is damaged or no SQLite file" in json.loads(body)["message"]


@ERAS
def test_a_client_of_either_era_stores_and_finds(server, connect_http, mode):
    with connect_http(f"{server.url}?workspace=eras", mode) as client:
        assert [each.name for each in client.tools().tools] == [
            "store_memory",
            "supersede_memory",
            "search_memories",
            "list_recent_memories",
        ]
        assert "long-term memory" in client.client.instructions
        assert client.client.protocol_version == {MODERN: "2026-07-28", LEGACY: "2025-11-25"}[mode]
        kept = client.ask("store_memory", content=f"The {mode} client drinks rooibos")["created"]["id"]
        answer = client.ask("search_memories", query=f"what tea does the {mode} client drink?")
        assert kept in [each["id"] for each in answer["memories"]]
        assert client.refused("store_memory", content="x", confidence=7)["code"] == "INVALID_PARAMETER"


@ERAS
def test_a_server_that_was_told_nothing_lists_the_ten_intents_and_takes_a_slash(bare, connect_http, mode):
    with serving(bare) as served, connect_http(served.url, mode) as client:
        listed = [each.name for each in client.tools().tools]
        assert listed[:3] == ["save_decision", "save_checkpoint", "save_insight"]
        assert len(listed) == 10
        kept = client.ask("save/decision", topic="tea", decision="Rooibos", reasoning="No caffeine")[
            "created"
        ]
        assert client.ask("search/by_topic", topic="Tea")["current"]["id"] == kept["id"]


def test_the_address_and_the_header_name_the_workspace_and_the_address_wins(server, connect_http):
    with connect_http(f"{server.url}?workspace=by%20address", MODERN) as client:
        by_address = client.ask("store_memory", content="Ana likes tea")["created"]["id"]
        by_argument = client.ask("store_memory", content="Ana likes tea", workspace="global")["created"]["id"]
    header = {"x-whence-workspace": "by header"}
    with connect_http(over(server.url, **header), LEGACY) as client:
        by_header = client.ask("store_memory", content="Ben likes tea")["created"]["id"]
    with connect_http(over(f"{server.url}?workspace=by%20address", **header), LEGACY) as client:
        both = client.ask("store_memory", content="Cleo likes tea")["created"]["id"]
        assert client.found("who likes tea?", limit=20) != []
        assert "Ben likes tea" not in client.found("who likes tea?", limit=20)
    rooms = [server.home.show(each)["workspace"] for each in (by_address, by_argument, by_header, both)]
    assert rooms == ["by address", "global", "by header", "by address"]


def test_the_servers_own_folder_is_nobodys_workspace(bare, connect_http):
    project = bare.folder / "project"
    (project / ".git").mkdir(parents=True)
    (project / ".git" / "config").write_text('[remote "origin"]\n\turl = git@git.example:team/project.git\n')
    # Over stdio the same folder is the project: the check can find something.
    over_stdio = json.loads(bare.run("call", "store_memory", '{"content": "x"}', cwd=project).stdout)
    assert bare.show(over_stdio["created"]["id"])["workspace"] == "project"
    with (
        serving(bare, cwd=project, CLAUDE_PROJECT_DIR=str(project)) as served,
        connect_http(served.url, MODERN) as client,
    ):
        kept = client.ask("store_memory", content="Ana likes tea")["created"]["id"]
    assert bare.show(kept)["workspace"] == "default"


@pytest.mark.promise("002-002")
def test_a_legacy_connection_is_a_session_and_a_modern_one_has_none_unless_named(server, connect_http):
    with connect_http(f"{server.url}?workspace=sessions", LEGACY) as client:
        first = client.ask("store_memory", content="Ana likes tea")["created"]["id"]
        again = client.ask("store_memory", content="Ana likes tea")["created"]["id"]
    with connect_http(f"{server.url}?workspace=sessions", LEGACY) as client:
        other = client.ask("store_memory", content="Ana likes tea")["created"]["id"]
    with connect_http(f"{server.url}?workspace=sessions", MODERN) as client:
        modern = [client.ask("store_memory", content="Ana likes tea")["created"]["id"] for _ in range(2)]
        named = client.call("store_memory", {"content": "Ana likes tea"}, {"whence/session": "mine"})
    assert first == again  # a retry
    assert len({first, other, *modern}) == 4

    def session(memory_id):
        return server.home.show(memory_id)["history"][0].get("session")

    assert session(first)
    assert session(first) != session(other)
    assert [session(each) for each in modern] == [None, None]
    assert session(named.structured_content["created"]["id"]) == "mine"


def test_many_clients_at_once_lose_nothing(server, connect_http):
    def one(number):
        mode = (MODERN, LEGACY)[number % 2]
        with connect_http(f"{server.url}?workspace=crowd", mode) as client:
            return [
                client.ask("store_memory", content=f"Client {number} keeps secret number {turn}")["created"][
                    "id"
                ]
                for turn in range(5)
            ]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        kept = [each for ids in pool.map(one, range(4)) for each in ids]
    with connect_http(f"{server.url}?workspace=crowd", LEGACY) as client:
        listed = client.ask("list_recent_memories", limit=50)["memories"]
    assert set(kept) <= {each["id"] for each in listed}
    assert len(set(kept)) == 20


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1.evil.example:80"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:7433"}, 421),
    ],
)
def test_a_page_of_a_foreign_origin_or_name_is_refused(server, headers, status):
    assert http(server.url, body=INITIALIZE, **HEADERS, **headers)[0] == status


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "memory.example"])  # noqa: S104  what is refused
def test_another_address_than_this_machine_is_refused_in_one_sentence(bare, host):
    done = bare.run("serve", "--host", host, "--port", "0")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"whence: {host} is not this machine alone")
    assert "SSH tunnel" in done.stderr


@pytest.mark.parametrize("port", ["taken", "99999", "-1"])
def test_a_port_that_cannot_be_had_is_told_in_one_sentence(server, bare, port):
    port = server.url.split(":")[2].removesuffix("/mcp") if port == "taken" else port
    done = bare.run("serve", f"--port={port}")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"whence: Port {port} of 127.0.0.1 cannot be opened: ")
    assert "--port" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to answer")
@pytest.mark.parametrize("by", ["SIGTERM", "SIGINT"])
def test_a_stopped_server_ends_cleanly_and_keeps_what_was_stored(bare, connect_http, by):
    with serving(bare) as served:
        with connect_http(served.url, LEGACY) as client:
            kept = client.ask("store_memory", content="Ana likes tea")["created"]["id"]
            served.process.send_signal(getattr(signal, by))
            told = served.process.communicate(timeout=15)[1]
        assert served.process.returncode in {0, -signal.SIGTERM}
        assert "Traceback" not in told
        with pytest.raises(urllib.error.URLError):
            http(served.url.replace("/mcp", "/healthz"))
    assert not (bare.whence_home / "whence.db-wal").exists(), "the database was not closed"
    assert bare.show(kept)["content"] == "Ana likes tea"


def test_the_greeting_tells_each_client_how_to_connect(bare):
    with serving(bare) as served:
        served.process.kill()
        greeting = served.process.stderr.read()
    for line in ("claude mcp add --transport http", "codex mcp add", "gemini mcp add --transport http"):
        assert line in greeting
    assert greeting.count(served.url) == 3
