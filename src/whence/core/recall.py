"""Recall: from a question to the memories that answer it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from whence.core.errors import EmbeddingUnavailable, StorageFailed
from whence.core.links import effective_confidence
from whence.core.memories import PART_OF_DECISION, rewind
from whence.core.ports import Question, Scope, Walk
from whence.core.ranking import Reason, about, fuse
from whence.core.reading import read_lacking
from whence.core.times import SECOND, iso
from whence.core.words import needs_multilingual, question_phrases, question_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whence.core.graph import Walks
    from whence.core.memories import Memory
    from whence.core.ports import Clock, Embedder, Models, Store, Vector
    from whence.core.ranking import Ranked

GOOD = 3  # hits from which links lead on
SURE = 0.3  # effective confidence of a link that leads on
CANDIDATES = 100  # per search arm: fusion needs more than it returns
PATIENCE = 3 * SECOND // 10  # how long a question may first embed what its model has not read
_CHARACTERS_A_TOKEN = 4  # the rough measure while no tokenizer is there


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked, of which memories, and how much may come back."""

    text: str
    scope: Scope
    limit: int = 5
    max_tokens: int | None = None
    link_depth: int = 0  # how far links lead from the best hits to others


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers."""

    memory: Memory
    relevance: float
    reasons: tuple[Reason, ...]
    via: str | None  # the older version that the question met


@dataclass(frozen=True, slots=True)
class Answer:
    """What recall gives back: the hits, what the caller should know, and why there is nothing."""

    hits: tuple[Hit, ...]
    notices: tuple[str, ...] = ()
    nothing_because: str | None = None
    unread: int = 0  # memories that a background pass should still embed


def recall(store: Store, models: Models, clock: Clock, walks: Walks, query: Query) -> Answer:
    """Return the memories that answer `query`, best first."""
    reading = _read_question(store, models, clock, query)
    subject = about(query.text)
    question = Question(
        words=tuple(question_words(query.text)),
        phrases=tuple(question_phrases(query.text)),
        topic=subject.key,
        vectors=tuple((each.manifest.id, vector) for each, vector in reading.asked),
    )
    asked, notices = [each for each, _ in reading.asked], reading.notices
    found = store.find(question, query.scope, CANDIDATES)
    manifests = [each.manifest for each in asked]
    ranked = fuse(found, manifests, query.limit, subject)
    joined = _joined(walks, ranked[:GOOD], query.link_depth, clock) if query.link_depth else {}
    if joined:
        ranked = fuse(found, manifests, query.limit, subject, joined)
    hits = _hits(store, ranked, query.scope)
    if len(hits) < query.limit:
        hits += _beyond(store, joined, {each.memory.id for each in hits}, query)[: query.limit - len(hits)]
    kept = _within(hits, query.max_tokens, asked)
    if len(kept) < len(hits):
        notices.append(f"{len(hits) - len(kept)} more did not fit into {query.max_tokens} tokens.")
    because = None if kept else _nothing_because(store, query, len(found.candidates), len(hits))
    return Answer(tuple(kept), tuple(notices), because, reading.unread)


@dataclass(slots=True)
class _Reading:
    """A question as the models read it: the leading one first, and what the caller should know."""

    asked: list[tuple[Embedder, Vector]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    unread: int = 0


def _read_question(store: Store, models: Models, clock: Clock, query: Query) -> _Reading:
    """Let the model of its script read a question, and the other one where memories are in other scripts."""
    reading = _Reading()
    in_other_script = needs_multilingual(query.text)
    try:
        leading = models.multilingual if in_other_script else models.latin
        reading.asked.append((leading, leading.embed_query(query.text)))
    except EmbeddingUnavailable as error:
        reading.notices.append(f"Answered by words alone (EMBEDDING_ERROR): {error.message}")
        return reading
    if in_other_script:
        reading.unread = _read_first(store, leading, query.scope, clock)
    elif models.multilingual_id in store.models_in(query.scope):
        try:
            other = models.multilingual
            reading.asked.append((other, other.embed_query(query.text)))
        except EmbeddingUnavailable as error:
            reading.notices.append(
                f"Other scripts answered by words alone (EMBEDDING_ERROR): {error.message}"
            )
    if reading.unread:
        reading.notices.append(
            f"{reading.unread} memories are not read in this script's model yet, so words alone find them; "
            "ask again in a moment."
        )
    return reading


def _read_first(store: Store, embedder: Embedder, scope: Scope, clock: Clock) -> int:
    """Let the model read what it lacks, if the store can be written now; return how many still wait."""
    try:
        return read_lacking(store, embedder, scope, clock, PATIENCE)
    except (StorageFailed, EmbeddingUnavailable):
        return len(store.lacking(embedder.manifest.id, scope, CANDIDATES))


def _joined(walks: Walks, good: Sequence[Ranked], depth: int, clock: Clock) -> dict[str, float]:
    """Return how surely links join memories to good hits: less with every step, and by the hit's share."""
    now = clock.now()
    joined: dict[str, float] = {}
    for hit in good:
        for step in walks.of(Walk(start=hit.candidate.id, depth=depth, least=SURE)):
            strength = effective_confidence(step.link, now) * hit.relevance / 2 ** (step.distance - 1)
            joined[step.id] = max(joined.get(step.id, 0.0), strength)
    return joined


def _beyond(store: Store, joined: Mapping[str, float], known: set[str], query: Query) -> list[Hit]:
    """Return what links alone lead to, the surest first: behind all that the question itself met."""
    nearest = sorted((each for each in joined if each not in known), key=lambda each: -joined[each])
    return [
        Hit(memory, 0.0, (Reason("linked", joined[memory.id]),), None)
        for memory in store.memories(nearest[:CANDIDATES])
        if _fits(memory, query.scope)
    ]


def _fits(memory: Memory, scope: Scope) -> bool:
    """True for a memory that a scope lets answer, found by a link and so not filtered by the store."""
    if scope.workspaces is not None and memory.workspace not in scope.workspaces:
        return False
    if scope.types and memory.type not in scope.types:
        return False
    if memory.type in PART_OF_DECISION or memory.confidence < scope.least_confidence:
        return False
    if scope.known_at is not None and memory.created_at > scope.known_at:
        return False
    if scope.as_of is not None:
        ended = memory.valid_until is not None and memory.valid_until <= scope.as_of
        return memory.valid_from <= scope.as_of and not ended and memory.status != "archived"
    return memory.is_live or (scope.history and memory.known_until is None)


def _hits(store: Store, ranked: Sequence[Ranked], scope: Scope) -> list[Hit]:
    memories = {each.id: each for each in store.memories([each.candidate.id for each in ranked])}
    if scope.as_of is None and scope.known_at is None and not scope.history:
        # Another program may have replaced one since it was found.
        memories = {memory_id: each for memory_id, each in memories.items() if each.is_live}
    return [
        Hit(
            as_known(store, memories[each.candidate.id], scope),
            each.relevance,
            each.reasons,
            each.candidate.via,
        )
        for each in ranked
        if each.candidate.id in memories
    ]


def as_known(store: Store, memory: Memory, scope: Scope) -> Memory:
    """Return the memory as it was known at the scope's time."""
    if scope.known_at is None:
        return memory
    for event in reversed(store.events(memory.id)):
        if event.at > scope.known_at:
            memory = rewind(memory, event)
    return memory


def _within(hits: Sequence[Hit], max_tokens: int | None, asked: Sequence[Embedder]) -> list[Hit]:
    """Return the first hits whose texts fit the budget."""
    if max_tokens is None:
        return list(hits)
    kept: list[Hit] = []
    left = max_tokens
    for hit in hits:
        content = hit.memory.content
        left -= asked[0].count_tokens(content) if asked else -(-len(content) // _CHARACTERS_A_TOKEN)
        if left < 0:
            break
        kept.append(hit)
    return kept


def _nothing_because(store: Store, query: Query, candidates: int, hits: int) -> str:
    """Say what was searched and what each filter kept out."""
    if hits:
        return f"The best answer alone is longer than max_tokens {query.max_tokens}."
    census = store.census(query.scope)
    places = "all workspaces" if query.scope.workspaces is None else "this workspace and global"
    parts = [f"Searched {census.live:,} memories of {places}"]
    if candidates:
        parts.append("those found share no word with the question and are too far from its meaning")
    kept_out = [
        (census.superseded, "superseded"),
        (census.archived, "archived"),
        (census.other_types, "of other types"),
        (census.not_then, _when(query.scope)),
        (census.unsure, "below that confidence"),
        (census.elsewhere, "in other workspaces"),
    ]
    told = [f"{count:,} {why}" for count, why in kept_out if count]
    if told:
        parts.append(f"left out {', '.join(told)}")
    return "; ".join(parts) + "."


def _when(scope: Scope) -> str:
    moment = scope.as_of if scope.as_of is not None else scope.known_at
    return "not true then" if moment is None else f"not holding at {iso(moment)}"
