"""The verbs of a memory's life, on an open store."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from whence.core.changes import Deed, record, replace_one, standing, tie
from whence.core.errors import (
    AlreadySuperseded,
    EmbeddingUnavailable,
    InvalidParameter,
    LinkNotFound,
    MemoryNotFound,
    WhenceError,
)
from whence.core.graph import Walks
from whence.core.ids import memory_id
from whence.core.links import LINK_LIMIT, Link
from whence.core.masking import mask, mask_within
from whence.core.memories import PART_OF_DECISION, SCHEMA_VERSION, Author, Draft, Event, Memory, Tie
from whence.core.reading import embedder_for, read_memory
from whence.core.recall import Answer, Query, as_known, recall
from whence.core.times import MINUTE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from whence.core.links import Creator
    from whence.core.ports import Clock, Embedding, Models, Scope, Store, Writing
    from whence.core.times import Instant

REPEAT_WINDOW = 10 * MINUTE  # a client that timed out asks again within this time
_FLUSH_AFTER = 1.0  # seconds that access times wait to be written together
_TEXTS = ("content", "topic", "name", "context", "domain", "module", "code_ref", "tags", "metadata")
_EDITABLE = {"content", "topic", "tags", "confidence", "status", "metadata"}
_WAITS = "Saved; found by words until its vector is made (EMBEDDING_ERROR)"


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save made, and what the caller should know."""

    memory: Memory
    embeddings: tuple[Embedding, ...] = field(repr=False)
    notices: tuple[str, ...] = ()
    is_repeat: bool = False
    links: tuple[Link, ...] = ()  # those that the caller stated


class Whence:
    """An open memory: one tenant's store, the models that read it, and the time."""

    def __init__(
        self,
        store: Store,
        models: Models,
        clock: Clock,
        *,
        links_itself: bool = True,
        after_decision: Callable[[Memory], None] = lambda _: None,
    ) -> None:
        self.store = store
        self.models = models
        self.clock = clock
        self.links_itself = links_itself  # whether new memories get automatic links
        self.after_decision = after_decision  # called once for each new one, after it is committed
        self.walks = Walks(store, clock)
        self._accessed: dict[str, Instant] = {}
        self._access_lock = threading.Lock()
        self._flush: threading.Timer | None = None

    def remember(
        self,
        draft: Draft,
        *,
        workspace: str,
        author: Author | None = None,
        request: str | None = None,
        creator: Creator = "llm",
    ) -> Saved:
        """Store a memory with its parts and links, all or nothing.

        `request` identifies the call, so that its repetition answers with the first.
        """
        author = author or Author()
        draft, notices = _checked(draft)
        now = self.clock.now()
        memory = _from_draft(draft, workspace, now)
        parts = [(_from_draft(each, workspace, now), each) for each in draft.parts]
        embeddings, trouble = self._read([memory, *(part for part, _ in parts)])
        deed = Deed("created", author, now, creator)
        with self.store.writing() as writing:
            earlier = self._repeated(writing, request, now)
            # What was edited or moved since is no longer what this call would store.
            if earlier is not None and (earlier.content, earlier.workspace) == (memory.content, workspace):
                stated = [each for each in writing.links(earlier.id) if each.created_by != "system"]
                mine = tuple(
                    each
                    for each in stated
                    if each.from_id == earlier.id and not _leads_to_part(writing, each)
                )
                return Saved(earlier, tuple(embeddings[0]), notices, is_repeat=True, links=mine)
            memory = self._insert(writing, memory, embeddings[0], deed)
            links = [tie(writing, memory.id, each, deed) for each in draft.ties if not each.supersedes]
            for (part, each), made in zip(parts, embeddings[1:], strict=True):
                part = self._insert(writing, part, made, deed)  # noqa: PLW2901  the same part, stored
                _join(writing, memory.id, part.id, each, deed)
            for wanted in _replaced_by(draft):
                memory = _replace(writing, wanted, memory, deed)
            links += [each for each in writing.links(memory.id) if each.supersedes]
            if request is not None:
                writing.remember_request(request, memory.id, now)
        if memory.type == "decision":
            self.after_decision(memory)
        return Saved(memory, tuple(embeddings[0]), (*notices, *trouble), links=tuple(links))

    def get(self, memory_id: str) -> Memory:
        """Return a memory, whatever became of it."""
        found = self.store.memories([memory_id])
        if not found:
            raise MemoryNotFound(memory_id)
        return found[0]

    def recall(self, query: Query) -> Answer:
        """Return the memories that answer `query`, best first."""
        answer = recall(self.store, self.models, self.clock, self.walks, query)
        self.note_access([hit.memory.id for hit in answer.hits])
        return answer

    def recent(self, scope: Scope, limit: int) -> list[Memory]:
        """Return the newest memories of a scope, newest first."""
        return [as_known(self.store, each, scope) for each in self.store.recent(scope, limit)]

    def supersede(
        self,
        old_id: str,
        *,
        by: str,
        author: Author | None = None,
        creator: Creator = "llm",
        reason: str | None = None,
    ) -> Memory:
        """Let one memory replace another, and return the new one; the same pair again changes nothing."""
        deed = self._deed("superseded", author, creator)
        wanted = _superseding(old_id, mask(reason).text if reason else None)
        with self.store.writing() as writing:
            return replace_one(writing, old_id, by, wanted, deed)

    def link(
        self, from_id: str, wanted: Tie, *, author: Author | None = None, creator: Creator = "llm"
    ) -> Link:
        """Link one memory to another by a word; a word that supersedes is a supersession (RULINGS B1)."""
        deed = self._deed("linked", author, creator)
        told, _ = mask_within({"reason": wanted.reason, "relationship": wanted.relationship})
        wanted = replace(wanted, **told)
        with self.store.writing() as writing:
            standing(writing, from_id)
            if not wanted.supersedes:
                return tie(writing, from_id, wanted, deed)
            replace_one(writing, wanted.to_id, from_id, replace(wanted, confidence=1.0), deed)
            links = writing.links(from_id)
            return next(each for each in links if each.supersedes and each.to_id == wanted.to_id)

    def unlink(self, link_id: str) -> Link:
        """Take a link away; what was replaced stays replaced."""
        with self.store.writing() as writing:
            link = writing.link_of(link_id)
            if link is None or link.known_until is not None:
                raise LinkNotFound(link_id)
            if link.supersedes:
                raise InvalidParameter(
                    f"Link {link_id} says what replaced what, and history keeps that",
                    hint=f"Supersede {link.from_id} with a memory that holds now.",
                )
            writing.unlink([link_id], self.clock.now())
        return link

    def edit(
        self,
        memory_id: str,
        changes: Mapping[str, object],
        *,
        author: Author | None = None,
        action: str = "edited",
    ) -> Saved:
        """Correct a memory's content, topic, tags, confidence, status or details.

        The earlier words stay in its history; `metadata` is laid over the details that stand.
        """
        before = self.get(memory_id)
        after, notices = _edited(before, changes)
        embeddings: list[list[Embedding]] = [[]]
        trouble: list[str] = []
        if _text_of(after) != _text_of(before):
            embeddings, trouble = self._read([after])
        with self.store.writing() as writing:
            now_standing = standing(writing, memory_id)
            _refuse_revival(now_standing, changes)
            fresh, _ = _edited(now_standing, changes)
            # Another program may have edited it meanwhile: these vectors are then of a text that is none.
            made = embeddings[0] if _text_of(fresh) == _text_of(after) else []
            if _text_of(fresh) != _text_of(now_standing):
                fresh = replace(fresh, is_pending=not made)
            fresh = record(writing, now_standing, fresh, self._deed(action, author), made)
        return Saved(fresh, tuple(made), (*notices, *trouble))

    def archive(self, memory_id: str, *, author: Author | None = None) -> Memory:
        """Put a memory away: it answers nothing until it is restored."""
        return self._set(memory_id, "archived", author, status="archived")

    def restore(self, memory_id: str, *, author: Author | None = None) -> Memory:
        """Bring an archived memory back; one that is not archived stays as it is."""
        with self.store.writing() as writing:
            before = standing(writing, memory_id)
            after = replace(before, status="active") if before.status == "archived" else before
            return record(writing, before, after, self._deed("restored", author))

    def move(self, memory_id: str, workspace: str, *, author: Author | None = None) -> Memory:
        """Carry a memory and its parts to another workspace."""
        with self.store.writing() as writing:
            before = standing(writing, memory_id)
            deed = self._deed("moved", author)
            for part in _parts_of(writing, before):
                record(writing, part, replace(part, workspace=workspace), deed)
            return record(writing, before, replace(before, workspace=workspace), deed)

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
        counted = {name: number for name, number in self.walks.take_counted().items() if number}
        if accessed or counted:
            self.store.touch(accessed, counted)

    def _set(self, memory_id: str, action: str, author: Author | None, **changes: str) -> Memory:
        with self.store.writing() as writing:
            before = standing(writing, memory_id)
            after = replace(before, **changes)  # type: ignore[arg-type]  # callers above name the fields
            return record(writing, before, after, self._deed(action, author))

    def _deed(self, action: str, author: Author | None, creator: Creator = "llm") -> Deed:
        return Deed(action, author or Author(), self.clock.now(), creator)

    def _insert(self, writing: Writing, memory: Memory, made: Sequence[Embedding], deed: Deed) -> Memory:
        """Store a new memory with its first event."""
        memory = replace(memory, is_pending=not made)
        if memory.type == "decision":
            memory = replace(memory, number=writing.next_number())
        writing.insert(memory, made, to_link=self.links_itself and memory.type not in PART_OF_DECISION)
        writing.append(
            Event(
                memory_id=memory.id,
                number=1,
                at=deed.now,
                action=deed.action,
                author=deed.author,
                replaced={},
            )
        )
        return memory

    def _read(self, memories: Sequence[Memory]) -> tuple[list[list[Embedding]], list[str]]:
        """Return each memory's vectors, or none and the notice that they must wait."""
        made: list[list[Embedding]] = []
        trouble: list[str] = []
        for memory in memories:
            try:
                made.append([read_memory(embedder_for(self.models, memory.content), memory)])
            except EmbeddingUnavailable as error:
                made.append([])
                trouble = [
                    f"Saved; found by words until its vector is made (EMBEDDING_ERROR): {error.message}"
                ]
        return made, trouble

    def _repeated(self, writing: Writing, request: str | None, now: Instant) -> Memory | None:
        if request is None:
            return None
        earlier_id = writing.repeated(request, now - REPEAT_WINDOW)
        earlier = writing.memory(earlier_id) if earlier_id else None
        return earlier if earlier is not None and earlier.is_live else None

    def note_access(self, ids: Sequence[str]) -> None:
        """Note that memories were returned; it is written later, off the answer's way."""
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


def _checked(draft: Draft) -> tuple[Draft, tuple[str, ...]]:
    """Return the draft without secrets, parts and ties too, and the word about it; a bad one is refused."""
    for each in (draft, *draft.parts):
        each.check()
    if len(draft.ties) > LINK_LIMIT:
        raise InvalidParameter(f"links must be at most {LINK_LIMIT}; there are {len(draft.ties)}")
    for wanted in draft.ties:
        wanted.check()
    draft, notices = _masked(draft)
    return replace(draft, parts=tuple(_masked(each)[0] for each in draft.parts)), notices


def _masked(draft: Draft) -> tuple[Draft, tuple[str, ...]]:
    """Return the draft without secrets, and the word about it."""
    fields = {name: getattr(draft, name) for name in _TEXTS}
    fields["ties"] = [(each.relationship, each.reason) for each in draft.ties]
    fields["why"] = draft.why_replaced
    told, kinds = mask_within(fields)
    # Told once, for the parts too, whose own masking is silent.
    _, of_parts = mask_within([[each.content, *each.tags] for each in draft.parts])
    kinds = tuple(dict.fromkeys([*kinds, *of_parts]))
    if not kinds:
        return draft, ()
    ties = tuple(
        replace(each, relationship=word, reason=reason)
        for each, (word, reason) in zip(draft.ties, told.pop("ties"), strict=True)
    )
    return replace(draft, why_replaced=told.pop("why"), ties=ties, **told), (
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


def _replaced_by(draft: Draft) -> list[Tie]:
    """Return what a draft replaces, each once: named as such, or by a link whose word says so."""
    named = [_superseding(each, draft.why_replaced) for each in draft.supersedes]
    linked = [replace(each, confidence=1.0) for each in draft.ties if each.supersedes]
    return list({each.to_id: each for each in (*named, *linked)}.values())


def _replace(writing: Writing, wanted: Tie, memory: Memory, deed: Deed) -> Memory:
    """Let a memory under way replace another; a refusal leaves no trace of it and must not name it."""
    try:
        return replace_one(writing, wanted.to_id, memory.id, wanted, deed)
    except AlreadySuperseded as error:
        old = writing.memory(wanted.to_id)
        if error.head_id != memory.id or old is None or old.superseded_by is None:
            raise
        raise AlreadySuperseded(old.id, old.superseded_by) from None


def _leads_to_part(writing: Writing, link: Link) -> bool:
    end = writing.memory(link.to_id)
    return end is not None and end.type in PART_OF_DECISION


def _superseding(old_id: str, reason: str | None) -> Tie:
    return Tie(to_id=old_id, relationship="supersedes", confidence=1.0, reason=reason)


def _join(writing: Writing, decision_id: str, part_id: str, part: Draft, deed: Deed) -> None:
    """Link a part with its decision: what acts comes first."""
    word, confidence, from_decision = PART_OF_DECISION[part.type]
    from_id, to_id = (decision_id, part_id) if from_decision else (part_id, decision_id)
    tie(writing, from_id, Tie(to_id=to_id, relationship=word, confidence=confidence), deed)


def _parts_of(writing: Writing, memory: Memory) -> list[Memory]:
    """Return the reasons, consequences and constraints that hang on a decision."""
    if memory.type != "decision":
        return []
    ends = [each.to_id if each.from_id == memory.id else each.from_id for each in writing.links(memory.id)]
    parts = [writing.memory(each) for each in dict.fromkeys(ends)]
    return [
        each
        for each in parts
        if each is not None and each.type in PART_OF_DECISION and each.workspace == memory.workspace
    ]


def _text_of(memory: Memory) -> tuple[str, str | None, str | None]:
    """Return what a model reads and an edit may change."""
    return memory.content, memory.topic, memory.grounds


def _edited(before: Memory, changes: Mapping[str, object]) -> tuple[Memory, tuple[str, ...]]:
    """Return the memory with its changes, checked and without secrets, and the word about it."""
    wanted = {name: value for name, value in changes.items() if name in _EDITABLE}
    details = wanted.get("metadata")
    if isinstance(details, dict):
        laid = {**before.metadata, **details}
        wanted["metadata"] = {name: value for name, value in laid.items() if value is not None}
    after = replace(before, **wanted)  # type: ignore[arg-type]  # Draft.check refuses what does not fit
    draft = Draft(
        content=after.content,
        type=after.type,
        topic=after.topic,
        confidence=after.confidence,
        tags=after.tags,
        metadata=after.metadata,
    )
    draft, notices = _masked(draft)
    draft.check()
    return replace(
        after, content=draft.content, topic=draft.topic, tags=draft.tags, metadata=dict(draft.metadata)
    ), notices


def _refuse_revival(memory: Memory, changes: Mapping[str, object]) -> None:
    """Only superseding sets superseded, and nothing else takes it back."""
    if "status" in changes and memory.superseded_by is not None:
        raise AlreadySuperseded(memory.id, memory.superseded_by)
