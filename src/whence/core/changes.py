"""Changes: how a memory is altered inside one transaction, with its event, its chain and its links."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from whence.core.errors import (
    AlreadySuperseded,
    InvalidParameter,
    LinkToItself,
    MemoryNotFound,
    SupersessionCycle,
)
from whence.core.ids import link_id
from whence.core.links import Link, known_type
from whence.core.memories import (
    PART_OF_DECISION,
    Author,
    Event,
    Memory,
    Tie,
    changed_fields,
    normal_word,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.core.links import Creator
    from whence.core.ports import Embedding, Writing
    from whence.core.times import Instant

_MOVES_UPDATED_AT = {"content", "topic", "confidence", "status", "tags", "superseded_by", "grounds"}


@dataclass(frozen=True, slots=True)
class Deed:
    """One change under way: what it is called, who makes it and when."""

    action: str
    author: Author
    now: Instant
    creator: Creator = "llm"


def standing(writing: Writing, memory_id: str) -> Memory:
    """Return a memory that was not deleted."""
    found = writing.memory(memory_id)
    if found is None or found.known_until is not None:
        raise MemoryNotFound(memory_id)
    return found


def record(
    writing: Writing,
    before: Memory,
    after: Memory,
    deed: Deed,
    embeddings: Sequence[Embedding] | None = None,
) -> Memory:
    """Write a change with its event; a change that changes nothing leaves no trace."""
    changed = changed_fields(before, after)
    if not changed:
        return before
    told = changed.keys() | ({"grounds"} if before.grounds != after.grounds else set())
    if told & _MOVES_UPDATED_AT:
        after = replace(after, updated_at=max(deed.now, before.updated_at))
    is_read_anew = bool(told & {"content", "topic", "grounds"})
    writing.update(before, after, embeddings if is_read_anew else None)
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


def tie(writing: Writing, from_id: str, wanted: Tie, deed: Deed) -> Link:
    """Link one memory to another; one that stands already is returned as it is."""
    wanted.check()
    word = normal_word(wanted.relationship)
    target = standing(writing, wanted.to_id)
    if target.id == from_id:
        raise LinkToItself(from_id)
    for link in writing.links(from_id):
        if (link.from_id, link.to_id, link.relationship) == (from_id, target.id, word):
            return link
    metadata = {"original_relationship": wanted.relationship}
    if wanted.reason is not None:
        metadata["reason"] = wanted.reason
    made = Link(
        id=link_id(deed.now),
        from_id=from_id,
        to_id=target.id,
        link_type=wanted.link_type or known_type(word) or "association",
        relationship=word,
        confidence=wanted.confidence,
        created_by=deed.creator,
        created_at=deed.now,
        metadata=metadata,
    )
    writing.link(made)
    return made


def replace_one(writing: Writing, old_id: str, new_id: str, wanted: Tie, deed: Deed) -> Memory:
    """Let one memory replace another, and return the new one; the same pair again changes nothing."""
    old, new = standing(writing, old_id), standing(writing, new_id)
    if old.id == new.id:
        raise InvalidParameter(
            f"Memory {old.id} cannot supersede itself", hint="Give the ids of two different memories."
        )
    if old.superseded_by == new.id:
        return new
    kinds = {old.type, new.type}
    if len(kinds) > 1 and (kinds & PART_OF_DECISION.keys() or new.type == "checkpoint"):
        raise InvalidParameter(
            f"Memory {new.id} is a {new.type} and cannot replace a {old.type}",
            hint="A checkpoint, reason, consequence or constraint replaces only one of its own type.",
        )
    if old.superseded_by is not None:
        raise AlreadySuperseded(old.id, writing.head(old.id))
    if new.status == "archived":
        raise InvalidParameter(
            f"Memory {new.id} is archived and answers nothing, so it cannot replace another",
            hint="Restore it first: whence archive --restore.",
        )
    if writing.head(new.id) == old.id:
        raise SupersessionCycle(old.id, new.id)
    tie(writing, new.id, wanted, deed)
    after = replace(new, supersedes=(old.id, *new.supersedes))
    record(writing, new, after, replace(deed, action="replaced another"))
    _close(writing, old, new, deed)
    return after


def _close(writing: Writing, old: Memory, new: Memory, deed: Deed) -> None:
    """End the valid time of a replaced memory and of all that it had replaced itself (RULINGS B8)."""
    following = _following(writing, new)
    waiting = [(replace(old, superseded_by=new.id), old, following, "superseded")]
    while waiting:
        after, before, following, action = waiting.pop()
        after = replace(after, valid_until=max(before.valid_from, following))
        record(writing, before, after, replace(deed, action=action))
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
