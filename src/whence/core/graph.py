"""Graph: walks along the links, remembered for as long as nothing on them changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from whence.core.errors import MemoryNotFound
from whence.core.ports import Walk
from whence.core.times import DAY, MINUTE

if TYPE_CHECKING:
    from whence.core.memories import Memory
    from whence.core.ports import Clock, Direction, Step, Store
    from whence.core.times import Instant

DEEPEST = 5  # of every walk, whatever is asked
REMEMBERED = 100
LIFETIME = 5 * MINUTE
FOLLOWING = 7 * DAY  # what comes of a memory within this time counts as its impact
AROUND = 2  # steps that a context reaches
SURE = 0.5  # effective confidence from which a link belongs to a context


@dataclass(slots=True)
class _Remembered:
    """A walk, the memories on it, and how far the graph had come then."""

    steps: tuple[Step, ...]
    through: frozenset[str]
    mark: int
    at: Instant


class Walks:
    """Walks of one store, with the last hundred remembered."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self._clock = clock
        self._known: OrderedDict[Walk, _Remembered] = OrderedDict()
        self._lock = threading.Lock()
        self._counted = {"walks": 0, "walks_remembered": 0}

    def of(self, walk: Walk) -> tuple[Step, ...]:
        """Return what a walk reaches, nearest first, each memory once; a greater depth is cut to five."""
        walk = replace(walk, depth=min(walk.depth, DEEPEST), link_types=tuple(sorted(walk.link_types)))
        with self._lock:
            known = self._known.get(walk)
        now = self._clock.now()
        graph = self.store.graph()
        if known is not None and now - known.at < LIFETIME:
            mark = graph.mark()
            if mark == known.mark or graph.changed(known.mark).isdisjoint(known.through):
                with self._lock:
                    known.mark = mark
                    self._known[walk] = known
                    self._known.move_to_end(walk)
                    self._counted["walks"] += 1
                    self._counted["walks_remembered"] += 1
                return known.steps
        # The mark is read first: what changes while the walk is under way is then known as newer.
        mark = graph.mark()
        steps = tuple(graph.walk(walk, now))
        through = frozenset([walk.start, *(step.id for step in steps)])
        with self._lock:
            self._known[walk] = _Remembered(steps, through, mark, now)
            self._known.move_to_end(walk)
            self._counted["walks"] += 1
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return steps

    def take_counted(self) -> dict[str, int]:
        """Return how many walks there were since the last call, and how many were remembered."""
        with self._lock:
            counted, self._counted = self._counted, dict.fromkeys(self._counted, 0)
        return counted


def neighbours(walks: Walks, memory_id: str, direction: Direction = "both") -> tuple[Step, ...]:
    """Return the memories that one link joins with this one, on both sides or one."""
    return walks.of(Walk(start=memory_id, direction=direction, depth=1))


def evolution(store: Store, memory_id: str) -> list[Memory]:
    """Return every version of a memory, oldest first, whichever of them is asked for."""
    versions = store.chain(memory_id)
    if not versions:
        raise MemoryNotFound(memory_id)
    return versions


def impact(walks: Walks, memory_id: str, within: Instant = FOLLOWING) -> tuple[Step, ...]:
    """Return what was done upon a memory, or followed it, within a time after it came."""
    found = walks.store.memories([memory_id])
    if not found:
        raise MemoryNotFound(memory_id)
    came = found[0].created_at
    return walks.of(
        Walk(
            start=memory_id,
            direction="in",
            link_types=("implementation", "temporal"),
            since=came,
            until=came + within,
        )
    )


def context(walks: Walks, memory_id: str) -> tuple[Step, ...]:
    """Return what stands around a memory: two steps each way, along links that are sure."""
    return walks.of(Walk(start=memory_id, depth=AROUND, least=SURE))
