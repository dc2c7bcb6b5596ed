"""The links of a SQLite store: walks, marks and what waits to be linked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whence.core.links import TEMPORAL_LIFE
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
_MOST_CROSSED = 400  # links that a walk goes along each way
_REACHED, _DISTANCE, _STRENGTH = 10, 11, 12  # columns of a walk after those of the link


class SqliteGraph:
    """What one tenant's memories are to each other."""

    def __init__(self, file: SqliteFile, tenant: str) -> None:
        self._file = file
        self._tenant = tenant

    def links(self, memory_id: str) -> list[Link]:
        with self._file.reading() as connection:
            return [link_from(row) for row in self._rows(connection, "links", id=memory_id)]

    def walk(self, walk: Walk, now: Instant) -> list[Step]:
        """Return what a walk reaches, nearest first and by the surest links, each memory once.

        Each way goes along a few hundred links at most, the nearest first: in a dense neighbourhood what
        lies far is left out rather than waited for.
        """
        ways = ("out", "in") if walk.direction == "both" else (walk.direction,)
        asked = {
            "start": walk.start,
            "depth": walk.depth,
            "link_types": as_json(walk.link_types) if walk.link_types else None,
            "relationships": as_json(walk.relationships) if walk.relationships else None,
            "since": walk.since,
            "until": walk.until,
            "least": walk.least,
            "now": now,
            "temporal_life": float(TEMPORAL_LIFE),
            "day": float(DAY),
            "most": _MOST_CROSSED,
        }
        # One picture: both ways must see the same links.
        with self._file.reading() as connection, connection:
            found = [row for way in ways for row in self._rows(connection, f"walk_{way}", **asked)]
        # What both ways reach counts by the nearer one.
        found.sort(key=lambda row: (row[_DISTANCE], -row[_STRENGTH], row[0]))
        nearest: dict[str, Step] = {}
        for row in found:
            if row[_REACHED] not in nearest:
                nearest[row[_REACHED]] = Step(id=row[_REACHED], distance=row[_DISTANCE], link=link_from(row))
        return list(nearest.values())

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
