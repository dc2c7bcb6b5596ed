"""The SQLite store: rows, words and vectors in one file, searched in one go."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np

from whence.core.memories import PART_OF_DECISION, Workspace
from whence.core.ports import Candidate, Census, Found
from whence.core.words import is_cjk
from whence.storage.queries import named_queries
from whence.storage.rows import (
    as_json,
    memories_of,
    scope_row,
)
from whence.storage.sqlite_file import SqliteFile
from whence.storage.sqlite_graph import SqliteGraph
from whence.storage.sqlite_matrices import SqliteMatrices
from whence.storage.sqlite_picture import SqlitePicture
from whence.storage.sqlite_writing import SqliteWriting
from whence.storage.vectors import unpack

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from whence.core.memories import Event, Memory
    from whence.core.ports import Clock, Question, Scope, Wanted, Writing
    from whence.core.times import Instant
    from whence.storage.matrix import Scan

_SQL = named_queries("sqlite")
_TOUCH_PATIENCE = 0.5  # seconds
_OF_TOPIC = 100  # memories of the topic that a question names
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


def _similarities(
    scans: Mapping[str, Sequence[Scan]], rows: Collection[int], known: Mapping[int, tuple[str, float]]
) -> dict[int, tuple[str, float]]:
    """Return how near rows are that neither words nor meaning brought."""
    found: dict[int, tuple[str, float]] = {}
    fresh = [each for each in rows if each not in known]
    for model, each in scans.items() if fresh else ():
        for scan in each:
            for seq, similarity in scan.of(fresh).items():
                if np.isfinite(similarity):
                    found.setdefault(seq, (model, similarity))
    return found


@dataclass(frozen=True, slots=True)
class _Met:
    """The rows that a question met: by words, by meaning, and by the name of their topic."""

    words: Mapping[int, float]
    meaning: Mapping[int, tuple[str, float]]
    named: frozenset[int]


def _merge(known: Candidate | None, fresh: Candidate) -> Candidate:
    """Join two hits of one chain: the best score of any version counts, and the head itself is no detour."""
    if known is None:
        return fresh
    nearer = max((known, fresh), key=lambda each: -1.0 if each.meaning is None else each.meaning)
    return replace(
        nearer,
        words=max(known.words, fresh.words),
        topics=tuple(dict.fromkeys([*known.topics, *fresh.topics])),
        via=None if known.via is None or fresh.via is None else nearer.via,
    )


def _register_of(wanted: Wanted) -> str:
    """Return the name of the query that lists this."""
    if wanted.topic is not None:
        return "by_topic"
    return "decisions" if wanted.decision_type is None else "decisions_of_type"


class SqliteStore:
    """Keeps one tenant's memories in one file."""

    def __init__(self, path: Path | str, *, tenant: str, clock: Clock) -> None:
        self._file = SqliteFile(path, clock=clock)
        self._tenant = tenant
        self._matrices = SqliteMatrices(tenant)
        # Up to which change of a workspace a model lacked nothing: (workspace, model) -> (generation, stamp).
        self._complete: dict[tuple[str, str], tuple[int, int]] = {}

    # -- writing

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        with self._file.writing() as connection:
            yield SqliteWriting(connection, self._tenant)

    def touch(self, accessed: Mapping[str, Instant], counted: Mapping[str, int]) -> None:
        # Nobody waits long for it: when a memory was last returned is no promise.
        with self._file.writing(patience=_TOUCH_PATIENCE) as connection:
            connection.executemany(
                _SQL["touch"],
                ({"tenant": self._tenant, "id": each, "at": at} for each, at in accessed.items()),
            )
            connection.executemany(
                _SQL["count"],
                ({"tenant": self._tenant, "name": each, "by": by} for each, by in counted.items()),
            )

    # -- reading

    def memories(self, ids: Sequence[str]) -> list[Memory]:
        with self._file.reading() as connection:
            return memories_of(connection, self._tenant, ids)

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
            return memories_of(connection, self._tenant, [each for _, each in newest[:limit]])
        return []  # apsw's context may swallow an error, for all that its types say

    def chain(self, memory_id: str) -> list[Memory]:
        with self._file.reading() as connection:
            ids = self._column(connection, "chain", id=memory_id)
            return memories_of(connection, self._tenant, ids)

    def events(self, memory_id: str) -> list[Event]:
        return self.every().events(memory_id)

    def graph(self) -> SqliteGraph:
        return SqliteGraph(self._file, self._tenant)

    def listed(self, wanted: Wanted, scope: Scope, limit: int) -> list[Memory]:
        places = self._places(scope)
        rows: list[tuple[Any, ...]] = []
        # One picture, as in `recent`.
        with self._file.reading() as connection, connection:
            if wanted.numbers:
                found = self._rows(connection, "by_number", numbers=as_json(wanted.numbers))
                rows = [row for row in found if row[3] in places]
            for workspace in () if wanted.numbers else places:
                rows += self._rows(
                    connection,
                    _register_of(wanted),
                    **scope_row(scope),
                    workspace=workspace,
                    topic=wanted.topic,
                    decision_type=wanted.decision_type,
                    status=wanted.status,
                    limit=limit,
                )
            rows.sort(key=lambda row: (row[1], row[2] or 0), reverse=True)
            return memories_of(connection, self._tenant, [row[0] for row in rows[:limit]])
        return []  # as in `recent`

    def topics(self, scope: Scope) -> list[str]:
        with self._file.reading() as connection:
            found = [
                topic
                for workspace in self._places(scope)
                for topic in self._column(connection, "topics", workspace=workspace)
            ]
        return list(dict.fromkeys(found))

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
            unsure=row[6],
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
            return memories_of(connection, self._tenant, ids)

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
        self._matrices.clear()

    # -- finding

    def find(self, question: Question, scope: Scope, limit: int) -> Found:
        with self._file.reading() as connection:
            places = self._places(scope)
            allowed = self._allowed(connection, scope)
            scans = self._scan(connection, question, places, allowed)
            spans = _spans(scans)
            named = self._of_topic(connection, question, places, allowed)
            fetch = limit
            while True:
                words = self._by_words(connection, question, places, allowed, fetch)
                meaning = _nearest(scans, fetch, words)
                met = _Met(words, meaning | _similarities(scans, named, meaning), named)
                found = self._answers(connection, question, scope, met)
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
        filters = (scope.types, scope.history, scope.least_confidence)
        if not any(filters) and scope.as_of is None and scope.known_at is None:
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

    def _of_topic(
        self,
        connection: apsw.Connection,
        question: Question,
        places: Sequence[str],
        allowed: NDArray[np.int64] | None,
    ) -> frozenset[int]:
        """Return the rows on the topic that the question names."""
        if question.topic is None:
            return frozenset()
        found = frozenset(
            seq
            for workspace in places
            for seq in self._column(
                connection, "of_topic", workspace=workspace, topic=question.topic, limit=_OF_TOPIC
            )
        )
        return found if allowed is None or not found else found & frozenset(allowed.tolist())

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
                matrix = self._matrices.of(connection, workspace, model)
                earlier = [
                    self._matrices.of(connection, workspace, other).seqs for other in scans if other != model
                ]
                without = np.concatenate(earlier) if earlier else None
                scans[model].append(matrix.scan(vector, allowed, without))
        return scans

    def _answers(
        self,
        connection: apsw.Connection,
        question: Question,
        scope: Scope,
        met: _Met,
    ) -> list[Candidate]:
        """Return one candidate per chain: its answering version, with the best score of any version."""
        words, meaning = met.words, met.meaning
        seqs = list(dict.fromkeys([*words, *meaning, *met.named]))
        if question.own:
            meaning = self._judge_by_own(connection, question, meaning)
        rows = self._versions(connection, scope, seqs)
        found: dict[str, Candidate] = {}
        for (
            seq,
            start,
            head,
            source,
            valid_from,
            status,
            workspace,
            kind,
            known_until,
            confidence,
            topic,
        ) in rows:
            outside = scope.workspaces is not None and workspace not in scope.workspaces
            put_away = not scope.history and status == "archived"
            deleted = known_until is not None and (scope.known_at is None or known_until <= scope.known_at)
            wrong_type = bool(scope.types) and kind not in scope.types
            unsure = confidence < scope.least_confidence
            if head == question.exclude or outside or put_away or deleted or wrong_type or unsure:
                continue
            model, similarity = meaning.get(seq, (None, None))
            fresh = Candidate(
                id=head,
                source=source,
                valid_from=valid_from,
                words=words.get(seq, 0.0),
                meaning=similarity,
                model=model,
                topics=() if topic is None else (topic,),
                via=start if start != head else None,
            )
            found[head] = _merge(found.get(head), fresh)
        return list(found.values())

    def _versions(
        self, connection: apsw.Connection, scope: Scope, seqs: Sequence[int]
    ) -> list[tuple[Any, ...]]:
        """Return, for each row, the version that answers for it: only what was replaced has a chain."""
        rows = self._rows(connection, "rows", seqs=as_json(seqs))
        parts = [row[0] for row in rows if row[7] in PART_OF_DECISION]
        if parts and not set(scope.types) & PART_OF_DECISION.keys():
            return self._with_decisions(connection, scope, rows, parts)
        return self._standing(connection, scope, rows)

    def _standing(
        self, connection: apsw.Connection, scope: Scope, rows: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        """Return the rows that answer for themselves, and the heads of those that were replaced."""
        standing = [row[:-1] for row in rows if scope.history or not row[-1]]
        replaced = [row[0] for row in rows if row[-1] and not scope.history]
        if replaced:
            standing += self._rows(connection, "heads", **scope_row(scope), seqs=as_json(replaced))
        return standing

    def _with_decisions(
        self,
        connection: apsw.Connection,
        scope: Scope,
        rows: Sequence[tuple[Any, ...]],
        parts: Sequence[int],
    ) -> list[tuple[Any, ...]]:
        """Return what answers where reasons and the like are met: the decision that they hang on."""
        hangs_on = self._rows(connection, "decided_by", seqs=as_json(parts))
        decisions = [each[2] for each in hangs_on]
        found = self._rows(connection, "rows", seqs=as_json(list(dict.fromkeys(decisions))))
        of_decision: dict[int, list[tuple[Any, ...]]] = {}
        for row in self._standing(connection, scope, found):
            of_decision.setdefault(row[0], []).append(row)
        own = [row for row in rows if row[7] not in PART_OF_DECISION]
        answering = self._standing(connection, scope, own)
        for seq, part, decision in hangs_on:
            answering += [(seq, part, *row[2:]) for row in of_decision.get(decision, [])]
        return answering

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

    # -- rows

    def _rows(self, connection: apsw.Connection, query: str, **values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401  what SQL takes
        return list(connection.execute(_SQL[query], {"tenant": self._tenant, **values}))

    def _column(self, connection: apsw.Connection, query: str, **values: Any) -> list[Any]:  # noqa: ANN401  what SQL takes
        return [row[0] for row in self._rows(connection, query, **values)]
