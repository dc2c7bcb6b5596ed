"""Does the README's walk-through do what it says?"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from whence.surfaces import intents
from whence.surfaces.tool import flat

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def blocks() -> list[list[str]]:
    """Return the shell lines of every code block."""
    return [block.strip().splitlines() for block in re.findall(r"```\n(.*?)```", README, re.DOTALL)]


def walk_through() -> list[str]:
    """Return the commands of the two minutes, in order; an indented line goes on with the one before."""
    told = README.split("## Two minutes")[1].split("## Connect")[0]
    text = "\n".join(re.findall(r"```\n(.*?)```", told, re.DOTALL))
    commands = re.sub(r"\n +", " ", text).splitlines()
    return [line for line in commands if "whence " in line and not line.startswith("export ")]


def run(line: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command of the page, or two with a pipe between them, without anybody's shell."""
    stdin = ""
    for command in line.split(" | "):
        words = shlex.split(command)
        program = [sys.executable, "-m", "whence"] if words[0] == "whence" else words[:1]
        done = subprocess.run(
            [*program, *words[1:]],
            env=environment,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            check=False,
            cwd=folder,
        )
        stdin = done.stdout
    return done


def test_the_two_commands_come_first():
    assert [line.split("#")[0].strip() for line in blocks()[0]] == ["make run", "make test"]


@pytest.mark.promise("000-094")
def test_the_page_and_the_page_of_tools_describe_the_ten_intents():
    tools = (ROOT / "docs" / "tools.md").read_text("utf-8")
    family = tools.split("## Family `intents`")[1].split("## Family ")[0]
    table = dict(re.findall(r"^\| (save|load|search|evolve) \| (.+) \|$", README, re.MULTILINE))
    assert set(table) == {"save", "load", "search", "evolve"}
    for tool in intents.TOOLS:
        namespace, _ = tool.name.split("/")
        assert f"`{flat(tool.name)}`" in table[namespace]
        (told,) = re.findall(
            rf"^### `{flat(tool.name)}`\n\n(.+?)(?=^###|\Z)", family, re.MULTILINE | re.DOTALL
        )
        assert tool.described() in told
        for name in tool.input_schema()["properties"]:
            assert f"`{name}`" in told
        for name in tool.output_schema()["properties"]:
            assert f"`{name}`" in told
    assert "Ten tools are listed by default" in README
    assert "## whence call" in (ROOT / "docs" / "commands.md").read_text("utf-8")


@pytest.mark.slow
def test_the_walk_through_answers_with_what_holds_now_and_finds_what_runs_against_it(tmp_path, model_home):
    if shutil.which("git") is None:
        pytest.skip("git is not installed here")
    environment = {
        **os.environ,
        "WHENCE_HOME": str(model_home),
        "WHENCE_STORE": f"sqlite:///{tmp_path / 'walk.db'}",
        "WHENCE_WORKSPACE": "walk",
    }
    project = tmp_path / "project"
    project.mkdir()
    requirements = project / "requirements.txt"
    requirements.write_text("flask\n")
    for arguments in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *arguments], cwd=project, check=True)
    requirements.write_text("flask\nredis\n")
    said: dict[str, str] = {}
    for line in walk_through():
        done = run(line, project, environment)
        assert done.returncode == (3 if "whence check" in line else 0), (line, done.stdout, done.stderr)
        said[line] = done.stdout

    def answer(beginning: str) -> str:
        (told,) = [text for line, text in said.items() if line.startswith(beginning)]
        return told

    why = answer("whence why")
    for told in ("Keep sessions in PostgreSQL", "Redis", "a second server for 40 requests a second"):
        assert told in why
    aligned = json.loads(answer("whence call decision_memory"))
    assert aligned["aligned"] is False
    assert "Keep sessions in PostgreSQL" in aligned["conflicts"][0]["reason"]
    assert "Keep sessions in PostgreSQL" in answer("git diff")
    now = answer('whence search "where do sessions live?"')
    assert "Sessions in Redis" in now.splitlines()[0]
    assert "Keep sessions in PostgreSQL" not in now
    past = answer('whence search "sessions in PostgreSQL" --history')
    assert "[superseded]" in past
    assert "Keep sessions in PostgreSQL" in past
    assert "Sessions in Redis" in answer('whence search "세션')
