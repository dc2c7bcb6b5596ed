"""How long does a search take beside the least it could take, and what does a large store weigh?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from bench.corpus import Language, PreparedEmbedder, PreparedModels, Vectors, fill, found_workspace, texts
from bench.figures import against, seconds
from whence.bootstrap import TENANT, SystemClock
from whence.core.life import Whence
from whence.core.ports import Scope
from whence.core.recall import CANDIDATES, Query
from whence.core.words import question_phrases, question_words
from whence.storage import open_store
from whence.storage.sqlite import _match

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.core.ports import Vector

SIZES = (1_000, 10_000, 100_000)
SMALL = 1_000  # memories of the small workspace within the largest store
WARM, ASKED = 20, 300
LIMIT = 10
OPENED = 5  # programs that open the largest store, one after the other
# Asked of the index alone: no join, no filter, the same words in the same place.
_BARE = """
SELECT rowid, bm25(words, 1.0, 0.5, 0.0) AS score FROM words WHERE words MATCH ?
ORDER BY score LIMIT ?
"""


def run(sizes: Sequence[int] | None) -> dict[str, Any]:
    """Return the figures of every size."""
    by_n: dict[str, dict[str, Any]] = {}
    for size in sizes or SIZES:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as folder:
            last = size == max(sizes or SIZES)
            by_n.update(_measure(Path(folder) / "bench.db", size, is_largest=last))
    largest = str(max(sizes or SIZES))
    return {**by_n[largest], "by_n": by_n}


def _measure(path: Path, size: int, *, is_largest: bool) -> dict[str, dict[str, Any]]:
    clock = SystemClock()
    store = open_store(f"sqlite:///{path}", tenant=TENANT, clock=clock)
    language, vectors = Language(), Vectors()
    embedder = PreparedEmbedder()
    whence = Whence(store, PreparedModels(embedder, embedder), clock)
    began = time.monotonic()
    try:
        workspace = found_workspace(store, "large", clock.now())
        contents, rows = texts(language, size), vectors.some(size)
        fill(store, workspace, contents, rows, clock.now())
        weight = _disk_bytes(path, contents)
        filled = round(time.monotonic() - began, 1)
        asked = _questions(language, vectors, contents, embedder)
        found = {str(size): _searches(whence, path, workspace, rows, asked)}
        found[str(size)] |= {"disk_bytes_per_memory": weight, "fill_seconds": filled}
        if is_largest:
            small = found_workspace(store, "small", clock.now())
            few, few_rows = texts(language, min(SMALL, size)), vectors.some(min(SMALL, size))
            fill(store, small, few, few_rows, clock.now())
            asked = _questions(language, vectors, few, embedder)
            name = f"workspace_{_short(len(few))}_of_{_short(size)}"
            found[name] = _searches(whence, path, small, few_rows, asked)
    finally:
        whence.close()
    if is_largest:
        found[str(size)] |= _opening(path, workspace, asked[0])
    return found


def _short(number: int) -> str:
    return f"{number // 1000}k" if number >= 1000 else str(number)


def _questions(
    language: Language, vectors: Vectors, contents: Sequence[str], embedder: PreparedEmbedder
) -> list[str]:
    asked = [language.question(language.chance.choice(contents)) for _ in range(WARM + ASKED)]
    embedder.vectors.update(zip(asked, vectors.some(len(asked)), strict=True))
    return asked


def _searches(
    whence: Whence, path: Path, workspace: str, rows: Vector, asked: Sequence[str]
) -> dict[str, Any]:
    """Return the times of searches, each beside the floor of the same question."""
    bare = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    bare.execute("PRAGMA mmap_size = 268435456")
    scope = Scope(workspaces=(workspace,))
    taken: list[float] = []
    floor: list[float] = []
    for text in asked:
        query = Query(text=text, scope=scope, limit=LIMIT)
        vector = whence.models.latin.embed_query(text)
        match = _match(question_words(text), question_phrases(text), [f"{workspace}0"])
        floor.append(
            seconds(lambda vector=vector: rows @ vector)  # type: ignore[misc]  # mypy cannot type its default
            + seconds(lambda match=match: bare.execute(_BARE, (match, CANDIDATES)).fetchall())  # type: ignore[misc]  # as above
        )
        taken.append(seconds(lambda query=query: whence.recall(query)))  # type: ignore[misc]  # as above
    bare.close()
    return against(taken[WARM:], floor[WARM:])


def _disk_bytes(path: Path, contents: Sequence[str]) -> int:
    """Return what a memory takes on the disk beside its text."""
    with apsw.Connection(str(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    # Every second one carries the text before it as its context (corpus.fill).
    sizes = [len(each.encode()) for each in contents]
    text = sum(sizes) + sum(before for number, before in enumerate(sizes[:-1]) if number % 2 == 0)
    return round((path.stat().st_size - text) / len(contents))


def _opening(path: Path, workspace: str, question: str) -> dict[str, Any]:
    """Return how long new programs take to their first answer, the middle one's parts and its size."""
    os.sync()  # the filling must not be still on its way to the disk
    told: list[dict[str, Any]] = []
    for _ in range(OPENED):
        began = time.perf_counter()
        program = subprocess.run(
            [sys.executable, "-m", "bench.opening", str(path), workspace, question],
            cwd=Path(__file__).resolve().parents[1],
            capture_output=True,
            text=True,
            check=False,
            env=dict(os.environ),
        )
        if program.returncode:
            return {"opening_failed": program.stderr.strip().splitlines()[-1][:200]}
        told.append(json.loads(program.stdout))
        told[-1]["spawn_to_exit_ms"] = round((time.perf_counter() - began) * 1000, 1)
    told.sort(key=lambda each: each["open_to_first_answer_ms"])
    times = [each["open_to_first_answer_ms"] for each in told]
    return {**told[OPENED // 2], "open_to_first_answer_all_ms": times}
