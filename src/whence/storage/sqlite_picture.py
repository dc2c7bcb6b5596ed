"""All memories of a SQLite file, as they stand at one moment."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Self

from whence.core.memories import Workspace
from whence.storage.queries import named_queries
from whence.storage.rows import event_from, link_from, memories_of
from whence.storage.sqlite_file import plain_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from whence.core.links import Link
    from whence.core.memories import Event, Memory
    from whence.storage.sqlite_file import SqliteFile

_SQL = named_queries("sqlite")


class SqlitePicture:
    """All memories of a tenant and what is told of them; inside `with`, as they stand at one moment."""

    def __init__(self, file: SqliteFile, tenant: str) -> None:
        self._file = file
        self._tenant = tenant
        self._still: apsw.Connection | None = None
        self._held = ExitStack()

    def __enter__(self) -> Self:
        self._still = self._held.enter_context(self._file.still())
        return self

    def __exit__(self, *error: object) -> None:
        self._still = None
        self._held.close()

    def __iter__(self) -> Iterator[Memory]:
        seq = 0
        while True:
            with self._reading() as connection:
                rows = self._rows(connection, "every", seq=seq)
                batch = memories_of(connection, self._tenant, [row[1] for row in rows])
            if not rows:
                return
            yield from batch
            seq = rows[-1][0]

    def events(self, memory_id: str) -> list[Event]:
        with self._reading() as connection:
            return [event_from(memory_id, row) for row in self._rows(connection, "events", id=memory_id)]

    def links(self, memory_id: str) -> list[Link]:
        with self._reading() as connection:
            return [link_from(row) for row in self._rows(connection, "links", id=memory_id)]

    def workspaces(self) -> list[Workspace]:
        with self._reading() as connection:
            return [
                Workspace(id=row[0], name=row[1], identity=row[2], created_at=row[3], archived_at=row[4])
                for row in self._rows(connection, "workspaces")
            ]

    @contextmanager
    def _reading(self) -> Iterator[apsw.Connection]:
        if self._still is None:
            with self._file.reading() as connection:
                yield connection
        else:
            with plain_sentences(self._file.where):
                yield self._still

    def _rows(self, connection: apsw.Connection, query: str, **values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401  what SQL takes
        return list(connection.execute(_SQL[query], {"tenant": self._tenant, **values}))
