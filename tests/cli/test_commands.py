"""Does every command do its work, and can another command and another door read it back?"""

from __future__ import annotations

import os
import stat

import apsw
import pytest

from whence.version import __version__


def test_a_call_prints_the_structured_result_and_says_the_rest_on_standard_error(shell):
    done = shell("call", "store_memory", '{"content": "Ana likes tea", "confidence": 0.5}')
    assert done.code == 0
    assert done.json["created"]["content"] == "Ana likes tea"
    assert done.json["created"]["confidence"] == 0.5
    (notice,) = done.json["notices"]
    assert done.err == f"whence: {notice}\n"
    assert "EMBEDDING_ERROR" in notice


@pytest.mark.parametrize("name", ["list_recent_memories", "list/recent/memories", "list.recent.memories"])
def test_a_call_takes_every_spelling_of_a_tools_name_and_no_arguments_at_all(shell, name):
    assert shell("call", name).json == {"memories": []}
    assert shell("call", name, "{}", "--json").json == {"memories": []}


def test_a_call_reads_its_arguments_from_standard_input(shell):
    assert shell("call", "store_memory", "-", stdin='{"content": "한국어 🦜"}').json["created"][
        "content"
    ] == ("한국어 🦜")


@pytest.mark.promise("001-008")
def test_the_same_call_from_the_shell_twice_is_two_memories_and_in_a_named_session_one(shell, monkeypatch):
    first, second = shell.store("Ana likes tea"), shell.store("Ana likes tea")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "conversation-7")
    third, fourth = shell.store("Ana likes tea"), shell.store("Ana likes tea")
    assert third == fourth  # the client's own session: a retry
    assert len({first, second, third}) == 3
    assert shell.show(third)["history"][0]["session"] == "conversation-7"
    assert shell.show(first)["history"][0].get("session") is None
    named = shell.store("Ana likes tea", session="s")
    assert shell.store("Ana likes tea", session="s") == named


def test_a_search_tells_the_same_to_a_person_and_to_a_program(shell):
    tea, sugar = shell.store("Ana likes tea"), shell.store("Ana likes tea with sugar")
    told = shell("search", "sugar tea", "--json").json
    assert [each["id"] for each in told["memories"]] == [sugar, tea]
    plain = shell("search", "sugar tea").out
    assert plain.index(sugar) < plain.index(tea)
    assert "Ana likes tea with sugar" in plain
    assert shell.found("tea", "--limit", "1") == shell.found("tea")[:1]
    by_tool = shell("call", "search_memories", '{"query": "sugar tea"}').json
    assert [each["id"] for each in by_tool["memories"]] == [sugar, tea]


def test_a_search_that_finds_nothing_says_why_and_is_done(shell):
    shell.store("Ana likes tea")
    done = shell("search", "kubernetes")
    assert done.code == 0
    assert "Searched 1 memories" in done.out
    assert shell("search", "kubernetes", "--json").json["memories"] == []


def test_an_explained_search_shows_the_reasons(shell):
    shell.store("Ana likes tea")
    assert "words" in shell("search", "tea", "--explain").out
    assert shell("search", "tea", "--explain", "--json").json["memories"][0]["why"]


def test_a_search_reaches_back_in_time_everywhere_and_into_history(shell):
    old = shell.store("The port is 5432", valid_from="2020-01-01")
    new = shell.store("The port is 6432", valid_from="2024-01-01")
    elsewhere = shell("call", "store_memory", '{"content": "The port is 80"}', "--workspace", "other").json
    assert shell("supersede", old, new).code == 0
    assert shell.found("port") == [new]
    assert shell.found("port", "--as-of", "2022-06-01") == [old]
    assert shell.found("port", "--known-at", "2020-01-01") == []
    assert set(shell.found("port", "--history")) == {old, new}
    assert set(shell.found("port", "--everywhere")) == {new, elsewhere["created"]["id"]}
    assert shell.found("port", "--workspace", "other") == [elsewhere["created"]["id"]]
    assert shell("search", "port", "--history").out.count("[superseded") == 1
    assert shell.found("port", "--max-tokens", "1") == []


def test_showing_a_memory_tells_what_it_is_and_what_happened_to_it(shell):
    kept = shell.store("Ana likes tea", context="said at lunch", source="explicit")
    told = shell.show(kept)
    assert told["content"] == "Ana likes tea"
    assert (told["type"], told["workspace"], told["source"]) == ("fact", "default", "explicit")
    assert told["context"] == "said at lunch"
    (created,) = told["history"]
    assert (created["action"], created["client"], created["tool"]) == (
        "created",
        "command line",
        "store_memory",
    )
    plain = shell("show", kept).out
    assert plain.startswith("Ana likes tea\n")
    assert "created" in plain


def test_an_edit_is_found_at_once_and_its_earlier_words_stay_in_the_history(shell):
    kept = shell.store("Ana likes tee")
    done = shell("edit", kept, "--content", "Ana likes tea", "--confidence", "0.5", "--tags", "taste, ana,")
    assert (done.code, done.out) == (0, f"Edited {kept}: Ana likes tea\n")
    told = shell.show(kept)
    assert (told["content"], told["confidence"], told["tags"]) == ("Ana likes tea", 0.5, ["taste", "ana"])
    assert told["history"][1]["action"] == "edited"
    assert told["history"][1]["replaced"]["content"] == "Ana likes tee"
    assert shell.found("tea") == [kept]
    assert shell.found("tee") == []
    assert shell("edit", kept, "--topic", "drinks", "--json").json["id"] == kept
    assert shell.show(kept)["topic"] == "drinks"


def test_superseding_and_archiving_take_a_memory_out_of_every_answer(shell):
    old, new, other = (shell.store(f"The port is {number}") for number in (1, 2, 3))
    assert new in shell("supersede", old, new).out
    assert shell("archive", other).out.startswith("Archived")
    assert shell.found("port") == [new]
    assert shell.recent() == [new]
    assert shell.show(old)["superseded_by"] == new
    assert [each["action"] for each in shell.show(old)["history"]] == ["created", "superseded"]
    assert [each["action"] for each in shell.show(new)["history"]] == ["created", "replaced another"]
    assert shell.show(other)["labels"][0] == "archived"
    assert shell("archive", other, "--restore", "--json").json["id"] == other
    assert set(shell.recent()) == {new, other}
    assert [each["action"] for each in shell.show(other)["history"]] == ["created", "archived", "restored"]


def test_a_moved_memory_is_found_where_it_went(shell):
    kept = shell.store("Ana likes tea")
    assert shell("move", kept, "global").out == f"Moved to global: {kept}: Ana likes tea\n"
    assert shell.show(kept)["workspace"] == "global"
    assert shell.found("tea", "--workspace", "anywhere") == [kept]
    assert "not found" in shell.refused("move", kept, "nowhere")


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_an_export_comes_back_whole_in_another_store(shell, tmp_path, way):
    old, new = shell.store("The port is 5432 – né\u2028\u0085\u000b🦜"), shell.store("The port is 6432")
    archived = shell.store("The port is 1", workspace="global")
    shell("supersede", old, new)
    shell("archive", archived)
    shell("edit", new, "--content", "The port is 7432")
    before = shell.dump()
    other = ("--store", f"sqlite:///{tmp_path / 'other.db'}")
    if way == "file":
        told = shell("export", "all.jsonl")
        assert told.out == f"Exported {before.count(chr(10))} lines to all.jsonl.\n"
        assert shell.folder.joinpath("all.jsonl").read_text("utf-8") == before
        brought = shell("import", "all.jsonl", *other)
    else:
        brought = shell("import", "-", *other, stdin=before)
    assert brought.code == 0, brought.err
    assert "Imported 3 memories and 1 links; 0 known." in brought.out
    assert shell("export", *other).out == before
    assert shell.found("port", *other) == [new]
    again = shell("import", "-", "--json", *other, stdin=before).json
    assert (again["memories"], again["known"], again["links"]) == (0, 3, 0)


def test_an_export_to_a_file_is_private_tells_its_lines_and_leaves_nothing_else(shell):
    shell.store("Ana likes tea")
    told = shell("export", "all.jsonl", "--json").json
    assert told == {"lines": shell.dump().count("\n"), "file": "all.jsonl"}
    assert shell.files() == ["all.jsonl"]
    if os.name == "posix":
        assert stat.S_IMODE(shell.folder.joinpath("all.jsonl").stat().st_mode) == 0o600


def test_an_export_that_fails_half_way_keeps_the_earlier_file_and_leaves_no_half(shell):
    target = shell.folder / "all.jsonl"
    for number in range(2):
        shell.store(f"Fact {number}")
    shell("export", str(target))
    earlier = target.read_bytes()
    with apsw.Connection(str(shell.folder.parent / "whence" / "whence.db")) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("UPDATE memories SET metadata = 'broken' WHERE seq = 2")
    shell.store("Fact 3")
    assert shell("export", str(target)).code == 1
    assert target.read_bytes() == earlier
    assert shell.files() == ["all.jsonl"]


def test_the_doctor_reports_the_store_the_model_and_what_waits(shell):
    shell.store("Ana likes tea")
    told = shell("doctor", "--json").json
    assert told["version"] == __version__
    assert told["integrity"] == "ok"
    assert (told["memories"], told["waiting for a model"]) == ("1", "1")
    assert told["english model"] == "not installed"
    plain = shell("doctor")
    assert plain.code == 0
    assert "integrity" in plain.out


def test_the_model_is_installed_from_a_folder_and_its_state_told(shell, model_home):
    assert shell("model", "status").out.startswith("English model: not installed.")
    (folder,) = [each.parent for each in model_home.rglob("tokenizer.json")]
    done = shell("model", "install", "--from", str(folder), "--json")
    assert done.code == 0, done.err
    assert done.json["english"] == "installed and verified"
    assert shell("model", "status", "--json").json["english"] == "installed and verified"
    assert shell("call", "store_memory", '{"content": "Ana plays the bassoon"}').err == ""
    assert len(shell.found("which musical instrument?")) == 1


def test_the_version_is_printed_in_each_way(shell):
    assert shell("version").out == f"whence {__version__}\n"
    assert shell("version", "--json").json == {"version": __version__}
    assert shell("--version").out == f"whence {__version__}\n"


def test_every_command_that_prints_prints_json_on_request(shell):
    kept, other = shell.store("Ana likes tea"), shell.store("Ben likes tea")
    exported = shell.dump()
    for arguments in (
        ["search", "tea"],
        ["show", kept],
        ["edit", kept, "--content", "Ana likes coffee"],
        ["supersede", kept, other],
        ["archive", other],
        ["move", other, "global"],
        ["export", "all.jsonl"],
        ["import", "-"],
        ["doctor"],
        ["model", "status"],
        ["version"],
        ["call", "list_recent_memories"],
    ):
        done = shell(*arguments, "--json", stdin=exported)
        assert done.code == 0, (arguments, done.err)
        assert isinstance(done.json, dict), arguments


def test_store_and_workspace_are_taken_by_every_command(shell, tmp_path):
    elsewhere = tmp_path / "deep" / "other.db"
    url = f"sqlite:///{elsewhere}"
    kept = shell("call", "store_memory", '{"content": "x"}', "--store", url, "--workspace", "w").json
    assert shell("show", kept["created"]["id"], "--json", "--store", url).json["workspace"] == "w"
    assert shell.recent() == []
    if os.name == "posix":
        assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o600


def test_the_settings_file_says_the_same_and_the_environment_and_a_flag_go_before_it(
    shell, tmp_path, monkeypatch
):
    home = tmp_path / "whence"
    home.mkdir()
    home.joinpath("config.toml").write_text('workspace = "from file"\noffline = true\n', "utf-8")
    assert shell.show(shell.store("x"))["workspace"] == "from file"
    monkeypatch.setenv("WHENCE_WORKSPACE", "from environment")
    assert shell.show(shell.store("x"))["workspace"] == "from environment"
    told = shell("call", "store_memory", '{"content": "x"}', "--workspace", "from flag").json
    assert shell.show(told["created"]["id"])["workspace"] == "from flag"


HOSTILE = [
    "$(touch hacked) `touch hacked` ; touch hacked & | > hacked",
    "x'); DROP TABLE memories; --",
    '"AND OR NOT NEAR( * ^ : -',
    "-- --limit 0 -x",
    "w" * 9_000,
    "🦜👩‍👩‍👧 emoji",
    "مرحبا بالعالم \u202e",
    "tab\tnew\nline\r\n end",
    "\x1b[31mred\x1b[0m",
    "%s%n {0} \\u0000",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_comes_back_to_the_letter(shell, text):
    kept = shell.store(text)
    assert shell.show(kept)["content"] == text
    assert shell("search", "--json", "--", text).json["memories"][0]["id"] == kept
    assert shell("edit", kept, f"--content={text} again").code == 0
    assert shell.show(kept)["content"] == f"{text} again"
    assert shell.files() == []


@pytest.mark.parametrize("query", ["?!…", "*", '"', "()", "🦜", "^:*", "NEAR(", "AND"])
def test_a_query_of_punctuation_alone_is_answered(shell, query):
    shell.store("Ana likes tea")
    assert shell("search", query).code == 0


def test_an_export_of_one_workspace_tells_nothing_of_another(shell):
    shell.store("The launch code name is Heron", workspace="global")
    shell.store("Deploys run at noon")
    everything = shell("export").out
    one = shell("export", "--workspace", "global").out
    assert "Heron" in one
    assert "Deploys" not in one
    assert shell("export", "--workspace", "global", "--all").out == everything
    assert 'Workspace "nope" not found' in shell.refused("export", "--workspace", "nope")
