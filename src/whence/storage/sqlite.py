"""The SQLite store: rows, words and vectors in one file, searched in one go."""

from __future__ import annotations

import threading
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import apsw
import numpy as np

from whence.core.memories import Workspace
from whence.core.ports import Candidate, Census, Found
from whence.core.words import is_cjk
from whence.storage.matrix import Matrix, Scan
from whence.storage.queries import named_queries
from whence.storage.rows import (
    as_json,
    event_from,
    link_from,
    memory_from,
    scope_row,
)
from whence.storage.sqlite_file import SqliteFile, plain_sentences
from whence.storage.sqlite_writing import SqliteWriting
from whence.storage.vectors import unpack

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from whence.core.links import Link
    from whence.core.memories import Event, Memory
    from whence.core.ports import Clock, Question, Scope, Writing
    from whence.core.times import Instant

_SQL = named_queries("sqlite")
_TOUCH_PATIENCE = 0.5  # seconds
_PIECE = 8192  # rows read at once
_RELOAD = 2000  # changed rows from which reading the whole workspace again is cheaper
_WIDER = 4  # how much more each arm brings when versions of few memories filled the first cut


def _match(words: Sequence[str], phrases: Sequence[str], places: Sequence[str]) -> str:
    """Return the FTS5 expression for any of these words in any of these places."""
    terms = [f'"{word}"' for word in words] + [f'"{phrase}"' for phrase in phrases]
    # A single CJK character meets every pair that begins with it.
    terms += [f'"{word}" *' for word in words if len(word) == 1 and is_cjk(word)]
    text = f"{{text context}} : ({' OR '.join(terms)})"
    where = " OR ".join(f'"{place}"' for place in places)
    return f"place : ({where}) AND {text}"


def _spans(scans: Mapping[str, Sequence[Scan]]) -> dict[str, tuple[float, float]]:
    """Return the least and the greatest similarity that each model saw."""
    spans = {}
    for model, each in scans.items():
        seen = [span for scan in each if (span := scan.span) is not None]
        if seen:
            spans[model] = (min(low for low, _ in seen), max(high for _, high in seen))
    return spans


def _nearest(
    scans: Mapping[str, Sequence[Scan]], fetch: int, words: Mapping[int, float]
) -> dict[int, tuple[str, float]]:
    """Return the nearest rows of every scan, and the similarity of the rows that words found."""
    found: dict[int, tuple[str, float]] = {}
    for model, each in scans.items():
        best = sorted(
            ((similarity, seq) for scan in each for seq, similarity in scan.best(fetch).items()), reverse=True
        )[:fetch]
        met = [(similarity, seq) for scan in each for seq, similarity in scan.of(words).items()]
        for similarity, seq in best + met:
            if np.isfinite(similarity):
                found.setdefault(seq, (model, similarity))
    return found


def _merge(known: Candidate | None, fresh: Candidate) -> Candidate:
    """Join two hits of one chain: the best score of any version counts, and the head itself is no detour."""
    if known is None:
        return fresh
    nearer = max((known, fresh), key=lambda each: -1.0 if each.meaning is None else each.meaning)
    return replace(
        nearer,
        words=max(known.words, fresh.words),
        via=None if known.via is None or fresh.via is None else nearer.via,
    )


def _memories(connection: apsw.Connection, tenant: str, ids: Sequence[str]) -> list[Memory]:
    rows = connection.execute(_SQL["memories"], {"tenant": tenant, "ids": as_json(list(ids))})
    return [memory_from(row) for row in rows]


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
                batch = _memories(connection, self._tenant, [row[1] for row in rows])
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


class SqliteStore:
    """Keeps one tenant's memories in one file."""

    def __init__(self, path: Path | str, *, tenant: str, clock: Clock) -> None:
        self._file = SqliteFile(path, clock=clock)
        self._tenant = tenant
        self._matrices: dict[tuple[str, str], Matrix] = {}
        self._matrix_lock = threading.Lock()
        # Up to which change of a workspace a model lacked nothing: (workspace, model) -> (generation, stamp).
        self._complete: dict[tuple[str, str], tuple[int, int]] = {}

    # -- writing

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        with self._file.writing() as connection:
            yield SqliteWriting(connection, self._tenant)

    def touch(self, accessed: Mapping[str, Instant]) -> None:
        # Nobody waits long for it: when a memory was last returned is no promise.
        with self._file.writing(patience=_TOUCH_PATIENCE) as connection:
            connection.executemany(
                _SQL["touch"],
                ({"tenant": self._tenant, "id": each, "at": at} for each, at in accessed.items()),
            )

    # -- reading

    def memories(self, ids: Sequence[str]) -> list[Memory]:
        with self._file.reading() as connection:
            return _memories(connection, self._tenant, ids)

    def recent(self, scope: Scope, limit: int) -> list[Memory]:
        places = scope.workspaces
        if places is None:
            places = tuple(each.id for each in self.workspaces())
        newest: list[tuple[int, str]] = []
        # One picture: what is superseded between the two readings must not be listed as if it were not.
        with self._file.reading() as connection, connection:
            for workspace in places:
                rows = self._rows(connection, "recent", **scope_row(scope), workspace=workspace, limit=limit)
                newest += [(created_at, memory_id) for memory_id, created_at in rows]
            newest.sort(reverse=True)
            return _memories(connection, self._tenant, [each for _, each in newest[:limit]])
        return []  # apsw's context may swallow an error, for all that its types say

    def chain(self, memory_id: str) -> list[Memory]:
        with self._file.reading() as connection:
            ids = self._column(connection, "chain", id=memory_id)
            return _memories(connection, self._tenant, ids)

    def events(self, memory_id: str) -> list[Event]:
        return self.every().events(memory_id)

    def links(self, memory_id: str) -> list[Link]:
        return self.every().links(memory_id)

    def workspaces(self) -> list[Workspace]:
        return self.every().workspaces()

    def census(self, scope: Scope) -> Census:
        with self._file.reading() as connection:
            row = next(iter(self._rows(connection, "census", **scope_row(scope))))
        return Census(
            live=row[0],
            superseded=row[1],
            archived=row[2],
            other_types=row[3],
            not_then=row[4],
            elsewhere=row[5],
        )

    def models_in(self, scope: Scope) -> frozenset[str]:
        with self._file.reading() as connection:
            return frozenset(
                model
                for workspace in self._places(scope)
                for model in self._column(connection, "models_here", workspace=workspace)
            )

    def lacking(self, model: str | None, scope: Scope, limit: int) -> list[Memory]:
        with self._file.reading() as connection:
            if model is None:
                ids = self._column(connection, "pending", **scope_row(scope), limit=limit)
            else:
                ids = []
                for workspace in self._places(scope):
                    ids += self._lacking_in(connection, workspace, model, limit - len(ids))
            return _memories(connection, self._tenant, ids)

    def _lacking_in(self, connection: apsw.Connection, workspace: str, model: str, limit: int) -> list[str]:
        """Return what a model lacks in a workspace, looking only at what changed since nothing lacked.

        A question must not go through a whole workspace to learn that there is nothing to read.
        """
        generation, stamp = (self._rows(connection, "marks", workspace=workspace) or [(0, 0)])[0]
        complete = self._complete.get((workspace, model))
        since = complete[1] if complete is not None and complete[0] == generation else -1
        ids = self._column(connection, "lacking", workspace=workspace, model=model, stamp=since, limit=limit)
        if limit > 0 and not ids:
            self._complete[workspace, model] = (generation, stamp)
        return ids

    def every(self) -> SqlitePicture:
        return SqlitePicture(self._file, self._tenant)

    def health(self) -> Mapping[str, str]:
        with self._file.reading() as connection:
            check = [row[0] for row in connection.execute("PRAGMA quick_check")]
            counts = self._rows(connection, "counts")[0]
            names = ("memories", "links", "events", "workspaces")
            return {
                "database": self._file.where,
                "engine": f"SQLite {apsw.sqlite_lib_version()}",
                "integrity": ", ".join(check),
                "journal": next(connection.execute("PRAGMA journal_mode"))[0],
                "synchronous": str(next(connection.execute("PRAGMA synchronous"))[0]),
                **{name: f"{count:,}" for name, count in zip(names, counts, strict=True)},
            }

    def close(self) -> None:
        self._matrices.clear()
        self._file.close()

    def release(self) -> None:
        """Give the matrices' memory back; the next search reads them again."""
        with self._matrix_lock:
            self._matrices.clear()

    # -- finding

    def find(self, question: Question, scope: Scope, limit: int) -> Found:
        with self._file.reading() as connection:
            places = self._places(scope)
            allowed = self._allowed(connection, scope)
            scans = self._scan(connection, question, places, allowed)
            spans = _spans(scans)
            fetch = limit
            while True:
                words = self._by_words(connection, question, places, allowed, fetch)
                meaning = _nearest(scans, fetch, words)
                found = self._answers(connection, question, scope, words, meaning)
                widest = max((scan.seqs.size for each in scans.values() for scan in each), default=0)
                if allowed is not None:
                    widest = min(widest, allowed.size)
                if len(found) >= limit or (len(words) < fetch and widest <= fetch):
                    return Found(candidates=tuple(found), spans=spans)
                fetch *= _WIDER

    def _places(self, scope: Scope) -> tuple[str, ...]:
        if scope.workspaces is not None:
            return scope.workspaces
        return tuple(each.id for each in self.workspaces())

    def _allowed(self, connection: apsw.Connection, scope: Scope) -> NDArray[np.int64] | None:
        """Return the rows that a filtered search lets in; none for a plain one, which the index knows."""
        if not (scope.types or scope.history or scope.as_of is not None or scope.known_at is not None):
            return None
        return np.array(self._column(connection, "allowed", **scope_row(scope)), dtype=np.int64)

    def _by_words(
        self,
        connection: apsw.Connection,
        question: Question,
        places: Sequence[str],
        allowed: NDArray[np.int64] | None,
        fetch: int,
    ) -> dict[int, float]:
        if not question.words or not places:
            return {}
        suffix = "0" if allowed is None else "9"
        match = _match(question.words, question.phrases, [f"{place}{suffix}" for place in places])
        if allowed is None:
            rows = connection.execute(_SQL["by_words"], {"match": match, "limit": fetch})
        else:
            rows = connection.execute(
                _SQL["by_words_within"],
                {"match": match, "limit": fetch, "allowed": as_json(allowed.tolist())},
            )
        return {seq: -score for seq, score in rows}

    def _scan(
        self,
        connection: apsw.Connection,
        question: Question,
        places: Sequence[str],
        allowed: NDArray[np.int64] | None,
    ) -> dict[str, list[Scan]]:
        """Return, per model, the scans of every workspace; a later model sees only what earlier ones lack."""
        scans: dict[str, list[Scan]] = {}
        for model, vector in question.vectors:
            scans[model] = []
            for workspace in places:
                matrix = self._matrix(connection, workspace, model)
                earlier = [
                    self._matrix(connection, workspace, other).seqs for other in scans if other != model
                ]
                without = np.concatenate(earlier) if earlier else None
                scans[model].append(matrix.scan(vector, allowed, without))
        return scans

    def _answers(
        self,
        connection: apsw.Connection,
        question: Question,
        scope: Scope,
        words: Mapping[int, float],
        meaning: Mapping[int, tuple[str, float]],
    ) -> list[Candidate]:
        """Return one candidate per chain: its answering version, with the best score of any version."""
        seqs = list(dict.fromkeys([*words, *meaning]))
        if question.own:
            meaning = self._judge_by_own(connection, question, meaning)
        rows = self._versions(connection, scope, seqs)
        found: dict[str, Candidate] = {}
        for seq, start, head, source, valid_from, status, workspace, kind, known_until in rows:
            outside = scope.workspaces is not None and workspace not in scope.workspaces
            put_away = not scope.history and status == "archived"
            deleted = known_until is not None and (scope.known_at is None or known_until <= scope.known_at)
            wrong_type = bool(scope.types) and kind not in scope.types
            if head == question.exclude or outside or put_away or deleted or wrong_type:
                continue
            model, similarity = meaning.get(seq, (None, None))
            fresh = Candidate(
                id=head,
                source=source,
                valid_from=valid_from,
                words=words.get(seq, 0.0),
                meaning=similarity,
                model=model,
                via=start if start != head else None,
            )
            found[head] = _merge(found.get(head), fresh)
        return list(found.values())

    def _versions(
        self, connection: apsw.Connection, scope: Scope, seqs: Sequence[int]
    ) -> list[tuple[Any, ...]]:
        """Return, for each row, the version that answers for it: only what was replaced has a chain."""
        rows = self._rows(connection, "rows", seqs=as_json(seqs))
        standing = [row[:-1] for row in rows if scope.history or not row[-1]]
        replaced = [row[0] for row in rows if row[-1] and not scope.history]
        if replaced:
            standing += self._rows(connection, "heads", **scope_row(scope), seqs=as_json(replaced))
        return standing

    def _judge_by_own(
        self, connection: apsw.Connection, question: Question, meaning: Mapping[int, tuple[str, float]]
    ) -> dict[int, tuple[str, float]]:
        """Return the similarities to the own vectors, without the context that may be blended in."""
        judged: dict[int, tuple[str, float]] = {}
        for model, vector in question.vectors:
            seqs = [seq for seq, (scanned, _) in meaning.items() if scanned == model]
            rows = self._rows(connection, "own_vectors_of", model=model, seqs=as_json(seqs))
            if rows:
                similarities = unpack([row[1] for row in rows]) @ vector
                for (seq, _), similarity in zip(rows, similarities.tolist(), strict=True):
                    judged[seq] = max(judged.get(seq, (model, -1.0)), (model, similarity))
        return judged

    # -- the matrix

    def _matrix(self, connection: apsw.Connection, workspace: str, model: str) -> Matrix:
        """Return the matrix of a workspace, brought up to what is committed now."""
        with self._matrix_lock:
            marks = self._rows(connection, "marks", workspace=workspace)
            generation, stamp = marks[0] if marks else (0, 0)
            matrix = self._matrices.get((workspace, model))
            if matrix is None or matrix.generation != generation:
                matrix = self._load(connection, workspace, model)
            elif matrix.stamp < stamp:
                matrix = self._catch_up(connection, matrix, workspace, model)
            self._matrices[workspace, model] = matrix
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

    # -- rows

    def _rows(self, connection: apsw.Connection, query: str, **values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401  what SQL takes
        return list(connection.execute(_SQL[query], {"tenant": self._tenant, **values}))

    def _column(self, connection: apsw.Connection, query: str, **values: Any) -> list[Any]:  # noqa: ANN401  what SQL takes
        return [row[0] for row in self._rows(connection, query, **values)]
