"""Real clients and real servers: a session is the SDK's client on a process of ours."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, Implementation, ListToolsResult

from whence.cli import main

MODERN, LEGACY = "auto", "legacy"  # what the SDK's client calls them: discover, or shake hands


@dataclass
class Home:
    """One user's machine: an empty home folder, a memory, and what the environment says."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def whence_home(self) -> Path:
        return self.folder / "whence"

    def env(self, **more: str) -> dict[str, str]:
        """Return a whole environment; nothing of the one who runs the tests gets in but the path."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "USERPROFILE": str(self.folder),
            "WHENCE_HOME": str(self.whence_home),
            **self.environment,
            **more,
        }

    def run(self, *arguments: str, cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
        """Run the command line to its end."""
        return subprocess.run(
            [sys.executable, "-m", "whence", *arguments],
            env=self.env(**more),
            cwd=cwd or self.folder,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    def show(self, memory_id: str) -> dict[str, Any]:
        # In this process: a test shows many.
        with patch.dict(os.environ, self.env(), clear=True), contextlib.redirect_stdout(io.StringIO()) as out:
            assert main(["show", memory_id, "--json"]) == 0
        return json.loads(out.getvalue())


@dataclass
class Session:
    """A connected client, called without async."""

    client: Client
    portal: BlockingPortal
    log: Path | None = None

    def call(
        self, tool: str, arguments: Mapping[str, Any] | None = None, meta: Mapping[str, Any] | None = None
    ) -> CallToolResult:
        async def calling() -> CallToolResult:
            told = None if arguments is None else dict(arguments)
            return await self.client.call_tool(tool, told, read_timeout_seconds=60, meta=meta)

        return self.portal.call(calling)

    def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed and return its structured answer."""
        result = self.call(tool, arguments)
        assert not result.is_error, result.content
        return result.structured_content

    def refused(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must fail and return its error."""
        result = self.call(tool, arguments)
        assert result.is_error, result.content
        return result.structured_content["error"]

    def found(self, query: str, **arguments: Any) -> list[str]:
        answer = self.ask("search_memories", query=query, **arguments)
        return [each["content"] for each in answer["memories"]]

    def tools(self) -> ListToolsResult:
        return self.portal.call(self.client.list_tools)


Connect = Callable[..., AbstractContextManager[Session]]


def bring_model(model_home: Path, whence_home: Path) -> None:
    """Put the model into a home without copying its bytes, where the file system can."""
    source = model_home / "models"
    for path in source.rglob("*"):
        target = whence_home / "models" / path.relative_to(source)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        elif not path.name.endswith(".lock"):
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path, target)
            except OSError:
                shutil.copyfile(path, target)


@contextlib.contextmanager
def connected(transport: Any, mode: str, log: Path | None = None) -> Iterator[Session]:
    """Connect the SDK's client over a transport."""
    client = Client(transport, mode=mode, client_info=Implementation(name="test-client", version="9.9"))
    with start_blocking_portal() as portal:
        entering = portal.wrap_async_context_manager(client)
        entering.__enter__()
        try:
            yield Session(client, portal, log)
        finally:
            # Without the test's exception: the client would wrap it into a group nobody can read.
            entering.__exit__(None, None, None)


def stdio(
    home: Home,
    *flags: str,
    mode: str = MODERN,
    tools: str | None = "facts",
    cwd: Path | None = None,
    **environment: str,
):
    """Return a session with a `whence mcp` of its own; `tools` None lists what is listed by default."""
    log = home.folder / "stderr.log"
    listed = [] if tools is None else ["--tools", tools]
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "whence", "mcp", *listed, *flags],
        env=home.env(**environment),
        cwd=cwd or home.folder,
    )

    @contextlib.contextmanager
    def session() -> Iterator[Session]:
        with (
            log.open("a", encoding="utf-8") as errors,
            connected(stdio_client(parameters, errlog=errors), mode, log) as one,
        ):
            yield one

    return session()


@pytest.fixture
def home(tmp_path: Path, model_home: Path) -> Home:
    """A user with the English model."""
    bring_model(model_home, tmp_path / "whence")
    return Home(tmp_path)


@pytest.fixture
def bare(tmp_path: Path) -> Home:
    """A user without a model, whom nothing may be fetched for: words alone."""
    return Home(tmp_path, {"WHENCE_OFFLINE": "1"})


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory, model_home: Path) -> Home:
    """A user with the English model, for all tests of a module."""
    folder = tmp_path_factory.mktemp("shared")
    bring_model(model_home, folder / "whence")
    return Home(folder)


@pytest.fixture(scope="session")
def connect() -> Connect:
    """How to open a session with a `whence mcp` of its own."""
    return stdio


@pytest.fixture(scope="session")
def connect_http() -> Connect:
    """How to open a session over any other transport of the SDK's client."""
    return connected
