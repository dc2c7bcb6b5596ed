"""Graph: walks along the links, remembered for as long as nothing on them changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from whence.core.times import MINUTE

if TYPE_CHECKING:
    from whence.core.ports import Clock, Step, Store, Walk
    from whence.core.times import Instant

DEEPEST = 5  # of every walk, whatever is asked
REMEMBERED = 100
LIFETIME = 5 * MINUTE


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
        self._store = store
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
        graph = self._store.graph()
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
