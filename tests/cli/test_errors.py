"""What does wrong use get? One sentence, an exit code that says whose fault it is, and nothing changed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from whence.cli.arguments import parser
from whence.cli.commands import COMMANDS
from whence.cli.serving import COMMANDS as SERVING

UNKNOWN = "fact_00000000000000000000000000"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["search"],
        ["search", "x", "--limit", "many"],
        ["search", "x", "--colour"],
        ["edit", "x", "--confidence", "high"],
        ["supersede", "one"],
        ["model", "remove"],
        ["serve", "--port", "http"],
        ["mcp", "--tool-names", "dotted"],
        ["--workspace", "w", "search", "x"],
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_two(shell, arguments):
    assert "usage: whence" in shell.refused(*arguments, code=2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["show", UNKNOWN], f"Memory with ID {UNKNOWN} not found. Search for it"),
        (["edit", UNKNOWN, "--content", "x"], f"Memory with ID {UNKNOWN} not found"),
        (["archive", UNKNOWN], f"Memory with ID {UNKNOWN} not found"),
        (["archive", UNKNOWN, "--restore"], f"Memory with ID {UNKNOWN} not found"),
        (["move", UNKNOWN, "global"], f"Memory with ID {UNKNOWN} not found"),
        (["supersede", UNKNOWN, UNKNOWN], f"Memory with ID {UNKNOWN} not found"),
        (["call", "nonsense", "{}"], 'Unknown tool "nonsense". There are save_decision, save_checkpoint'),
        (["call", "nonsense", "{"], "The arguments are no JSON"),
        (["call", "store_memory", "{"], "The arguments are no JSON"),
        (["call", "store_memory", "[" * 5_000], "The arguments are no JSON"),
        (["call", "store_memory", "[]"], "The arguments must be a JSON object"),
        (["call", "store_memory", "{}"], "content is required. Give content as text"),
        (["call", "store_memory", '{"content": "x", "confidence": NaN}'], "confidence must be a number"),
        (["call", "store_memory", r'{"content": "x", "workspace": "\ud800"}'], "workspace holds characters"),
        (["call", "store_memory", r'{"content": "x", "session": "\ud800"}'], "session holds characters"),
        (["call", "store_memory", r'{"content": "x", "\ud800": 1}'], "The name of a parameter holds"),
        (
            ["call", "store_memory", '{"content": "x", "workspace": "defualt"}'],
            'Workspace "defualt" not found',
        ),
        (["search", ""], "query must not be empty"),
        (["search", "x", "--limit", "0"], "limit must be a whole number from 1 to 20"),
        (["search", "x", "--limit", "21"], "limit must be a whole number from 1 to 20"),
        (["search", "x", "--as-of", "yesterday"], "as_of must be an ISO 8601 time"),
        (["search", "x", "--known-at", "2026-02-30"], "known_at must be an ISO 8601 time"),
        (["search", "x", "--max-tokens", "-1"], "max_tokens must be"),
        (["search", "x", "--store", "postgres//nowhere"], "is no store that this version knows"),
        (["search", "x", "--store", "mysql://localhost/x"], '"mysql" is no store that this version knows'),
        (["mcp", "--tools", "nonsense"], '"nonsense" is no tool family'),
        (["serve", "--tools", "nonsense"], '"nonsense" is no tool family'),
        (["import", "nowhere.jsonl"], "nowhere.jsonl cannot be read"),
        (["import", "."], ". cannot be read"),
        (["export", "."], ". cannot be written"),
        (["export", "no/such/folder/x.jsonl"], "cannot be written"),
        (["model", "install"], "English model"),
        (["model", "install", "--from", "."], "English model"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_a_clear_error_is_one_sentence_with_the_next_step_and_ends_with_one(shell, arguments, sentence):
    shell.store("Something is here already")
    before = shell.dump()
    assert sentence in shell.refused(*arguments)
    assert shell.dump() == before
    assert shell.files() == []


def test_the_error_of_a_call_has_its_familys_shape_on_standard_output(shell):
    done = shell("call", "supersede_memory", '{"old_memory_id": "a", "new_memory_id": "b"}')
    assert done.json["error"]["code"] == "MEMORY_NOT_FOUND"
    assert done.err == f"whence: Memory with ID a not found. {done.json['error']['hint'].rstrip('.')}\n"
    assert shell("call", "store_memory", "{").json["error"]["code"] == "INVALID_PARAMETER"


@pytest.mark.parametrize("confidence", ["1.5", "-0.1", "nan"])
def test_an_edit_outside_the_rules_changes_nothing(shell, confidence):
    kept = shell.store("Ana likes tea")
    before = shell.dump()
    assert "confidence must be a number from 0 to 1" in shell.refused(
        "edit", kept, f"--confidence={confidence}"
    )
    assert "content must not be empty" in shell.refused("edit", kept, "--content", " ")
    assert "tags" in shell.refused("edit", kept, "--tags", "x" * 65)
    assert "Nothing to change" in shell.refused("edit", kept)
    assert shell.dump() == before


def test_a_second_successor_is_refused_with_the_current_version(shell):
    one, two, three = (shell.store(text) for text in ("one", "two", "three"))
    shell("supersede", one, two)
    before = shell.dump()
    assert two in shell.refused("supersede", one, three)
    assert "cannot supersede itself" in shell.refused("supersede", three, three)
    assert "was itself replaced" in shell.refused("supersede", two, one)
    assert shell("supersede", one, two).code == 0, "the same pair again is success"
    assert shell.dump() == before


# -- the store


def every_reading_command():
    return [["search", "x"], ["show", UNKNOWN], ["export"], ["doctor"], ["call", "list_recent_memories"]]


@pytest.mark.parametrize("arguments", every_reading_command(), ids=" ".join)
def test_a_store_that_is_a_folder_is_told_in_one_sentence(shell, arguments):
    assert "cannot be created: Is a directory" in shell.refused(
        *arguments, "--store", f"sqlite:///{shell.folder}"
    )


@pytest.mark.parametrize("arguments", every_reading_command(), ids=" ".join)
def test_a_file_that_is_no_database_is_told_in_one_sentence_and_left_alone(shell, arguments):
    garbage = shell.folder / "notes.txt"
    garbage.write_bytes(b"these are my notes, " * 500)
    sentence = shell.refused(*arguments, "--store", f"sqlite:///{garbage}")
    assert "is damaged or no SQLite file" in sentence
    assert garbage.read_bytes() == b"these are my notes, " * 500
    assert shell.files() == ["notes.txt"]


@pytest.mark.parametrize(
    "arguments", [["search", "fact"], ["doctor"], ["export"], ["call", "list_recent_memories"]], ids=" ".join
)
def test_a_damaged_database_is_told_and_never_a_traceback(shell, arguments):
    for number in range(40):
        shell.store(f"Fact number {number}")
    file = shell.folder.parent / "whence" / "whence.db"
    bytes_ = bytearray(file.read_bytes())
    bytes_[4096:] = b"\xff" * (len(bytes_) - 4096)
    file.write_bytes(bytes_)
    done = shell(*arguments)
    assert done.code == 1
    assert "Traceback" not in done.err
    assert "failed unexpectedly" not in done.err + done.out
    assert "damaged" in done.err or "could not do it" in done.err or "integrity" in done.out


@pytest.mark.parametrize(
    "arguments", [["search", "x"], ["doctor"], ["call", "store_memory", '{"content":"x"}']]
)
def test_a_home_that_cannot_be_made_is_told_in_one_sentence(shell, monkeypatch, arguments):
    blocker = shell.folder / "file"
    blocker.touch()
    monkeypatch.setenv("WHENCE_HOME", str(blocker / "home"))
    done = shell(*arguments)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    assert str(blocker) in done.err


def test_a_read_only_home_is_told_in_one_sentence(shell, monkeypatch):
    locked = Path("/proc")  # where not even root may make a folder
    if not locked.is_dir():
        locked = shell.folder / "locked"
        locked.mkdir(mode=0o500)
    monkeypatch.setenv("WHENCE_HOME", str(locked / "home"))
    assert "cannot be created" in shell.refused("search", "x")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("workspace = ", "is no valid TOML"),
        ("color = 1", "has an unknown setting: color"),
        ("workspace = 5", "must be text"),
        ('offline = "maybe"', "must be true or false"),
        ('tool_names = "dotted"', 'tool_names is "dotted"'),
    ],
)
def test_a_wrong_settings_file_is_told_in_one_sentence(shell, tmp_path, monkeypatch, text, sentence):
    monkeypatch.delenv("WHENCE_OFFLINE")
    (tmp_path / "whence").mkdir()
    (tmp_path / "whence" / "config.toml").write_text(text, "utf-8")
    assert sentence in shell.refused("search", "x")


# -- import


HEADER = '{"kind":"whence","format":1}\n'
GARBAGE = {
    "nothing": "",
    "prose": "hello\n",
    "no header": '{"kind":"memory","content":"x"}\n',
    "newer format": '{"kind":"whence","format":99}\n',
    "a null": f"{HEADER}null\n",
    "a number": f"{HEADER}5\n",
    "a list": f'{HEADER}["kind"]\n',
    "an unknown kind": f'{HEADER}{{"kind":"spell"}}\n',
    "a workspace without fields": f'{HEADER}{{"kind":"workspace"}}\n',
    "a memory without fields": f'{HEADER}{{"kind":"memory","type":"fact","content":"x"}}\n',
    "a memory of numbers": f'{HEADER}{{"kind":"memory","type":"fact","content":5}}\n',
    "a link without fields": f'{HEADER}{{"kind":"link"}}\n',
    "cut in the middle": f'{HEADER}{{"kind":"workspace","id":"w1","na',
    "a bad workspace after a good one": (
        f'{HEADER}{{"kind":"workspace","id":"w000000001","name":"new","identity":null,"created_at":1}}\n'
        '{"kind":"memory","type":"fact","content":"x","workspace":"missing"}\n'
    ),
}


@pytest.mark.parametrize("text", GARBAGE.values(), ids=GARBAGE)
def test_an_import_of_garbage_changes_nothing(shell, text):
    shell.store("Something is here already")
    before = shell.dump()
    done = shell("import", "-", stdin=text)
    assert done.code == 1
    assert done.err.startswith("whence: ")
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    assert "failed unexpectedly" not in done.err
    assert shell.dump() == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("confidence", 7),
        ("confidence", "high"),
        ("source", "rumour"),
        ("created_at", None),
        ("status", "gone"),
    ],
)
def test_an_import_with_one_bad_memory_brings_none(shell, field, value):
    shell.store("Ana likes tea")
    lines = [json.loads(line) for line in shell.dump().splitlines()]
    for line in lines:
        if line["kind"] == "memory":
            line.update({"id": "fact_00000000000000000000000001", field: value})
    good = {**next(each for each in lines if each["kind"] == "memory"), "confidence": 1.0, "status": "active"}
    good |= {"id": "fact_00000000000000000000000002", "source": "explicit", "created_at": 1}
    text = "\n".join(json.dumps(each) for each in [*lines[:2], good, *lines[2:]])
    before = shell.dump()
    done = shell("import", "-", stdin=text)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    assert shell.dump() == before


# -- as a program


@pytest.mark.skipif(sys.platform == "win32", reason="arguments are text there")
@pytest.mark.parametrize(
    "arguments", [["show"], ["search"], ["archive"], ["call", "store_memory"]], ids=" ".join
)
def test_an_argument_that_is_no_text_is_told_in_one_sentence(shell, arguments):
    done = shell.program(*arguments, b"\xff")
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "no UTF-8 text" in done.err


def test_standard_input_that_is_no_text_is_told_in_one_sentence(shell):
    done = shell.program("call", "store_memory", "-", stdin=b"\xff\xfe", PYTHONIOENCODING="utf-8:strict")
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert json.loads(done.out)["error"]["code"] == "INVALID_PARAMETER"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_an_answer_is_json_in_utf8_whatever_the_terminal_speaks(shell, encoding):
    kept = shell.store("한국어 🦜 – «né»")
    told = json.loads(shell.program("show", kept, "--json", PYTHONIOENCODING=encoding).out)
    assert told["content"] == "한국어 🦜 – «né»"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell's pipe")
def test_a_reader_that_has_seen_enough_is_no_error(shell):
    for number in range(3):
        shell.store(f"Fact {number} " + "x" * 40_000)
    pipe = f'"{sys.executable}" -m whence export | head -c 10; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, check=False, cwd=shell.folder)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [["version"], ["--version"], ["--help"]], ids=" ".join)
def test_the_version_loads_nothing_heavy(shell, arguments):
    asking = (
        "import sys\nfrom whence.cli import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit:\n    pass\n"
        "heavy = {'mcp', 'mcp_types', 'numpy', 'apsw', 'onnxruntime', 'tokenizers', 'starlette', 'uvicorn'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", asking], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_every_command_of_the_parser_is_carried_out_by_somebody():
    (commands,) = [each.choices for each in parser()._actions if each.choices and each.dest == "command"]
    assert set(commands) == set(COMMANDS) | set(SERVING)
    for command in commands.values():
        assert {"--store", "--workspace"} <= set(command._option_string_actions)
