"""The matrices of a SQLite store: vectors held in memory, brought up to what is committed."""

from __future__ import annotations

import threading
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from whence.storage.matrix import Matrix
from whence.storage.queries import named_queries
from whence.storage.rows import as_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

_SQL = named_queries("sqlite")
_PIECE = 8192  # rows read at once
_RELOAD = 2000  # changed rows from which reading the whole workspace again is cheaper


class SqliteMatrices:
    """One matrix a workspace and model, read at first need."""

    def __init__(self, tenant: str) -> None:
        self._tenant = tenant
        self._known: dict[tuple[str, str], Matrix] = {}
        self._lock = threading.Lock()

    def clear(self) -> None:
        with self._lock:
            self._known.clear()

    def of(self, connection: apsw.Connection, workspace: str, model: str) -> Matrix:
        """Return the matrix of a workspace, brought up to what is committed now."""
        with self._lock:
            marks = self._rows(connection, "marks", workspace=workspace)
            generation, stamp = marks[0] if marks else (0, 0)
            matrix = self._known.get((workspace, model))
            if matrix is None or matrix.generation != generation:
                matrix = self._load(connection, workspace, model)
            elif matrix.stamp < stamp:
                matrix = self._catch_up(connection, matrix, workspace, model)
            self._known[workspace, model] = matrix
            return matrix

    def _load(self, connection: apsw.Connection, workspace: str, model: str) -> Matrix:
        # One read transaction: a row committed between two statements must not be skipped.
        with connection:
            generation, stamp = (self._rows(connection, "marks", workspace=workspace) or [(0, 0)])[0]
            matrix = Matrix(generation, stamp)
            found: Iterator[Any] = connection.execute(
                _SQL["all_vectors"], {"tenant": self._tenant, "workspace": workspace, "model": model}
            )
            # In pieces: the packed rows of a large workspace must not all lie in memory beside the matrix.
            while rows := list(islice(found, _PIECE)):
                matrix.append([row[0] for row in rows], [row[1] for row in rows])
            matrix.hide(self._column(connection, "hidden", workspace=workspace), hidden=True)
        return matrix

    def _catch_up(self, connection: apsw.Connection, matrix: Matrix, workspace: str, model: str) -> Matrix:
        with connection:
            stamp = self._rows(connection, "marks", workspace=workspace)[0][1]
            changed = self._rows(connection, "changed", workspace=workspace, stamp=matrix.stamp)
            if len(changed) > _RELOAD:
                return self._load(connection, workspace, model)
            seqs = np.array([seq for seq, _ in changed], dtype=np.int64)
            new = seqs[~matrix.holds(seqs)].tolist()
            if new:
                fresh = self._rows(
                    connection, "vectors_of", workspace=workspace, model=model, seqs=as_json(new)
                )
                matrix.append([row[0] for row in fresh], [row[1] for row in fresh])
            for hidden in (True, False):
                matrix.hide([row[0] for row in changed if bool(row[1]) is hidden], hidden=hidden)
            matrix.stamp = stamp
        return matrix

    def _rows(self, connection: apsw.Connection, query: str, **values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401  what SQL takes
        return list(connection.execute(_SQL[query], {"tenant": self._tenant, **values}))

    def _column(self, connection: apsw.Connection, query: str, **values: Any) -> list[Any]:  # noqa: ANN401  what SQL takes
        return [row[0] for row in self._rows(connection, query, **values)]
