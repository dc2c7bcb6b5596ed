"""One SQLite transaction: a row, its words, its vectors and its event, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw

from whence.core.errors import InvalidParameter
from whence.core.times import MINUTE
from whence.core.words import context_form, index_form
from whence.storage.queries import named_queries
from whence.storage.rows import as_json, event_row, link_from, link_row, memory_from, memory_row
from whence.storage.vectors import pack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.core.links import Link
    from whence.core.memories import Event, Memory, Workspace
    from whence.core.ports import Embedding
    from whence.core.times import Instant

_SQL = named_queries("sqlite")
_REQUESTS_KEPT = 60 * MINUTE
# What a model makes its vectors of, and what the word index holds.
_READ = ("content", "topic", "context", "grounds", "valid_from", "workspace")
_INDEXED = ("content", "topic", "context", "grounds", "workspace", "status", "known_until")


def _place(memory: Memory) -> str:
    """Return the words by which the index knows where a memory lies, and whether it may answer."""
    hidden = memory.status == "archived" or memory.known_until is not None
    return f"{memory.workspace}9" if hidden else f"{memory.workspace}9 {memory.workspace}0"


class SqliteWriting:
    """What one transaction may do."""

    def __init__(self, connection: apsw.Connection, tenant: str) -> None:
        self._connection = connection
        self._tenant = tenant

    def memory(self, memory_id: str) -> Memory | None:
        rows = self._run("memories", ids=as_json([memory_id]))
        return memory_from(rows[0]) if rows else None

    def head(self, memory_id: str) -> str:
        return str(self._value("head", id=memory_id))

    def insert(self, memory: Memory, embeddings: Sequence[Embedding], *, to_link: bool = False) -> None:
        seq = self._value("last_seq") + 1
        stamp = self._next_stamp(memory.workspace)
        self._run("insert_memory", **memory_row(memory), seq=seq, stamp=stamp, unlinked=to_link)
        self._index(memory, seq)
        self._put_vectors(memory, seq, embeddings)

    def update(self, before: Memory, after: Memory, embeddings: Sequence[Embedding] | None = None) -> None:
        seq = self._value("seq_of", id=before.id)
        self._run("update_memory", **memory_row(after), stamp=self._next_stamp(after.workspace))
        if any(getattr(before, name) != getattr(after, name) for name in _INDEXED):
            self._run("unindex_words", seq=seq)
            self._index(after, seq)
        if embeddings is not None:
            for model in self._models(before.workspace):
                self._run("drop_vectors", workspace=before.workspace, model=model, seq=seq)
            self._run("bump_generation", workspace=before.workspace)
            self._put_vectors(after, seq, embeddings)
        elif before.workspace != after.workspace:
            for model in self._models(before.workspace):
                self._run(
                    "move_vectors",
                    workspace=before.workspace,
                    to_workspace=after.workspace,
                    model=model,
                    seq=seq,
                )
            self._run("bump_generation", workspace=before.workspace)

    def embed(self, memory: Memory, embedding: Embedding, *, settles: bool) -> None:
        # Another process may have edited or moved it meanwhile: its vectors are then the right ones.
        now = self.memory(memory.id)
        if now is None or any(getattr(now, name) != getattr(memory, name) for name in _READ):
            return
        self._put_vectors(memory, self._value("seq_of", id=memory.id), [embedding])
        stamp = self._next_stamp(memory.workspace)
        self._run("restamp", id=memory.id, stamp=stamp, pending=now.is_pending and not settles)

    def link(self, link: Link) -> None:
        self._run("insert_link", **link_row(link))
        self._mark_graph([link.from_id, link.to_id])

    def links(self, memory_id: str) -> list[Link]:
        return [link_from(row) for row in self._run("live_links", id=memory_id)]

    def link_of(self, link_id: str) -> Link | None:
        rows = self._run("link_of", id=link_id)
        return link_from(rows[0]) if rows else None

    def unlink(self, link_ids: Sequence[str], at: Instant) -> None:
        ids = as_json(list(link_ids))
        touched = [end for ends in self._run("ends_of", ids=ids) for end in ends]
        self._run("retire_links", ids=ids, at=at)
        self._run("drop_links", ids=ids)
        self._mark_graph(touched)

    def linked(self, memory_id: str) -> None:
        self._run("set_linked", id=memory_id)

    def claim(self, chore: str, now: Instant, every: Instant) -> bool:
        rows = self._run("chore", name=chore)
        if rows and now - rows[0][0] < every:
            return False
        self._run("note_chore", name=chore, at=now)
        return True

    def _mark_graph(self, memory_ids: Sequence[str]) -> None:
        self._run("mark_graph", ids=as_json(list(memory_ids)), mark=self._value("graph_mark") + 1)

    def append(self, event: Event) -> None:
        self._run("insert_event", **event_row(event))

    def next_event(self, memory_id: str) -> int:
        return int(self._value("next_event", id=memory_id))

    def next_number(self) -> int:
        return int(self._value("next_number"))

    def repeated(self, request: str, since: Instant) -> str | None:
        rows = self._run("repeated", request=request, since=since)
        return rows[0][0] if rows else None

    def remember_request(self, request: str, memory_id: str, at: Instant) -> None:
        self._run("forget_requests", before=at - _REQUESTS_KEPT)
        self._run("remember_request", request=request, memory_id=memory_id, at=at)

    def found_workspace(self, workspace: Workspace) -> None:
        try:
            self._run(
                "insert_workspace",
                id=workspace.id,
                name=workspace.name,
                name_key=workspace.name.casefold(),
                identity=workspace.identity,
                created_at=workspace.created_at,
                archived_at=workspace.archived_at,
            )
        except apsw.ConstraintError:
            raise InvalidParameter(
                f'Workspace "{workspace.name}" exists already', hint="Use it, or choose another name."
            ) from None

    def _index(self, memory: Memory, seq: int) -> None:
        text = "\n".join(each for each in (memory.topic, memory.content, memory.grounds) if each)
        self._run(
            "index_words",
            seq=seq,
            text=index_form(text),
            context=context_form(memory.context or ""),
            place=_place(memory),
        )

    def _put_vectors(self, memory: Memory, seq: int, embeddings: Sequence[Embedding]) -> None:
        for embedding in embeddings:
            for number, passage in enumerate(embedding.passages):
                self._run(
                    "insert_vector",
                    workspace=memory.workspace,
                    model=embedding.model,
                    seq=seq,
                    passage=number,
                    own=pack(passage.own),
                    blend=None if passage.blend is None else pack(passage.blend),
                )

    def _models(self, workspace: str) -> list[str]:
        return [row[0] for row in self._run("models_here", workspace=workspace)]

    def _next_stamp(self, workspace: str) -> int:
        return int(self._value("last_stamp", workspace=workspace)) + 1

    def _value(self, query: str, **values: Any) -> Any:  # noqa: ANN401  what SQL gives and takes
        return self._run(query, **values)[0][0]

    def _run(self, query: str, **values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401  what SQL takes
        return list(self._connection.execute(_SQL[query], {"tenant": self._tenant, **values}))
