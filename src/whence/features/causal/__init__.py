"""Causal chains: why something was decided, what it led to, and what it replaced."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from whence.core.details import Alternative, DecisionDetails
from whence.core.errors import InvalidParameter
from whence.core.graph import DEEPEST
from whence.core.memories import CONTENT_LIMIT, Draft, MemoryType, Tie, check_text
from whence.core.ports import Wanted
from whence.core.reading import embedder_for
from whence.core.recall import Query
from whence.features.causal.chain import (
    EDGE_TYPES,
    CausalChain,
    CausalEdge,
    CausalNode,
    EdgeType,
    NodeType,
    Version,
    chain_of,
    is_within,
    meeting,
)
from whence.features.causal.mermaid import visualize
from whence.features.causal.questions import asked_in, is_named, rejects, texts_of, version_asked_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.core.life import Whence
    from whence.core.links import Creator
    from whence.core.memories import Author, Memory
    from whence.core.ports import Scope
    from whence.core.recall import Answer, Hit
    from whence.features.causal.questions import Asked

__all__ = [
    "EDGE_TYPES",
    "CausalChain",
    "CausalEdge",
    "CausalNode",
    "EdgeType",
    "Explanation",
    "NodeType",
    "Version",
    "add_edge",
    "explain",
    "query_chain",
    "record_decision",
    "visualize",
]

LOOKED_AT = 5  # the best hits, of which the first that names what the question names is the root
ONLY_NEAR = "No decision shares a word with the question; this one is the nearest in meaning."
REGISTERED = 5000  # decisions that are looked through for what they rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The chain that answers a question, or why there is none, and what the caller should know."""

    chain: CausalChain | None
    notices: tuple[str, ...] = ()
    nothing_because: str | None = None
    nearest: Memory | None = None  # the decision nearest in meaning, where none is an answer
    unread: int = 0  # memories that a background pass should still embed


def record_decision(
    whence: Whence,
    decision: str,
    reasons: Sequence[str],
    consequences: Sequence[str] | None = None,
    constraints: Sequence[str] | None = None,
    *,
    workspace: str,
    topic: str | None = None,
    alternatives: Sequence[Alternative] = (),
    author: Author | None = None,
) -> str:
    """Store a decision with its reasons, consequences and constraints, all or nothing, and return its id."""
    told: tuple[tuple[MemoryType, Sequence[str]], ...] = (
        ("reason", reasons),
        ("consequence", consequences or ()),
        ("constraint", constraints or ()),
    )
    check_text(decision, "decision", CONTENT_LIMIT)
    for kind, texts in told:
        for each in texts:
            check_text(each, f"{kind}s", CONTENT_LIMIT)
    details = DecisionDetails(alternatives=tuple(alternatives))
    details.check()
    draft = Draft(
        content=decision,
        type="decision",
        topic=topic,
        metadata=details.metadata(),
        parts=tuple(Draft(content=each, type=kind) for kind, texts in told for each in texts),
    )
    return whence.remember(draft, workspace=workspace, author=author).memory.id


def add_edge(
    whence: Whence,
    from_id: str,
    to_id: str,
    edge_type: EdgeType,
    strength: float = 1.0,
    *,
    author: Author | None = None,
    creator: Creator = "llm",
) -> CausalEdge:
    """Join two memories as cause and effect; the same edge again is the one that stands."""
    if edge_type not in EDGE_TYPES:
        raise InvalidParameter(f"edge_type must be {' or '.join(EDGE_TYPES)}")
    wanted = Tie(to_id=to_id, relationship=edge_type.casefold(), confidence=strength)
    link = whence.link(from_id, wanted, author=author, creator=creator)
    return CausalEdge(link.from_id, link.to_id, edge_type, link.confidence)


def query_chain(whence: Whence, query: str, scope: Scope, max_depth: int = DEEPEST) -> CausalChain | None:
    """Return the chain of the decision that answers a question, followed no deeper than `max_depth`."""
    return explain(whence, query, scope, max_depth).chain


def explain(whence: Whence, query: str, scope: Scope, max_depth: int = DEEPEST) -> Explanation:
    """Return the chain that answers a question such as "why did we use FastAPI?", and what goes with it."""
    if max_depth < 1:
        raise InvalidParameter("max_depth must be a whole number of at least 1")
    asked = asked_in(query)
    if not asked.words:
        return Explanation(chain=None, nothing_because="The question does not say what it is about.")
    decisions = replace(scope, types=("decision",))
    answer = whence.recall(Query(text=asked.text, scope=decisions, limit=LOOKED_AT))
    depth = min(max_depth, DEEPEST)
    found = _chosen(whence, asked, decisions, answer, depth) or _of_another_type(whence, asked, scope, depth)
    if found is None:
        return Explanation(
            chain=None,
            notices=answer.notices,
            nothing_because=answer.nothing_because,
            nearest=answer.hits[0].memory if answer.hits else None,
            unread=answer.unread,
        )
    return Explanation(
        chain=meeting(whence, found.chain, found.via or version_asked_for(asked, found.chain)),
        notices=(*answer.notices, *([ONLY_NEAR] if found.is_only_near else [])),
        unread=answer.unread,
    )


CLEARLY = 0.04  # above the floor under which a question has no answer


@dataclass(frozen=True, slots=True)
class _Found:
    """A chain, the older version or part that led to it, and whether its meaning alone speaks for it."""

    chain: CausalChain
    via: str | None
    is_only_near: bool = False


def _chosen(whence: Whence, asked: Asked, decisions: Scope, answer: Answer, depth: int) -> _Found | None:
    """Return the chain of the best hit that answers, or of a decision that rejected what is asked for."""
    best = _best(whence, asked, decisions, answer, depth)
    if best is not None and not (best.is_only_near or asked.is_negative):
        return best
    rejecting = _rejecting(whence, asked, decisions)
    if not rejecting:
        return best
    if best is not None and best.chain.root.id in rejecting:
        return replace(best, is_only_near=False)
    ranked = [each.memory.id for each in answer.hits if each.memory.id in rejecting]
    root_id = (ranked or list(rejecting))[0]
    return _Found(chain_of(whence, whence.get(root_id), decisions, depth), rejecting[root_id])


def _best(whence: Whence, asked: Asked, scope: Scope, answer: Answer, depth: int) -> _Found | None:
    """Return the chain of the first hit that names what the question names."""
    for hit in answer.hits:
        is_only_near = all(each.name != "words" for each in hit.reasons)
        if is_only_near and not _is_near(whence, asked, hit):
            continue
        chain = chain_of(whence, hit.memory, scope, depth)
        if is_named(asked, texts_of(chain)):
            return _Found(chain, hit.via, is_only_near)
    return None


def _is_near(whence: Whence, asked: Asked, hit: Hit) -> bool:
    """False for a hit by meaning alone that is hardly nearer to the question than any other text."""
    embedder = embedder_for(whence.models, asked.text)
    scale = embedder.manifest
    # A search may show what an explanation may not claim. Without a prefix a model reads questions as it
    # reads memories, so its figures for those hold here.
    least = scale.question_floor + CLEARLY if scale.query_prefix else (scale.unrelated + scale.related) / 2
    question = embedder.embed_query(asked.text)
    met = whence.store.memories([hit.memory.id, *([hit.via] if hit.via else [])])
    texts = [text for each in met for text in (each.content, each.reasoning) if text]
    likeness = max(float(question @ embedder.embed_passage(each)) for each in texts)
    return likeness >= least


def _rejecting(whence: Whence, asked: Asked, decisions: Scope) -> dict[str, str]:
    """Return the live decisions that rejected what is asked for, by the version that said so.

    What was rejected is in no index: it is a word in a decision's details.
    """
    found: dict[str, str] = {}
    for memory in whence.store.listed(Wanted(), decisions, REGISTERED):
        if not rejects(memory, asked):
            continue
        for version in [memory] if memory.is_live else whence.store.chain(memory.id):
            if version.is_live and is_within(version, decisions):
                found.setdefault(version.id, memory.id)
    return found


def _of_another_type(whence: Whence, asked: Asked, scope: Scope, depth: int) -> _Found | None:
    """Return the chain of a fact or insight that took a decision's place, if the question is about that."""
    anything = replace(scope, types=())
    answer = whence.recall(Query(text=asked.text, scope=anything, limit=LOOKED_AT))
    hits = tuple(each for each in answer.hits if each.memory.type != "decision" and each.memory.supersedes)
    found = _best(whence, asked, anything, replace(answer, hits=hits), depth)
    if found is None or all(each.memory.type != "decision" for each in found.chain.superseded):
        return None
    return found
