"""The command line as a user runs it: in this process, or as a program where that makes a difference."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from whence.cli import main


@dataclass(frozen=True)
class Run:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Shell:
    """A user's shell in a folder outside every project, with an empty memory and no model."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]
    environment: dict[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: str, stdin: str = "") -> Run:
        """Run a command in this process."""
        read, write = os.pipe()
        with os.fdopen(write, "w", encoding="utf-8") as typed:
            typed.write(stdin)
        self.capture.readouterr()
        with os.fdopen(read, encoding="utf-8") as typed, self.monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", typed)
            try:
                code = main(arguments)
            except SystemExit as ended:  # how argparse tells wrong usage
                code = int(ended.code or 0)
        told = self.capture.readouterr()
        return Run(code, told.out, told.err)

    def program(self, *arguments: str | bytes, stdin: bytes = b"", **environment: str) -> Run:
        """Run a command as a program of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "whence", *arguments],
            input=stdin,
            env={**os.environ, **environment},
            cwd=self.folder,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode())

    def files(self) -> list[str]:
        """Return what lies in the folder where the commands run."""
        return sorted(each.name for each in self.folder.iterdir())

    def store(self, content: str, **arguments: Any) -> str:
        done = self("call", "store_memory", json.dumps({"content": content, **arguments}))
        assert done.code == 0, done.err
        return done.json["created"]["id"]

    def show(self, memory_id: str) -> dict[str, Any]:
        done = self("show", memory_id, "--json")
        assert done.code == 0, done.err
        return done.json

    def found(self, query: str, *flags: str) -> list[str]:
        """Return the ids that the command finds; the tool of the facts family must find the same."""
        done = self("search", query, "--json", *flags)
        assert done.code == 0, done.err
        return [each["id"] for each in done.json["memories"]]

    def recent(self) -> list[str]:
        return [each["id"] for each in self("call", "list_recent_memories").json["memories"]]

    def dump(self) -> str:
        return self("export").out

    def refused(self, *arguments: str, code: int = 1, stdin: str = "") -> str:
        """Run a command that must fail, in one line on standard error, and return that line."""
        done = self(*arguments, stdin=stdin)
        assert done.code == code, (done.out, done.err)
        assert "Traceback" not in done.err
        if code == 1:
            assert done.err.startswith("whence: ")
            assert done.err.count("\n") == 1, done.err
            assert "failed unexpectedly" not in done.err
        return done.err


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    for name in list(os.environ):
        if name.startswith(("WHENCE_", "CLAUDE_")):
            monkeypatch.delenv(name)
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("WHENCE_HOME", str(tmp_path / "whence"))
    monkeypatch.setenv("WHENCE_OFFLINE", "1")
    return Shell(folder, monkeypatch, capsys)
