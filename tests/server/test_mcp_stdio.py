"""Does `whence mcp` keep the promises of document 001 to a real client, in both eras of the protocol?"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time

import pytest

MODERN, LEGACY = "auto", "legacy"  # what the SDK's client calls them: discover, or shake hands
ERAS = pytest.mark.parametrize("mode", [MODERN, LEGACY])
NAMES = ["store_memory", "supersede_memory", "search_memories", "list_recent_memories"]
CONFLICT = (
    'Call supersede_memory("{old}", "{new}") to mark the old memory as outdated. '
    "If both still hold, keep both."
)


@pytest.fixture(scope="module", params=[MODERN, LEGACY])
def session(request, shared_home, connect):
    """One long conversation per era, in a workspace of its own."""
    with connect(shared_home, "--workspace", f"shared {request.param}", mode=request.param) as one:
        yield one


@pytest.fixture(scope="module")
def tools(session):
    return {each.name: each for each in session.tools().tools}


# -- what a client sees


@pytest.mark.promise("001-001")
def test_the_list_holds_exactly_the_four_tools_in_their_order(session):
    assert [each.name for each in session.tools().tools] == NAMES


def test_the_client_speaks_the_era_that_was_asked_for(session):
    spoken = {MODERN: "2026-07-28", LEGACY: "2025-11-25"}
    assert session.client.protocol_version == spoken[session.client.mode]


def test_the_server_says_who_it_is_and_what_it_can_do(session):
    assert session.client.server_info.name == "whence"
    assert session.client.server_info.version
    assert session.client.server_capabilities.tools is not None


def test_a_client_that_knows_the_server_calls_at_once_without_asking_what_it_is(bare, connect):
    with connect(bare, mode="2026-07-28") as client:
        assert client.ask("list_recent_memories") == {"memories": []}


def test_the_list_tells_a_modern_client_how_long_it_stays_fresh(session):
    listed = session.tools()
    if session.client.mode == MODERN:
        assert listed.ttl_ms == 3_600_000
        assert listed.cache_scope == "public"
    assert listed.next_cursor is None


@pytest.mark.promise("001-003")
@pytest.mark.parametrize(
    ("tool", "required", "properties"),
    [
        (
            "store_memory",
            ["content"],
            {
                "content": {"type": "string"},
                "confidence": {"type": "number", "minimum": 0, "maximum": 1, "default": 1.0},
                "source": {"type": "string", "enum": ["explicit", "extracted"], "default": "extracted"},
            },
        ),
        (
            "supersede_memory",
            ["old_memory_id", "new_memory_id"],
            {"old_memory_id": {"type": "string"}, "new_memory_id": {"type": "string"}},
        ),
        (
            "search_memories",
            ["query"],
            {
                "query": {"type": "string"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5},
            },
        ),
        (
            "list_recent_memories",
            [],
            {"limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10}},
        ),
    ],
)
def test_the_list_publishes_the_documents_parameters(tools, tool, required, properties):
    schema = tools[tool].input_schema
    assert schema["type"] == "object"
    assert schema.get("required", []) == required
    for name, expected in properties.items():
        published = schema["properties"][name]
        assert {key: published.get(key) for key in expected} == expected
        assert published["description"]
    common = {"workspace", "session"}
    assert common <= set(schema["properties"])
    assert schema["additionalProperties"] is False


@pytest.mark.promise("001-003")
@pytest.mark.parametrize(
    ("tool", "fields"),
    [
        ("store_memory", {"created": "object", "similar": "array", "action_required": "string"}),
        ("supersede_memory", {"success": "boolean", "message": "string"}),
        ("search_memories", {"memories": "array"}),
        ("list_recent_memories", {"memories": "array"}),
    ],
)
def test_the_list_publishes_a_schema_of_the_returned_fields(tools, tool, fields):
    schema = tools[tool].output_schema
    assert set(fields) <= set(schema["properties"])
    assert set(schema["required"]) == set(fields)
    for name, kind in fields.items():
        published = schema["properties"][name]
        if "$ref" in published:
            published = schema["$defs"][published["$ref"].rpartition("/")[2]]
        kinds = [published.get("type"), *(each["type"] for each in published.get("anyOf", []))]
        assert kind in kinds
    if tool != "supersede_memory":
        memory = schema["$defs"]["MemoryReply"]
        assert {"id", "content", "confidence", "source", "created_at", "updated_at", "accessed_at"} == set(
            memory["required"]
        )
        assert {"supersedes", "superseded_by", "relevance_score"} <= set(memory["properties"])


@pytest.mark.promise("001-004")
def test_the_descriptions_say_what_the_document_says(tools):
    store = tools["store_memory"].description
    assert "Always succeeds" in store
    assert "similar memories that might be outdated" in store
    assert "ALWAYS check the response for supersede suggestions" in store
    supersede = tools["supersede_memory"].description
    assert "Mark an old memory as outdated when replaced by newer information" in supersede
    assert "Call this when store_memory suggests it" in supersede
    assert "Automatically filters out superseded memories" in tools["search_memories"].description
    assert "Useful for reviewing what was just stored" in tools["list_recent_memories"].description
    assert (
        "a clear, standalone statement"
        in tools["store_memory"].input_schema["properties"]["content"]["description"]
    )


def test_every_tool_tells_what_it_may_do_to_the_memory(tools):
    for name, tool in tools.items():
        notes = tool.annotations
        assert notes.open_world_hint is False
        assert notes.destructive_hint is False
        assert notes.read_only_hint is (name in {"search_memories", "list_recent_memories"})
        assert tool.title
        assert notes.title == tool.title


def test_every_tool_carries_its_canonical_name_and_the_words_that_find_it(tools):
    for name, tool in tools.items():
        assert tool.meta["whence/canonical"] == name
        assert len(tool.meta["anthropic/searchHint"].split()) >= 4


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["store", "remember that..."], marks=pytest.mark.promise("001-029")),
        pytest.param(
            ["learn a new fact", "user", "preferences", "situation"], marks=pytest.mark.promise("001-030")
        ),
        pytest.param(["information changes", "i moved to..."], marks=pytest.mark.promise("001-031")),
        pytest.param(["success that shows a preference"], marks=pytest.mark.promise("001-032")),
        pytest.param(
            ["before personalised recommendations", "context from past conversations would help"],
            marks=pytest.mark.promise("001-033"),
        ),
        pytest.param(
            ["do you remember...", "past discussions", "before asking for something you may have been told"],
            marks=pytest.mark.promise("001-034"),
        ),
        pytest.param(
            ["action_required", "first review whether they truly conflict", "old location against a new"],
            marks=pytest.mark.promise("001-035"),
        ),
        pytest.param(
            ["outdated, call supersede_memory", "both hold, keep both"], marks=pytest.mark.promise("001-036")
        ),
        pytest.param(
            ["atomic memories, one fact each", "clear", "specific"], marks=pytest.mark.promise("001-037")
        ),
        pytest.param(
            ["context", "into the content", 'always "the user", or always "john"'],
            marks=pytest.mark.promise("001-038"),
        ),
    ],
)
def test_the_instructions_give_the_guideline(session, words):
    told = " ".join(session.client.instructions.lower().split())
    assert [each for each in words if each not in told] == []


def test_the_instructions_name_only_listed_tools(session, tools):
    named = set(re.findall(r"\b[a-z]+_memor(?:y|ies)\b", session.client.instructions))
    assert named <= set(tools)
    assert "store_memory" in named


# -- the conversation


@ERAS
@pytest.mark.promise("001-039", "001-014", "001-025")
def test_the_example_conversation_runs_from_end_to_end(shared_home, connect, mode):
    with connect(shared_home, "--workspace", f"example {mode}", mode=mode) as client:
        seattle = client.ask("store_memory", content="User lives in Seattle", confidence=0.9)["created"]
        remote = client.ask(
            "store_memory", content="User works remotely from home in Austin", confidence=0.9
        )["created"]
        told = client.call(
            "store_memory",
            {"content": "User moved to Austin last month", "confidence": 1.0, "source": "explicit"},
        )
        stored = told.structured_content
        austin = stored["created"]
        assert austin["content"] == "User moved to Austin last month"
        assert (austin["confidence"], austin["source"]) == (1.0, "explicit")
        assert seattle["id"] in [each["id"] for each in stored["similar"]]
        assert stored["action_required"] == CONFLICT.format(old=seattle["id"], new=austin["id"])
        assert stored["action_required"] in told.content[0].text

        old, new = re.findall(r'"([^"]+)"', stored["action_required"])
        assert client.ask("supersede_memory", old_memory_id=old, new_memory_id=new) == {
            "success": True,
            "message": f"Memory {old} marked as superseded by {new}",
        }
        answer = client.ask("search_memories", query="Where does the user live?", limit=3)["memories"]
        assert [each["id"] for each in answer] == [austin["id"], remote["id"]]
        assert seattle["id"] not in [
            each["id"] for each in client.ask("search_memories", query="User lives in Seattle")["memories"]
        ]


@pytest.mark.promise("001-002")
def test_what_one_conversation_stores_a_later_process_finds(home, connect):
    with connect(home) as first:
        kept = first.ask("store_memory", content="The user drinks oat milk in coffee")["created"]["id"]
    with connect(home, mode="legacy") as later:
        answer = later.ask("search_memories", query="what does the user take with an espresso?")
        assert [each["id"] for each in answer["memories"]] == [kept]


def test_two_conversations_at_once_see_each_others_memories_at_once(shared_home, connect):
    with (
        connect(shared_home, "--workspace", "at once") as one,
        connect(shared_home, "--workspace", "at once", mode="legacy") as other,
    ):
        one.ask("store_memory", content="The build server is called Hydra")
        assert other.found("what is the build server called?") == ["The build server is called Hydra"]
        other.ask("store_memory", content="The staging server is called Kraken")
        assert one.found("what is the staging server called?", limit=1) == [
            "The staging server is called Kraken"
        ]


def test_the_answer_stands_in_the_structure_and_in_the_text(session):
    result = session.call("store_memory", {"content": "The user's cat is called Miso"})
    assert result.structured_content["created"]["content"] == "The user's cat is called Miso"
    (block,) = result.content
    assert block.type == "text"
    assert "The user's cat is called Miso" in block.text
    assert result.structured_content["created"]["id"] in block.text


def test_an_error_has_the_familys_shape_and_is_marked_as_one(session):
    result = session.call("supersede_memory", {"old_memory_id": "mem_xyz789", "new_memory_id": "mem_1"})
    assert result.is_error
    error = result.structured_content["error"]
    assert (error["code"], error["message"]) == (
        "MEMORY_NOT_FOUND",
        "Memory with ID mem_xyz789 not found",
    )
    assert "Memory with ID mem_xyz789 not found" in result.content[0].text


def test_a_wrong_argument_is_answered_by_the_family_and_not_by_the_protocol(session):
    for arguments in (
        {},
        {"content": 5},
        {"content": "x", "confidence": 2},
        {"content": "x", "colour": "red"},
    ):
        assert session.refused("store_memory", **arguments)["code"] == "INVALID_PARAMETER"
    assert session.call("store_memory", None).structured_content["error"]["message"] == "content is required"


def test_an_unknown_tool_is_refused_with_the_names_there_are(session):
    result = session.call("remember_everything", {"content": "x"})
    assert result.is_error
    assert 'Unknown tool "remember_everything"' in result.content[0].text
    for name in NAMES:
        assert name in result.content[0].text


@pytest.mark.parametrize("name", ["list_recent_memories", "list/recent_memories", "list.recent.memories"])
def test_a_tool_is_called_by_its_slash_dot_or_underscore_name(session, name):
    assert "memories" in session.ask(name, limit=1)


@pytest.mark.promise("001-002")
def test_a_secret_is_masked_and_the_client_told_in_every_place(session):
    result = session.call("store_memory", {"content": "Deploy with AKIAIOSFODNN7EXAMPLE on Fridays"})
    assert "AKIA" not in result.model_dump_json()
    (notice,) = result.structured_content["notices"]
    assert notice.startswith("Masked before storing: AWS key")
    assert result.meta["whence/notices"] == [notice]
    assert notice in result.content[0].text


def test_an_answer_without_notices_has_no_such_key(session):
    result = session.call("list_recent_memories", {})
    assert "notices" not in result.structured_content
    assert not result.meta or "whence/notices" not in result.meta


# -- how fast


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "milliseconds"),
    [
        pytest.param("store_memory", 500, marks=pytest.mark.promise("001-050")),
        pytest.param("search_memories", 200, marks=pytest.mark.promise("001-051")),
        pytest.param("supersede_memory", 100, marks=pytest.mark.promise("001-052")),
        pytest.param("list_recent_memories", 100, marks=pytest.mark.promise("001-053")),
    ],
)
def test_half_of_all_calls_keep_the_documents_time(session, tool, milliseconds):
    words = ["The", "user", "reads", "a", "book", "about", "sailing", "on", "the", "river", "on", "Sundays"]
    made = [
        session.ask("store_memory", content=f"{' '.join(words[turn % 7 :])}, note {turn} of {tool}")
        for turn in range(21)
    ]
    ids = [each["created"]["id"] for each in made]
    arguments = {
        "store_memory": lambda turn: {"content": f"The user owns boat number {turn} and sails it on Sundays"},
        "search_memories": lambda turn: {"query": f"what does the user do on Sundays, note {turn}?"},
        "supersede_memory": lambda turn: {"old_memory_id": ids[turn], "new_memory_id": ids[turn + 1]},
        "list_recent_memories": lambda turn: {"limit": turn + 1},
    }[tool]
    taken = []
    for turn in range(20):
        started = time.perf_counter()
        session.ask(tool, **arguments(turn))
        taken.append((time.perf_counter() - started) * 1000)
    assert statistics.median(taken) < milliseconds, sorted(taken)


# -- sessions


@pytest.mark.slow
@pytest.mark.promise("002-002")
def test_the_clients_session_id_stands_in_the_history_without_the_model_passing_it(bare, connect):
    with connect(bare, CLAUDE_CODE_SESSION_ID="conversation-7") as client:
        plain = client.ask("store_memory", content="Ana likes tea")["created"]["id"]
        meta = client.call("store_memory", {"content": "Ben likes tea"}, {"whence/session": "from-meta"})
        named = client.call(
            "store_memory", {"content": "Cleo likes tea", "session": "named"}, {"whence/session": "from-meta"}
        )
    with connect(bare, mode="legacy") as client:
        nameless = [
            client.ask("store_memory", content=text)["created"]["id"] for text in ("Dan swims", "Eve swims")
        ]
    with connect(bare) as client:
        other_process = client.ask("store_memory", content="Finn swims")["created"]["id"]

    def author(memory_id):
        (created,) = bare.show(memory_id)["history"]
        return created

    assert author(plain)["session"] == "conversation-7"
    assert author(meta.structured_content["created"]["id"])["session"] == "from-meta"
    assert author(named.structured_content["created"]["id"])["session"] == "named"
    processes = [author(each)["session"] for each in [*nameless, other_process]]
    assert all(each.startswith("process_") for each in processes)
    assert processes[0] == processes[1] != processes[2]
    assert (author(plain)["client"], author(plain)["tool"]) == ("test-client 9.9", "store_memory")
    assert author(nameless[0])["client"] == "test-client 9.9"


@pytest.mark.promise("001-008")
def test_a_clients_retry_answers_with_the_first_and_another_call_makes_a_memory(session):
    seattle = session.ask("store_memory", content="Retried user lives in Oslo")["created"]["id"]
    asked = {"content": "Retried user moved to Bergen", "source": "explicit"}
    first = session.ask("store_memory", **asked)
    again = session.ask("store_memory", **asked)
    assert again["created"] == first["created"]
    assert first["action_required"] == CONFLICT.format(old=seattle, new=first["created"]["id"])
    assert again["action_required"] == first["action_required"]
    assert session.ask("store_memory", **asked, confidence=0.5)["created"]["id"] != first["created"]["id"]
    assert session.ask("store_memory", **asked, session="another")["created"]["id"] != first["created"]["id"]


@pytest.mark.slow
def test_the_same_words_in_a_new_process_are_a_new_memory_and_in_the_same_session_a_retry(bare, connect):
    with connect(bare) as first:
        one = first.ask("store_memory", content="Ana likes tea")["created"]["id"]
    with connect(bare) as second:
        assert second.ask("store_memory", content="Ana likes tea")["created"]["id"] != one
        named = second.ask("store_memory", content="Ana likes tea", session="s")["created"]["id"]
    with connect(bare, mode="legacy") as third:
        assert third.ask("store_memory", content="Ana likes tea", session="s")["created"]["id"] == named


# -- workspaces


def repository(folder, remote):
    if shutil.which("git") is None:
        pytest.skip("git is not installed here")
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    git(folder, "remote", "add", "origin", remote)
    git(folder, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "--allow-empty", "-m", "x")
    return folder


def git(folder, *arguments):
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.mark.slow
def test_two_projects_keep_their_memories_apart_and_clones_and_worktrees_share(bare, connect):
    ours = repository(bare.folder / "code" / "ours", "git@git.example:team/ours.git")
    theirs = repository(bare.folder / "code" / "theirs", "git@git.example:team/theirs.git")
    clone = repository(bare.folder / "again" / "other name", "https://git.example/Team/ours")
    tree = bare.folder / "tree"
    git(ours, "worktree", "add", "--quiet", str(tree), "-b", "side")
    deep = tree / "src" / "deep"
    deep.mkdir(parents=True)
    with connect(bare, cwd=ours) as client:
        kept = client.ask("store_memory", content="Our database is Postgres")["created"]["id"]
        client.ask("store_memory", content="The user likes databases", workspace="global")
    with connect(bare, cwd=theirs) as client:
        assert client.found("which database?") == ["The user likes databases"]
        assert "Our database is Postgres" in client.found("which database?", workspace="ours")
        assert len(client.found("which database?", workspace="*")) == 2
    for place in (clone, deep):
        with connect(bare, cwd=place, mode="legacy") as client:
            assert client.ask("list_recent_memories")["memories"][-1]["id"] == kept
    assert bare.show(kept)["workspace"] == "ours"


def test_the_clients_project_folder_goes_before_the_working_directory(bare, connect):
    ours = repository(bare.folder / "ours", "git@git.example:team/ours.git")
    theirs = repository(bare.folder / "theirs", "git@git.example:team/theirs.git")
    with connect(bare, cwd=theirs, CLAUDE_PROJECT_DIR=str(ours)) as client:
        kept = client.ask("store_memory", content="Our database is Postgres")["created"]["id"]
    assert bare.show(kept)["workspace"] == "ours"


def test_the_same_session_may_say_the_same_in_two_projects_of_one_name(bare, connect):
    one = repository(bare.folder / "a" / "app", "git@git.example:ana/app.git")
    two = repository(bare.folder / "b" / "app", "git@git.example:ben/app.git")
    kept = []
    for place in (one, two):
        with connect(bare, cwd=place, CLAUDE_CODE_SESSION_ID="same") as client:
            kept.append(client.ask("store_memory", content="The port is 8080")["created"]["id"])
    assert [bare.show(each)["workspace"] for each in kept] == ["app", "ben-app"]


def test_the_flag_goes_before_the_environment_and_both_before_the_project(bare, connect):
    ours = repository(bare.folder / "ours", "git@git.example:team/ours.git")
    with connect(bare, cwd=ours, WHENCE_WORKSPACE="chosen") as client:
        by_environment = client.ask("store_memory", content="Ana likes tea")["created"]["id"]
        by_meta = client.call("store_memory", {"content": "Ben likes tea"}, {"whence/workspace": "meta"})
        by_argument = client.ask("store_memory", content="Cleo likes tea", workspace="global")["created"][
            "id"
        ]
    with connect(bare, "--workspace", "flagged", cwd=ours, WHENCE_WORKSPACE="chosen") as client:
        by_flag = client.ask("store_memory", content="Ana likes tea")["created"]["id"]
    assert bare.show(by_environment)["workspace"] == "chosen"
    assert bare.show(by_meta.structured_content["created"]["id"])["workspace"] == "meta"
    assert bare.show(by_argument)["workspace"] == "global"
    assert bare.show(by_flag)["workspace"] == "flagged"


def test_outside_every_project_a_memory_goes_to_the_default_workspace(bare, connect):
    with connect(bare) as client:
        kept = client.ask("store_memory", content="Ana likes tea")["created"]["id"]
    assert bare.show(kept)["workspace"] == "default"


def test_a_mistyped_workspace_is_refused_with_the_near_names_and_founds_nothing(session):
    session.ask("store_memory", content="The port of the API is 8080")
    mine = session.client.mode
    for tool, arguments in (
        ("store_memory", {"content": "x"}),
        ("search_memories", {"query": "x"}),
        ("list_recent_memories", {}),
    ):
        for _ in range(2):
            error = session.refused(tool, workspace=f"sharde {mine}", **arguments)
            assert error["code"] == "INVALID_PARAMETER"
            assert error["message"] == f'Workspace "sharde {mine}" not found'
            assert f"shared {mine}" in error["did_you_mean"]


def test_a_memory_is_not_stored_in_all_workspaces_at_once(session):
    assert session.refused("store_memory", content="x", workspace="*")["code"] == "INVALID_PARAMETER"


# -- without a model


@ERAS
@pytest.mark.promise("001-049")
def test_without_a_model_a_save_succeeds_says_so_and_is_found_by_words(bare, connect, mode):
    with connect(bare, mode=mode) as client:
        result = client.call("store_memory", {"content": "The user plays the bassoon"})
        assert not result.is_error
        assert "EMBEDDING_ERROR" in result.structured_content["notices"][0]
        assert "EMBEDDING_ERROR" in result.content[0].text
        assert result.structured_content["created"]["labels"] == ["pending"]
        answer = client.ask("search_memories", query="bassoon")
        assert [each["content"] for each in answer["memories"]] == ["The user plays the bassoon"]
        assert "EMBEDDING_ERROR" in answer["notices"][0]


@pytest.mark.slow
@pytest.mark.promise("001-049")
def test_what_was_saved_without_a_model_is_found_by_meaning_once_there_is_one(bare, connect, model_home):
    with connect(bare) as client:
        client.ask("store_memory", content="The user plays the bassoon")
        assert client.found("which musical instrument?") == []
    shutil.copytree(model_home / "models", bare.whence_home / "models")
    with connect(bare) as client:
        deadline = time.monotonic() + 20
        while not client.found("which musical instrument?") and time.monotonic() < deadline:
            pass  # the background reads what waits
        answer = client.ask("search_memories", query="which musical instrument?")
        assert [each["content"] for each in answer["memories"]] == ["The user plays the bassoon"]
        assert "labels" not in answer["memories"][0]
        assert "notices" not in answer


# -- the pipe


@contextlib.contextmanager
def piped(home, *flags, **environment):
    """Start a `whence mcp` without any client's library between."""
    process = subprocess.Popen(
        [sys.executable, "-m", "whence", "mcp", *flags],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=home.env(**environment),
        cwd=home.folder,
        encoding="utf-8",
    )
    too_long = threading.Timer(60, process.kill)  # a line that never comes must not hold the tests
    with process:
        too_long.start()
        try:
            yield process
        finally:
            too_long.cancel()
            process.kill()


def spoken(home, requests, *flags, **environment):
    """Return what `whence mcp` writes until it has answered all these lines, and what it logs."""
    waiting = {told["id"] for told in map(tolerant, requests) if told.get("id") is not None}
    lines = []
    with piped(home, *flags, **environment) as process:
        process.stdin.write("".join(f"{line}\n" for line in requests))
        process.stdin.flush()
        while waiting:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            lines.append(line)
            waiting.discard(json.loads(line).get("id"))
        rest, log = process.communicate(timeout=30)
    return [*lines, *rest.splitlines()], log


def tolerant(line):
    try:
        return json.loads(line)
    except ValueError:
        return {}


def request(number, method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def handshake(number=0):
    client = {"name": "raw", "version": "1"}
    return [
        request(number, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ]


def test_standard_output_carries_the_protocol_and_nothing_else(bare):
    """A missing model, failing tools, a damaged database and garbage on the pipe: every line is JSON-RPC."""
    bare.whence_home.mkdir()
    (bare.whence_home / "broken.db").write_bytes(b"this is no database, " * 500)
    calls = [
        request(1, "tools/list"),
        request(2, "tools/call", name="store_memory", arguments={"content": "Ana likes tea"}),
        request(3, "tools/call", name="store_memory", arguments={"content": 5}),
        request(4, "tools/call", name="nonsense", arguments={}),
        "this is no JSON",
        request(5, "tools/call", name="search_memories", arguments={"query": "tea"}),
    ]
    for environment in ({}, {"WHENCE_STORE": f"sqlite:///{bare.whence_home / 'broken.db'}"}):
        lines, log = spoken(bare, [*handshake(), *calls], **environment)
        answers = [json.loads(line) for line in lines]
        assert all(each["jsonrpc"] == "2.0" for each in answers)
        by_id = {each["id"]: each for each in answers if "id" in each}
        failing = "WHENCE_STORE" in environment
        assert bool(by_id[2]["result"].get("isError")) is failing
        assert by_id[3]["result"]["isError"] is True
        assert by_id[4]["result"]["isError"] is True
        assert "Traceback" not in log
        if failing:
            error = by_id[5]["result"]["structuredContent"]["error"]
            assert error["code"] == "STORAGE_ERROR"
            assert "is damaged or no SQLite file" in error["message"]


def test_half_a_surrogate_on_the_pipe_stores_nothing_and_stops_nothing(bare):
    # The SDK drops such a line before any tool sees it; its id cannot be read, so nobody is answered.
    calls = [
        request(None, "tools/call", name="store_memory", arguments={"content": "half \ud800 a pair"}),
        request(6, "tools/call", name="list_recent_memories", arguments={}),
    ]
    lines, _ = spoken(bare, [*handshake(), *calls])
    by_id = {each["id"]: each for each in map(json.loads, lines)}
    assert by_id[6]["result"]["structuredContent"] == {"memories": []}


def test_a_server_with_a_wrong_flag_ends_with_one_sentence_and_a_silent_standard_output(bare):
    done = bare.run("mcp", "--tools", "nonsense")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert 'whence: "nonsense" is no tool family' in done.stderr


def test_the_server_ends_when_its_client_hangs_up(bare):
    with piped(bare) as process:
        assert process.communicate("", timeout=30) == ("", "")
        assert process.returncode == 0


@pytest.mark.slow
@pytest.mark.promise("001-056")
def test_a_killed_server_leaves_whole_memories_and_keeps_every_acknowledged_one(bare):
    calls = [
        request(number, "tools/call", name="store_memory", arguments={"content": f"Fact number {number}"})
        for number in range(1, 201)
    ]
    with piped(bare) as server:
        server.stdin.write("".join(f"{line}\n" for line in [*handshake(), *calls]))
        server.stdin.flush()
        acknowledged = []
        while len(acknowledged) < 20:
            answer = json.loads(server.stdout.readline())
            if answer["id"]:
                acknowledged.append(answer["result"]["structuredContent"]["created"]["id"])
        server.kill()
    exported = [json.loads(line) for line in bare.run("export").stdout.splitlines()]
    kept = [each["id"] for each in exported if each["kind"] == "memory"]
    told = [each["memory_id"] for each in exported if each["kind"] == "event"]
    assert set(acknowledged) <= set(kept)
    assert sorted(kept) == sorted(told)
    doctor = json.loads(bare.run("doctor", "--json").stdout)
    assert doctor["integrity"] == "ok"
    found = json.loads(bare.run("search", "fact number", "--limit", "20", "--json").stdout)
    assert len(found["memories"]) == 20


# -- names with a slash


def test_slash_names_are_listed_on_request_and_change_nothing_without_a_slash(bare, connect):
    with connect(bare, "--tool-names", "slash") as client:
        assert [each.name for each in client.tools().tools] == NAMES
