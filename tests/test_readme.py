"""Does the README's walk-through do what it says?"""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def blocks() -> list[list[str]]:
    """Return the shell lines of every code block."""
    return [block.strip().splitlines() for block in re.findall(r"```\n(.*?)```", README, re.DOTALL)]


def walk_through() -> list[str]:
    """Return the commands of the two minutes, in order."""
    told = README.split("## Two minutes")[1].split("## Connect")[0]
    lines = [line for block in re.findall(r"```\n(.*?)```", told, re.DOTALL) for line in block.splitlines()]
    return [line for line in lines if line.startswith("whence ")]


def test_the_two_commands_come_first():
    assert [line.split("#")[0].strip() for line in blocks()[0]] == ["make run", "make test"]


@pytest.mark.slow
def test_the_walk_through_retires_the_old_memory_and_answers_with_the_new_one(tmp_path, model_home):
    environment = {
        **os.environ,
        "WHENCE_HOME": str(model_home),
        "WHENCE_STORE": f"sqlite:///{tmp_path / 'walk.db'}",
        "WHENCE_WORKSPACE": "walk",
    }
    ids: list[str] = []
    said: list[str] = []
    for line in walk_through():
        words = shlex.split(line.replace("OLD_ID", (ids or [""])[0]).replace("NEW_ID", (ids or [""])[-1]))
        done = subprocess.run(
            [sys.executable, "-m", "whence", *words[1:]],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, (line, done.stderr)
        said.append(done.stdout)
        if "store_memory" in line:
            reply = json.loads(done.stdout)
            if ids:
                assert [each["id"] for each in reply["similar"]] == ids
                assert ids[0] in reply["action_required"]
            ids.append(reply["created"]["id"])

    by_command = dict(zip(walk_through(), said, strict=True))
    assert "User moved to Austin" in by_command['whence search "User lives in Seattle"']
    assert "User lives in Seattle" not in by_command['whence search "User lives in Seattle"']
    assert "[superseded]" in by_command['whence search "Where does the user live?" --history']
    korean = next(text for line, text in by_command.items() if "사용자" in line)
    assert "User moved to Austin" in korean
