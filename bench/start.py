"""How long from starting the server to its list of tools, beside the smallest server of the same SDK?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.figures import against, milliseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNS = 11
_ROOT = Path(__file__).resolve().parents[1]
_HELLO = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("hello")
@server.tool()
def echo(text: str) -> str:
    "Say it again."
    return text
server.run("stdio")
"""
_ME = {"name": "bench", "version": "1"}
_LEGACY: list[dict[str, Any]] = [
    {
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _ME},
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list", "params": {}},
]
_MODERN: list[dict[str, Any]] = [
    {
        "id": 2,
        "method": "tools/list",
        "params": {
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": _ME,
            }
        },
    }
]


def run(sizes: Sequence[int] | None) -> dict[str, Any]:
    """Return the times of the initialize era at the top, those of the newest protocol beside them."""
    runs = max(sizes) if sizes else RUNS
    legacy, modern = _alternate(_LEGACY, runs), _alternate(_MODERN, runs)
    return {**legacy, "by_era": {"2025-11-25": legacy, "2026-07-28": modern}}


def _alternate(messages: Sequence[dict[str, Any]], runs: int) -> dict[str, Any]:
    """Return both servers' times, taken in turns so that the machine treats them alike."""
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as folder:
        home = os.environ.get("WHENCE_HOME", folder)
        environment = {**os.environ, "WHENCE_HOME": home, "WHENCE_STORE": f"sqlite:///{folder}/bench.db"}
        environment["PYTHONPATH"] = os.pathsep.join([str(_ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        taken: list[float] = []
        floor: list[float] = []
        for _ in range(runs + 1):
            taken.append(_answered([sys.executable, "-m", "whence", "mcp"], messages, environment))
            floor.append(_answered([sys.executable, "-c", _HELLO], messages, environment))
    figures = against(taken[1:], floor[1:])  # the first fills the disk's cache
    # Starts are compared by their medians: a p95 of a dozen is one outlier.
    ratio = figures["ratio_of_medians"]
    return {
        **figures,
        "ratio": ratio,
        "floor_ms": figures["floor_p50_ms"],
        "best_ms": milliseconds(taken[1:], 0),
    }


def _answered(
    command: Sequence[str], messages: Sequence[dict[str, Any]], environment: dict[str, str]
) -> float:
    """Return how long a server took from its start to its list of tools."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        answer: dict[str, Any] = {}
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            server.stdin.flush()
            if "id" in message:
                line = server.stdout.readline()
                answer = json.loads(line) if line else {}
        taken = time.perf_counter() - began
        server.kill()
        told = server.stderr.read().decode(errors="replace").strip().splitlines()
    if not answer.get("result", {}).get("tools"):
        why = answer.get("error", {}).get("message") or (told[-1] if told else "it ended")
        raise RuntimeError(f"{' '.join(command[:4])[:60]} listed no tools: {why}")
    return taken
