"""What do eight programs get that write into one store at once?"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.corpus import SEED, Language, Vectors, fill, found_workspace
from bench.figures import milliseconds
from whence.bootstrap import TENANT, SystemClock
from whence.core.errors import WhenceError
from whence.storage import open_store

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAMS = 8
SECONDS = 3.0
WORDS = 20


@dataclass(frozen=True, slots=True)
class Written:
    """What one program got."""

    waits: list[float]
    errors: list[str]


def run(sizes: Sequence[int] | None) -> dict[str, Any]:
    """Return commits, errors, waits and lost rows; a size stands for hundredths of seconds."""
    lasting = max(sizes) / 100 if sizes else SECONDS
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as folder:
        path = Path(folder) / "bench.db"
        store = open_store(f"sqlite:///{path}", tenant=TENANT, clock=SystemClock())
        workspace = found_workspace(store, "bench", SystemClock().now())
        # Spawned, not forked: a connection must not be carried into a child.
        with multiprocessing.get_context("spawn").Pool(PROGRAMS) as pool:
            jobs = [(str(path), workspace, number, lasting) for number in range(PROGRAMS)]
            written = pool.starmap(_write, jobs, chunksize=1)
        kept = sum(1 for _ in store.every())
        store.close()
    waits = [wait for each in written for wait in each.waits]
    errors = [error for each in written for error in each.errors]
    return {
        "p50_ms": milliseconds(waits, 50),
        "p95_ms": milliseconds(waits, 95),
        "longest_ms": milliseconds(waits, 100),
        "commits": len(waits),
        "per_second": round(len(waits) / lasting),
        "least_of_a_program": min(len(each.waits) for each in written),
        "errors": len(errors),
        "first_error": errors[0] if errors else "",
        "lost": len(waits) - kept,
        "programs": PROGRAMS,
    }


def _write(path: str, workspace: str, number: int, lasting: float) -> Written:
    clock = SystemClock()
    store = open_store(f"sqlite:///{path}", tenant=TENANT, clock=clock)
    language, rows = Language(SEED + number), Vectors(SEED + number).some(1)
    waits: list[float] = []
    errors: list[str] = []
    until = time.monotonic() + lasting
    while time.monotonic() < until:
        text = language.text(WORDS)
        began = time.perf_counter()
        try:
            fill(store, workspace, [text], rows, clock.now())
        except WhenceError as error:
            errors.append(error.message)
        else:
            waits.append(time.perf_counter() - began)
    store.close()
    return Written(waits, errors)
