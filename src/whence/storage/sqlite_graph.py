"""The links of a SQLite store: walks, marks and what waits to be linked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whence.core.links import TEMPORAL_LIFE, effective_confidence
from whence.core.ports import Step
from whence.core.times import DAY
from whence.storage.queries import named_queries
from whence.storage.rows import as_json, link_from, memories_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw

    from whence.core.links import Link
    from whence.core.memories import Memory
    from whence.core.ports import Walk
    from whence.core.times import Instant
    from whence.storage.sqlite_file import SqliteFile

_SQL = named_queries("sqlite")


class SqliteGraph:
    """What one tenant's memories are to each other."""

    def __init__(self, file: SqliteFile, tenant: str) -> None:
        self._file = file
        self._tenant = tenant

    def links(self, memory_id: str) -> list[Link]:
        with self._file.reading() as connection:
            return [link_from(row) for row in self._rows(connection, "links", id=memory_id)]

    def walk(self, walk: Walk, now: Instant) -> list[Step]:
        ways = ("out", "in") if walk.direction == "both" else (walk.direction,)
        nearest: dict[str, Step] = {}
        # One picture: a link must not vanish between the walk and the look at its links.
        with self._file.reading() as connection, connection:
            for way in ways:
                for step in self._one_way(connection, walk, way, now):
                    known = nearest.get(step.id)
                    if known is None or step.distance < known.distance:
                        nearest[step.id] = step
        return sorted(
            nearest.values(),
            key=lambda step: (step.distance, -effective_confidence(step.link, now), step.link.id),
        )

    def _one_way(self, connection: apsw.Connection, walk: Walk, way: str, now: Instant) -> list[Step]:
        """Return what one direction reaches, each memory with the surest link from one step nearer."""
        limits = {
            "link_types": as_json(walk.link_types) if walk.link_types else None,
            "relationships": as_json(walk.relationships) if walk.relationships else None,
            "since": walk.since,
            "until": walk.until,
        }
        fading = {"least": walk.least, "now": now, "temporal_life": float(TEMPORAL_LIFE), "day": float(DAY)}
        reached = self._rows(
            connection, f"walk_{way}", start=walk.start, depth=walk.depth, **limits, **fading
        )
        distances = {walk.start: 0, **dict(reached)}
        surest: dict[str, Link] = {}
        between = self._rows(connection, f"links_{way}_of", ids=as_json(list(distances)), **limits)
        for link in map(link_from, between):
            near, far = (link.from_id, link.to_id) if way == "out" else (link.to_id, link.from_id)
            if distances.get(far, 0) != distances[near] + 1:
                continue
            strength = effective_confidence(link, now)
            if strength >= walk.least and (
                far not in surest or strength > effective_confidence(surest[far], now)
            ):
                surest[far] = link
        return [Step(id=each, distance=distances[each], link=surest[each]) for each in surest]

    def mark(self) -> int:
        with self._file.reading() as connection:
            return int(self._rows(connection, "graph_mark")[0][0])

    def changed(self, since: int) -> frozenset[str]:
        with self._file.reading() as connection:
            return frozenset(row[0] for row in self._rows(connection, "graph_changed", since=since))

    def unlinked(self, limit: int) -> list[Memory]:
        with self._file.reading() as connection:
            ids = [row[0] for row in self._rows(connection, "unlinked", limit=limit)]
            return memories_of(connection, self._tenant, ids)

    def made_by_system(self) -> list[Link]:
        with self._file.reading() as connection:
            return [link_from(row) for row in self._rows(connection, "links_by_system")]

    def counters(self) -> Mapping[str, int]:
        with self._file.reading() as connection:
            return dict(self._rows(connection, "counters"))

    def _rows(self, connection: apsw.Connection, query: str, **values: Any) -> Sequence[tuple[Any, ...]]:  # noqa: ANN401  what SQL takes
        return list(connection.execute(_SQL[query], {"tenant": self._tenant, **values}))
