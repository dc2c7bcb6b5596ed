"""A new program's first answer: open the store, load the model, read the question, search."""

from __future__ import annotations

import time

# ruff: noqa: E402 (the clock starts before the imports, which are part of the start)
_BEGAN = time.perf_counter()

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from whence.bootstrap import open_memory
from whence.config import load_settings
from whence.core.ports import Scope
from whence.core.recall import Query


def _megabytes(field: str) -> float:
    """Return a field of this process's status, where the platform has it."""
    status = Path("/proc/self/status")
    lines = status.read_text("utf-8").splitlines() if status.exists() else []
    return next((round(int(line.split()[1]) / 1024, 1) for line in lines if line.startswith(field)), 0.0)


def main() -> None:
    path, workspace, question = sys.argv[1:]
    imported = time.perf_counter()
    whence = open_memory(load_settings(os.environ, store=f"sqlite:///{path}"))
    opened = time.perf_counter()
    _ = whence.models.latin
    loaded = time.perf_counter()
    query = Query(text=question, scope=Scope(workspaces=(workspace,)), limit=10)
    whence.recall(query)
    answered = time.perf_counter()
    whence.recall(query)
    again = time.perf_counter()
    print(
        json.dumps(
            {
                "open_to_first_answer_ms": round((answered - imported) * 1000, 1),
                "opening": {
                    "import_ms": round((imported - _BEGAN) * 1000, 1),
                    "open_ms": round((opened - imported) * 1000, 1),
                    "model_ms": round((loaded - opened) * 1000, 1),
                    "first_answer_ms": round((answered - loaded) * 1000, 1),
                    "second_answer_ms": round((again - answered) * 1000, 1),
                },
                "rss_mb": _megabytes("VmRSS"),
                "rss": {
                    "peak_mb": _megabytes("VmHWM"),
                    "anonymous_mb": _megabytes("RssAnon"),
                    "file_mb": _megabytes("RssFile"),
                },
            }
        )
    )
    whence.close()


if __name__ == "__main__":
    main()
