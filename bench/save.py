"""How long does a save take beside the least it could take: one embedding, one scan, one durable commit?"""

from __future__ import annotations

import os
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from bench.corpus import Language, Vectors, fill, found_workspace, texts
from bench.figures import against
from whence.bootstrap import open_memory
from whence.config import load_settings
from whence.core.errors import EmbeddingUnavailable
from whence.core.memories import Draft
from whence.core.ports import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whence.core.life import Saved, Whence
    from whence.core.ports import Vector

SIZES = (10_000,)
WARM, SAVED = 10, 200
WORDS = 20


def run(sizes: Sequence[int] | None) -> dict[str, Any]:
    """Return the figures of every size of store."""
    by_n: dict[str, dict[str, Any]] = {}
    for size in sizes or SIZES:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as folder:
            by_n[str(size)] = _measure(Path(folder), size)
    return {**by_n[str(max(sizes or SIZES))], "by_n": by_n}


def _measure(folder: Path, size: int) -> dict[str, Any]:
    whence = open_memory(load_settings(os.environ, store=f"sqlite:///{folder / 'bench.db'}"))
    language, vectors = Language(), Vectors()
    try:
        _ = whence.models.latin
        workspace = found_workspace(whence.store, "bench", whence.clock.now())
        rows = vectors.some(size)
        fill(whence.store, workspace, texts(language, size), rows, whence.clock.now())
        similar = _similar(whence, workspace)
        bare = _BareFile(folder / "bare.db")
        taken: list[float] = []
        floor: list[float] = []
        for number in range(WARM + SAVED):
            # Two texts, so that no cache knows the second; they take turns at going first.
            mine, theirs = language.text(WORDS), language.text(WORDS)
            pair = [lambda t=mine: taken.append(_save(whence, workspace, t, similar))]
            pair.append(lambda t=theirs: floor.append(_least(whence, rows, bare, t)))
            for do in pair if number % 2 else reversed(pair):
                do()
        bare.connection.close()
    except EmbeddingUnavailable as error:
        raise RuntimeError(f"{error.message}; run `whence model install`.") from None
    finally:
        whence.close()
    return {**against(taken[WARM:], floor[WARM:]), "checks_similar": similar is not None}


def _similar(whence: Whence, workspace: str) -> Callable[[Saved], object] | None:
    """Return the check for similar memories, where this build has it."""
    if find_spec("whence.features.conflicts") is None:
        return None
    from whence.features.conflicts import similar  # the feature may be absent

    scope = Scope(workspaces=(workspace,))
    return lambda saved: similar(whence, saved, scope)


def _save(whence: Whence, workspace: str, text: str, similar: Callable[[Saved], object] | None) -> float:
    began = time.perf_counter()
    saved = whence.remember(Draft(content=text), workspace=workspace)
    if similar is not None:
        similar(saved)
    return time.perf_counter() - began


class _BareFile:
    """A table and nothing else, as durable as the store."""

    def __init__(self, path: Path) -> None:
        self.connection = apsw.Connection(str(path))
        for pragma in ("journal_mode = WAL", "synchronous = FULL"):
            self.connection.execute(f"PRAGMA {pragma}").fetchall()
        self.connection.execute("CREATE TABLE bare (text TEXT, vector BLOB)")

    def commit(self, text: str, vector: Vector) -> None:
        with self.connection:
            self.connection.execute("INSERT INTO bare VALUES (?, ?)", (text, vector.tobytes()))


def _least(whence: Whence, rows: Vector, bare: _BareFile, text: str) -> float:
    began = time.perf_counter()
    vector = whence.models.latin.embed_passage(text)
    _ = rows @ vector
    bare.commit(text, vector)
    return time.perf_counter() - began
