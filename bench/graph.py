"""How long does a walk take, how often is one remembered, and what do automatic links add to a save?"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np

from bench.corpus import Language, Vectors, fill, found_workspace, texts
from bench.figures import against, milliseconds, seconds
from whence.bootstrap import TENANT, SystemClock, open_memory
from whence.config import load_settings
from whence.core.errors import EmbeddingUnavailable
from whence.core.graph import DEEPEST, REMEMBERED, Walks, context
from whence.core.ids import link_id
from whence.core.links import CLOSE_IN_TIME, SIMILAR, Link
from whence.core.memories import Author, Draft
from whence.core.ports import Walk
from whence.server.background import Background
from whence.storage import open_store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from whence.core.life import Whence
    from whence.core.ports import Direction, Store
    from whence.core.times import Instant

SIZES = (10_000,)
LINKS = 5  # that lead away from a memory
WARM, WALKED = 10, 300
LOADS, ASKED_OF, WRITTEN_EVERY = (
    2_000,
    500,
    20,
)  # context loads, of so many memories, with a link now and then
SAVED = 150
_BATCH = 5_000
_NEIGHBOURHOOD = 200  # memories that speak of one thing lie so far apart
# Asked of the table alone: no word, no type, no strength, only what can be reached.
_BARE = """
WITH RECURSIVE reached (id, distance) AS (
    SELECT ?1, 0 UNION
    SELECT l.to_id, distance + 1 FROM reached
    CROSS JOIN memory_links AS l ON l.tenant = 'local' AND l.from_id = reached.id AND l.known_until IS NULL
    WHERE distance < ?2 LIMIT 400
) SELECT DISTINCT id FROM reached
"""
_BARE_IN = _BARE.replace("l.to_id", "l.source").replace("from_id", "to_id").replace("source", "from_id")


def run(sizes: Sequence[int] | None) -> dict[str, Any]:
    """Return the figures of every size of store."""
    by_n: dict[str, dict[str, Any]] = {}
    for size in sizes or SIZES:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as folder:
            by_n[str(size)] = _measure(Path(folder), size)
    largest = by_n[str(max(sizes or SIZES))]
    return {**largest["both"], **largest, "by_n": by_n}


def _measure(folder: Path, size: int) -> dict[str, Any]:
    clock = SystemClock()
    store = open_store(f"sqlite:///{folder / 'bench.db'}", tenant=TENANT, clock=clock)
    language = Language()
    workspace = found_workspace(store, "bench", clock.now())
    fill(store, workspace, texts(language, size), Vectors().some(size), clock.now())
    ids = [each.id for each in store.every()]
    count = _link(store, ids, language.chance, clock.now())
    told: dict[str, Any] = {"links": count, "depth": DEEPEST}
    ways: tuple[Direction, ...] = ("out", "in", "both")
    for way in ways:
        told[way] = _walks(store, folder / "bench.db", way, language.chance.choices(ids, k=WARM + WALKED))
    told["cache"] = _cache(store, clock, ids, language.chance)
    store.close()
    told["save"] = _saves(folder, min(size, SIZES[0]))
    return told


def _link(store: Store, ids: Sequence[str], chance: Random, now: Instant) -> int:
    """Link every memory to older ones: near in time, of the same kind, and a few anywhere."""
    made = []
    for newer in range(1, len(ids)):
        for older in _older(newer, chance):
            close = newer - older <= 10
            made.append(
                Link(
                    id=link_id(now),
                    from_id=ids[newer],
                    to_id=ids[older],
                    link_type="temporal" if close else "association",
                    relationship=CLOSE_IN_TIME if close else SIMILAR,
                    confidence=chance.uniform(0.3, 0.5) if close else chance.uniform(0.85, 1.0),
                    created_by="system",
                    created_at=now,
                )
            )
    for start in range(0, len(made), _BATCH):
        with store.writing() as writing:
            for link in made[start : start + _BATCH]:
                writing.link(link)
    return len(made)


def _older(newer: int, chance: Random) -> set[int]:
    found: set[int] = set()
    for _ in range(4 * LINKS):  # tries: near the beginning there are not that many
        near = newer - chance.randint(1, 10)
        akin = newer - _NEIGHBOURHOOD * chance.randint(1, 20)
        anywhere = chance.randrange(newer)
        older = chance.choices((near, akin, anywhere), (4, 5, 1))[0]
        if older >= 0:
            found.add(older)
        if len(found) == LINKS:
            break
    return found


def _walks(store: Store, path: Path, way: Direction, starts: Sequence[str]) -> dict[str, Any]:
    """Return the times of walks that nobody remembers, each beside the bare recursion from its start."""
    bare = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    bare.execute("PRAGMA mmap_size = 268435456")
    queries = {"out": (_BARE,), "in": (_BARE_IN,), "both": (_BARE, _BARE_IN)}[way]
    graph, now = store.graph(), SystemClock().now()
    taken: list[float] = []
    floor: list[float] = []
    reached: list[int] = []
    for start in starts:
        floor.append(
            seconds(lambda start=start: [bare.execute(each, (start, DEEPEST)).fetchall() for each in queries])  # type: ignore[misc]  # mypy cannot type its default
        )
        began = time.perf_counter()
        steps = graph.walk(Walk(start=start, direction=way, depth=DEEPEST), now)
        taken.append(time.perf_counter() - began)
        reached.append(len(steps))
    bare.close()
    return {**against(taken[WARM:], floor[WARM:]), "reached": round(sum(reached) / len(reached))}


def _cache(store: Store, clock: SystemClock, ids: Sequence[str], chance: Random) -> dict[str, Any]:
    """Return how many context loads are remembered: few memories are asked for often, most seldom."""
    walks = Walks(store, clock)
    asked_of = chance.sample(list(ids), min(ASKED_OF, len(ids)))
    weights = (1 / np.arange(1, len(asked_of) + 1)).tolist()
    hits: list[float] = []
    misses: list[float] = []
    remembered = 0
    for number, start in enumerate(chance.choices(asked_of, weights, k=LOADS)):
        if number % WRITTEN_EVERY == 0:
            _write_a_link(store, clock, chance.sample(list(ids), 2))
        began = time.perf_counter()
        context(walks, start)
        took = time.perf_counter() - began
        hit = walks.take_counted()["walks_remembered"]
        remembered += hit
        (hits if hit else misses).append(took)
    return {
        "loads": LOADS,
        "hit_rate": round(remembered / LOADS, 3),
        "kept": REMEMBERED,
        "hit_p95_ms": milliseconds(hits, 95),
        "miss_p95_ms": milliseconds(misses, 95),
    }


def _write_a_link(store: Store, clock: SystemClock, ends: Sequence[str]) -> None:
    now = clock.now()
    with store.writing() as writing:
        writing.link(
            Link(
                id=link_id(now),
                from_id=ends[0],
                to_id=ends[1],
                link_type="association",
                relationship=f"mentions_{now}",
                confidence=0.8,
                created_by="user",
                created_at=now,
            )
        )


def _saves(folder: Path, size: int) -> dict[str, Any]:
    """Return what a save costs while a server makes links beside it, and what it costs without."""
    settings = load_settings(os.environ)
    opened = {
        name: open_memory(replace(settings, store=f"sqlite:///{folder / name}.db", auto_links=name == "on"))
        for name in ("on", "off")
    }
    language = Language()
    taken: dict[str, list[float]] = {"on": [], "off": []}
    backgrounds = []
    try:
        _ = opened["on"].models.latin
        rooms = {name: _filled(whence, language, size) for name, whence in opened.items()}
        backgrounds = [Background(whence, keeps_models=True) for whence in opened.values()]
        for number in range(WARM + SAVED):
            for name in ("on", "off") if number % 2 else ("off", "on"):
                draft = Draft(content=language.text(20))
                began = time.perf_counter()
                opened[name].remember(draft, workspace=rooms[name], author=Author(session="bench"))
                taken[name].append(time.perf_counter() - began)
            # The worst case: the links of every save are made while the next one is under way.
            for each in backgrounds:
                each.wake()
        made = len(opened["on"].store.graph().made_by_system())
    except EmbeddingUnavailable as error:
        raise RuntimeError(f"{error.message}; run `whence model install`.") from None
    finally:
        for each in backgrounds:
            each.stop()
        for whence in opened.values():
            whence.close()
    on, off = taken["on"][WARM:], taken["off"][WARM:]
    return {
        "overhead_ms": round(milliseconds(on, 95) - milliseconds(off, 95), 3),
        "overhead_p50_ms": round(milliseconds(on, 50) - milliseconds(off, 50), 3),
        "on": {"p50_ms": milliseconds(on, 50), "p95_ms": milliseconds(on, 95)},
        "off": {"p50_ms": milliseconds(off, 50), "p95_ms": milliseconds(off, 95)},
        "links_made": made,
        "runs": len(on),
    }


def _filled(whence: Whence, language: Language, size: int) -> str:
    workspace = found_workspace(whence.store, "bench", whence.clock.now())
    fill(whence.store, workspace, texts(language, size), Vectors().some(size), whence.clock.now())
    return workspace
