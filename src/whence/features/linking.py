"""Linking: automatic links of new memories, few and faint, made after the save and pruned once a week."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whence.core.errors import EmbeddingUnavailable
from whence.core.ids import link_id
from whence.core.links import CLOSE_IN_TIME, SIMILAR, TEMPORAL_LIFE, Link, effective_confidence
from whence.core.memories import PART_OF_DECISION, topic_key
from whence.core.ports import Question, Scope
from whence.core.reading import embedder_for
from whence.core.times import DAY, MINUTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from whence.core.life import Whence
    from whence.core.memories import LinkType, Memory, MemoryType
    from whence.core.ports import Writing
    from whence.core.times import Instant

CANDIDATES = 10  # by meaning
MOST_SIMILAR = 5
MOST_CLOSE = 3
MOST = 10  # automatic links that end at a memory, both directions counted
LEAST = 0.3  # confidence
CLOSE = 60 * MINUTE
AT_ONCE, AT_THE_END = 0.5, 0.3  # confidence of a link in time, at no distance and at an hour's
PRUNED_EVERY = 7 * DAY
LARGEST_PRUNE = 10  # one in so many of the links that the system made
FAINT = 0.2  # stored confidence below which the prune takes a link

_CHORE = "prune links"
_BATCH = 32
_COUNTED = 1000  # more than this many waiting are told as this many
_LOOKED_BACK = 30  # of the newest memories, those of other sessions among them
# They keep what a decision or a moment needs, and are about whatever that is about.
_LINKED_IN_TIME_ALONE: frozenset[MemoryType] = frozenset({"checkpoint", *PART_OF_DECISION})


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a prune took, and how many automatic links stand after it."""

    removed: int
    kept: int


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A link that a memory may get."""

    other: Memory
    relationship: str
    link_type: LinkType
    confidence: float


def link_waiting(whence: Whence, patience: Instant) -> int:
    """Make the automatic links of new memories for a while; return how many still wait.

    Raises EmbeddingUnavailable when a model is missing and nothing else could be linked.
    """
    if not whence.links_itself:
        return 0
    graph = whence.store.graph()
    until = whence.clock.now() + patience
    linked_some = False
    left: dict[str, EmbeddingUnavailable] = {}
    while waiting := [each for each in graph.unlinked(_BATCH + len(left)) if each.id not in left]:
        for memory in waiting:
            if whence.clock.now() > until:
                return len(graph.unlinked(_COUNTED))
            try:
                _link(whence, memory)
                linked_some = True
            except EmbeddingUnavailable as error:
                left[memory.id] = error  # what another model has read need not wait for this one
    if left and not linked_some:
        raise next(iter(left.values()))
    return len(left)


def _link(whence: Whence, memory: Memory) -> None:
    """Make a memory's links and take its mark off, all or nothing."""
    wanted: list[_Wanted] = []
    if memory.is_live:
        wanted = [*_similar(whence, memory), *_close_in_time(whence, memory)]
        wanted.sort(key=lambda each: each.confidence, reverse=True)
    with whence.store.writing() as writing:
        now_standing = writing.memory(memory.id)
        if now_standing is None or now_standing.is_pending != memory.is_pending:
            return  # a model has read it meanwhile: the next look makes all its links
        if now_standing.is_live and now_standing.workspace == memory.workspace:
            standing = {memory.id: writing.links(memory.id)}
            for each in wanted:
                _make(writing, now_standing, each, standing, whence.clock.now())
        writing.linked(memory.id)


def _similar(whence: Whence, memory: Memory) -> list[_Wanted]:
    """Return links to the most similar memories, those of the same topic or domain first.

    Likeness alone is no ground: of what two conversations say, the likest are their courtesies. A second sign
    is asked for: the same topic or domain, or that they were written together.
    """
    if memory.is_pending or memory.type in _LINKED_IN_TIME_ALONE:
        return []
    embedder = embedder_for(whence.models, memory.content)
    manifest = embedder.manifest
    vector = embedder.embed_passage(embedder.passages(memory.content)[0])
    question = Question(vectors=((manifest.id, vector),), exclude=memory.id, own=True)
    # Twice as many: checkpoints are among them, and memories that an older version led to.
    found = whence.store.find(question, Scope(workspaces=(memory.workspace,)), 2 * CANDIDATES).candidates
    likeness = {each.id: each.meaning for each in found if each.meaning is not None and each.via is None}
    others = [
        each for each in whence.store.memories(list(likeness)) if each.type not in _LINKED_IN_TIME_ALONE
    ]
    for each in others:
        if each.supersedes:  # what was found may be the words of an older version
            passages = embedder.passages(each.content)
            likeness[each.id] = max(float(embedder.embed_passage(piece) @ vector) for piece in passages)
    others.sort(key=lambda each: likeness[each.id], reverse=True)
    near = [each for each in others[:CANDIDATES] if each.is_live and likeness[each.id] >= manifest.linked]
    akin = [each for each in near if _is_akin(memory, each)]
    written = _written(whence, memory)
    beside = [each for each in near if each not in akin and _are_together(written, _written(whence, each))]
    return [
        _Wanted(each, SIMILAR, "association", min(1.0, likeness[each.id]))
        for each in [*akin, *beside][:MOST_SIMILAR]
    ]


def _is_akin(one: Memory, other: Memory) -> bool:
    """True for memories of the same topic or domain."""
    topics = [topic_key(each.topic) for each in (one, other) if each.topic is not None]
    same_topic = len(topics) == 2 and topics[0] == topics[1]
    return same_topic or (one.domain is not None and one.domain == other.domain)


def _close_in_time(whence: Whence, memory: Memory) -> list[_Wanted]:
    """Return links to the newest memories of the same workspace and session in the hour before it.

    The time is when they were saved. What is older than such a link lives gets none: it would be pruned.
    """
    if whence.clock.now() - memory.created_at > TEMPORAL_LIFE:
        return []
    scope = Scope(workspaces=(memory.workspace,), known_at=memory.created_at)
    written = _written(whence, memory)
    wanted: list[_Wanted] = []
    for each in whence.store.recent(scope, _LOOKED_BACK):
        gap = memory.created_at - each.created_at
        if gap > CLOSE or len(wanted) == MOST_CLOSE:
            break
        came_before = (each.created_at, each.id) < (memory.created_at, memory.id)
        if came_before and each.is_live and _are_together(written, _written(whence, each)):
            confidence = AT_ONCE - (AT_ONCE - AT_THE_END) * gap / CLOSE
            wanted.append(_Wanted(each, CLOSE_IN_TIME, "temporal", confidence))
    return wanted


def _written(whence: Whence, memory: Memory) -> tuple[str | None, Instant]:
    """Return in which session a memory was written, if that is known, and when."""
    events = whence.store.events(memory.id)
    return (events[0].author.session if events else None), memory.created_at


def _are_together(one: tuple[str | None, Instant], other: tuple[str | None, Instant]) -> bool:
    """True for one session, or for one hour where a session is unknown: two do different work at once."""
    if one[0] is None or other[0] is None:
        return abs(one[1] - other[1]) <= CLOSE
    return one[0] == other[0]


def _make(
    writing: Writing, memory: Memory, wanted: _Wanted, standing: dict[str, list[Link]], now: Instant
) -> None:
    """Link the newer to the older, unless a link joins the two already or ten stronger ones stand.

    `standing` holds the links of every end looked at so far, and is kept current.
    """
    other = writing.memory(wanted.other.id)
    if other is None or not other.is_live or other.workspace != memory.workspace:
        return
    is_joined = any(other.id in (each.from_id, each.to_id) for each in standing[memory.id])
    if is_joined or wanted.confidence < LEAST:
        return
    standing.setdefault(other.id, writing.links(other.id))
    giving_way = _giving_way([standing[memory.id], standing[other.id]], wanted.confidence, now)
    if giving_way is None:
        return
    if giving_way:
        writing.unlink(giving_way, now)
    newer, older = sorted((memory, other), key=lambda each: (each.created_at, each.id), reverse=True)
    link = Link(
        id=link_id(now),
        from_id=newer.id,
        to_id=older.id,
        link_type=wanted.link_type,
        relationship=wanted.relationship,
        confidence=wanted.confidence,
        created_by="system",
        created_at=now,
    )
    writing.link(link)
    for end, links in standing.items():
        links[:] = [each for each in links if each.id not in giving_way]
        if end in (newer.id, older.id):
            links.append(link)


def _giving_way(ends: Iterable[Sequence[Link]], confidence: float, now: Instant) -> list[str] | None:
    """Return the links that make room at both ends; None if all that stand at one are as strong."""
    giving_way: list[str] = []
    for links in ends:
        automatic = [each for each in links if each.created_by == "system"]
        if len(automatic) < MOST:
            continue
        weakest = min(automatic, key=lambda each: (effective_confidence(each, now), each.created_at))
        if effective_confidence(weakest, now) >= confidence:
            return None
        giving_way.append(weakest.id)
    return giving_way


def prune(whence: Whence, *, force: bool = False) -> Pruned | None:
    """Remove automatic links that have faded or were outdone, at most a tenth; None if that is not due.

    It is due once a week, whichever process asks first. What somebody stated is never removed.
    """
    now = whence.clock.now()
    with whence.store.writing() as writing:
        if not writing.claim(_CHORE, now, 0 if force else PRUNED_EVERY):
            return None
    links = whence.store.graph().made_by_system()
    best = _best(links)
    spent = [each for each in links if _is_spent(each, best, now)]
    spent.sort(key=lambda each: (effective_confidence(each, now), each.created_at))
    removed = spent[: math.ceil(len(links) / LARGEST_PRUNE)]
    if removed:
        with whence.store.writing() as writing:
            writing.unlink([each.id for each in removed], now)
    return Pruned(len(removed), len(links) - len(removed))


def _best(links: Sequence[Link]) -> frozenset[str]:
    """Return the links by likeness that are among the five best of either end."""
    at: dict[str, list[Link]] = defaultdict(list)
    for link in links:
        if link.relationship == SIMILAR:
            at[link.from_id].append(link)
            at[link.to_id].append(link)
    best: set[str] = set()
    for each in at.values():
        each.sort(key=lambda link: (link.confidence, link.created_at), reverse=True)
        best.update(link.id for link in each[:MOST_SIMILAR])
    return frozenset(best)


def _is_spent(link: Link, best: frozenset[str], now: Instant) -> bool:
    is_old = link.link_type == "temporal" and now - link.created_at > TEMPORAL_LIFE
    is_outdone = link.relationship == SIMILAR and link.id not in best
    return is_old or is_outdone or link.confidence < FAINT
