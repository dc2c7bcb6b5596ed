"""The verbs of a memory's life, on an open store."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from whence.core.errors import (
    AlreadySuperseded,
    EmbeddingUnavailable,
    InvalidParameter,
    MemoryNotFound,
    SupersessionCycle,
    WhenceError,
)
from whence.core.ids import link_id, memory_id
from whence.core.links import Link
from whence.core.masking import mask_within
from whence.core.memories import SCHEMA_VERSION, Author, Draft, Event, Memory, changed_fields
from whence.core.reading import embedder_for, read_memory
from whence.core.recall import Answer, Query, as_known, recall
from whence.core.times import MINUTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whence.core.links import Creator
    from whence.core.ports import Clock, Embedding, Models, Scope, Store, Writing
    from whence.core.times import Instant

REPEAT_WINDOW = 10 * MINUTE  # a client that timed out asks again within this time
_FLUSH_AFTER = 1.0  # seconds that access times wait to be written together
_TEXTS = ("content", "topic", "name", "context", "domain", "module", "code_ref", "tags", "metadata")
_EDITABLE = {"content", "topic", "tags", "confidence"}
_MOVES_UPDATED_AT = {"content", "topic", "confidence", "status", "tags", "superseded_by"}


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save made, and what the caller should know."""

    memory: Memory
    embeddings: tuple[Embedding, ...] = field(repr=False)
    notices: tuple[str, ...] = ()
    is_repeat: bool = False


class Whence:
    """An open memory: one tenant's store, the models that read it, and the time."""

    def __init__(self, store: Store, models: Models, clock: Clock) -> None:
        self.store = store
        self.models = models
        self.clock = clock
        self._accessed: dict[str, Instant] = {}
        self._access_lock = threading.Lock()
        self._flush: threading.Timer | None = None

    def remember(
        self, draft: Draft, *, workspace: str, author: Author | None = None, request: str | None = None
    ) -> Saved:
        """Store a memory; `request` identifies the call, so that its repetition answers with the first."""
        author = author or Author()
        draft.check()
        draft, notices = _masked(draft)
        now = self.clock.now()
        memory = _from_draft(draft, workspace, now)
        embeddings, trouble = self._read(memory)
        memory = replace(memory, is_pending=not embeddings)
        with self.store.writing() as writing:
            earlier = self._repeated(writing, request, now)
            # What was edited or moved since is no longer what this call would store.
            if earlier is not None and (earlier.content, earlier.workspace) == (memory.content, workspace):
                return Saved(earlier, tuple(embeddings), notices, is_repeat=True)
            if memory.type == "decision":
                memory = replace(memory, number=writing.next_number())
            writing.insert(memory, embeddings)
            writing.append(
                Event(memory_id=memory.id, number=1, at=now, action="created", author=author, replaced={})
            )
            if request is not None:
                writing.remember_request(request, memory.id, now)
        return Saved(memory, tuple(embeddings), (*notices, *trouble))

    def get(self, memory_id: str) -> Memory:
        """Return a memory, whatever became of it."""
        found = self.store.memories([memory_id])
        if not found:
            raise MemoryNotFound(memory_id)
        return found[0]

    def recall(self, query: Query) -> Answer:
        """Return the memories that answer `query`, best first."""
        answer = recall(self.store, self.models, self.clock, query)
        self._note_access([hit.memory.id for hit in answer.hits])
        return answer

    def recent(self, scope: Scope, limit: int) -> list[Memory]:
        """Return the newest memories of a scope, newest first."""
        return [as_known(self.store, each, scope) for each in self.store.recent(scope, limit)]

    def supersede(
        self, old_id: str, *, by: str, author: Author | None = None, creator: Creator = "llm"
    ) -> Memory:
        """Let one memory replace another, and return the new one; the same pair again changes nothing."""
        author = author or Author()
        now = self.clock.now()
        with self.store.writing() as writing:
            old, new = _standing(writing, old_id), _standing(writing, by)
            if old.id == new.id:
                raise InvalidParameter(
                    f"Memory {old.id} cannot supersede itself", hint="Give the ids of two different memories."
                )
            if old.superseded_by == new.id:
                return new
            if old.superseded_by is not None:
                raise AlreadySuperseded(old.id, writing.head(old.id))
            if new.status == "archived":
                raise InvalidParameter(
                    f"Memory {new.id} is archived and answers nothing, so it cannot replace another",
                    hint="Restore it first: whence archive --restore.",
                )
            if writing.head(new.id) == old.id:
                raise SupersessionCycle(old.id, new.id)
            writing.link(
                Link(
                    id=link_id(now),
                    from_id=new.id,
                    to_id=old.id,
                    link_type="evolution",
                    relationship="supersedes",
                    confidence=1.0,
                    created_by=creator,
                    created_at=now,
                )
            )
            after = replace(new, supersedes=(old.id, *new.supersedes))
            _record(writing, new, after, _Deed("replaced another", author, now))
            _close(writing, old, new, author, now)
            return after

    def edit(self, memory_id: str, changes: Mapping[str, object], *, author: Author | None = None) -> Saved:
        """Correct a memory's content, topic, tags or confidence; the earlier words stay in its history."""
        author = author or Author()
        before = self.get(memory_id)
        after = replace(before, **changes)  # type: ignore[arg-type]  # Draft.check refuses what does not fit
        draft, notices = _masked(_draft_of(after))
        draft.check()
        after = replace(after, content=draft.content, topic=draft.topic, tags=draft.tags)
        now = self.clock.now()
        embeddings, trouble = self._read(after) if _text_of(after) != _text_of(before) else ([], [])
        with self.store.writing() as writing:
            standing = _standing(writing, memory_id)
            fresh = replace(standing, **{name: getattr(after, name) for name in _EDITABLE & changes.keys()})
            # Another program may have edited it meanwhile: these vectors are then of a text that is none.
            embeddings = embeddings if _text_of(fresh) == _text_of(after) else []
            if _text_of(fresh) != _text_of(standing):
                fresh = replace(fresh, is_pending=not embeddings)
            fresh = _record(writing, standing, fresh, _Deed("edited", author, now), embeddings)
        return Saved(fresh, tuple(embeddings), (*notices, *trouble))

    def archive(self, memory_id: str, *, author: Author | None = None) -> Memory:
        """Put a memory away: it answers nothing until it is restored."""
        return self._set(memory_id, "archived", author, status="archived")

    def restore(self, memory_id: str, *, author: Author | None = None) -> Memory:
        """Bring an archived memory back; one that is not archived stays as it is."""
        with self.store.writing() as writing:
            before = _standing(writing, memory_id)
            after = replace(before, status="active") if before.status == "archived" else before
            return _record(writing, before, after, _Deed("restored", author or Author(), self.clock.now()))

    def move(self, memory_id: str, workspace: str, *, author: Author | None = None) -> Memory:
        """Carry a memory to another workspace."""
        return self._set(memory_id, "moved", author, workspace=workspace)

    def history(self, memory_id: str) -> list[Event]:
        """Return what happened to a memory, first things first."""
        self.get(memory_id)
        return self.store.events(memory_id)

    def close(self) -> None:
        """Write what waits and close the store."""
        self._flush_quietly()
        self.store.close()

    def flush(self) -> None:
        """Write the access times that wait."""
        with self._access_lock:
            if self._flush is not None:
                self._flush.cancel()
                self._flush = None
            accessed, self._accessed = self._accessed, {}
        if accessed:
            self.store.touch(accessed)

    def _set(self, memory_id: str, action: str, author: Author | None, **changes: str) -> Memory:
        with self.store.writing() as writing:
            before = _standing(writing, memory_id)
            after = replace(before, **changes)  # type: ignore[arg-type]  # callers above name the fields
            return _record(writing, before, after, _Deed(action, author or Author(), self.clock.now()))

    def _read(self, memory: Memory) -> tuple[list[Embedding], list[str]]:
        """Return the memory's vectors, or the notice that they must wait."""
        try:
            made = read_memory(embedder_for(self.models, memory.content), memory)
        except EmbeddingUnavailable as error:
            return [], [f"Saved; found by words until its vector is made (EMBEDDING_ERROR): {error.message}"]
        return [made], []

    def _repeated(self, writing: Writing, request: str | None, now: Instant) -> Memory | None:
        if request is None:
            return None
        earlier_id = writing.repeated(request, now - REPEAT_WINDOW)
        earlier = writing.memory(earlier_id) if earlier_id else None
        return earlier if earlier is not None and earlier.is_live else None

    def _note_access(self, ids: Sequence[str]) -> None:
        if not ids:
            return
        now = self.clock.now()
        with self._access_lock:
            self._accessed.update(dict.fromkeys(ids, now))
            if self._flush is None:
                self._flush = threading.Timer(_FLUSH_AFTER, self._flush_quietly)
                self._flush.daemon = True
                self._flush.start()

    def _flush_quietly(self) -> None:
        try:
            self.flush()
        except WhenceError:
            # An access time is no promise: a read-only or locked store loses it, and answers all the same.
            return


def _masked(draft: Draft) -> tuple[Draft, tuple[str, ...]]:
    """Return the draft without secrets, and the word about it."""
    told, kinds = mask_within({name: getattr(draft, name) for name in _TEXTS})
    if not kinds:
        return draft, ()
    return replace(draft, **told), (
        f"Masked before storing: {', '.join(kinds)}. Keep secrets out of memories.",
    )


def _from_draft(draft: Draft, workspace: str, now: Instant) -> Memory:
    return Memory(
        id=memory_id(draft.type, now),
        type=draft.type,
        content=draft.content,
        workspace=workspace,
        created_at=now,
        updated_at=now,
        accessed_at=now,
        valid_from=now if draft.valid_from is None else draft.valid_from,
        topic=draft.topic,
        name=draft.name,
        context=draft.context or None,
        confidence=draft.confidence,
        source=draft.source,
        level=draft.level,
        domain=draft.domain,
        module=draft.module,
        code_ref=draft.code_ref,
        tags=draft.tags,
        metadata={"schema_version": SCHEMA_VERSION, **draft.metadata},
    )


def _text_of(memory: Memory) -> tuple[str, str | None]:
    """Return what a model reads and an edit may change."""
    return memory.content, memory.topic


def _draft_of(memory: Memory) -> Draft:
    return Draft(
        content=memory.content,
        type=memory.type,
        topic=memory.topic,
        confidence=memory.confidence,
        tags=memory.tags,
    )


def _standing(writing: Writing, memory_id: str) -> Memory:
    """Return a memory that was not deleted."""
    found = writing.memory(memory_id)
    if found is None or found.known_until is not None:
        raise MemoryNotFound(memory_id)
    return found


@dataclass(frozen=True, slots=True)
class _Deed:
    """One change under way: what it is called, who makes it and when."""

    action: str
    author: Author
    now: Instant


def _record(
    writing: Writing,
    before: Memory,
    after: Memory,
    deed: _Deed,
    embeddings: Sequence[Embedding] | None = None,
) -> Memory:
    """Write a change with its event; a change that changes nothing leaves no trace."""
    changed = changed_fields(before, after)
    if not changed:
        return before
    if changed.keys() & _MOVES_UPDATED_AT:
        after = replace(after, updated_at=max(deed.now, before.updated_at))
    writing.update(before, after, embeddings if "content" in changed or "topic" in changed else None)
    writing.append(
        Event(
            memory_id=after.id,
            number=writing.next_event(after.id),
            at=deed.now,
            action=deed.action,
            author=deed.author,
            replaced=changed_fields(before, after),
        )
    )
    return after


def _close(writing: Writing, old: Memory, new: Memory, author: Author, now: Instant) -> None:
    """End the valid time of a replaced memory and of all that it had replaced itself (RULINGS B8)."""
    following = _following(writing, new)
    waiting = [(replace(old, superseded_by=new.id), old, following, "superseded")]
    while waiting:
        after, before, following, action = waiting.pop()
        after = replace(after, valid_until=max(before.valid_from, following))
        _record(writing, before, after, _Deed(action, author, now))
        for earlier_id in before.supersedes:
            earlier = writing.memory(earlier_id)
            if earlier is not None:
                waiting.append((earlier, earlier, min(before.valid_from, following), "chain grew"))


def _following(writing: Writing, memory: Memory) -> Instant:
    """Return the earliest time at which this memory or one that replaced it began to hold."""
    earliest = memory.valid_from
    step: Memory | None = memory
    while step is not None and step.superseded_by is not None:
        step = writing.memory(step.superseded_by)
        if step is not None:
            earliest = min(earliest, step.valid_from)
    return earliest
