"""The action check_alignment: what decisions say to a technology or a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whence.core.errors import EmbeddingUnavailable
from whence.core.ports import Question, Wanted
from whence.core.reading import embedder_for
from whence.features.alignment import align, stands_beside
from whence.surfaces.decisions.register import scope_of, told_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.core.memories import Memory
    from whence.features.alignment import Alignment
    from whence.surfaces.decisions.arguments import DecisionArguments
    from whence.surfaces.tool import Call

_ALL = 100_000
_CLOSE = 5  # decisions close in meaning that are told as advice
_SURE = 0.3  # how far from no answer to the same said again: a bare name lies near to much that is not
_OLDER_TOO = ", or what it replaced,"  # a search meets older versions, and answers with what holds now


def check_alignment(call: Call[DecisionArguments]) -> dict[str, Any]:
    asked = call.arguments
    known = call.whence.store.listed(Wanted(), scope_of(call), _ALL)
    # As its program read them: in the order of their numbers.
    known = sorted(known, key=lambda each: each.number or 0)
    answer = align(known, technology=asked.technology, pattern=asked.pattern, subject=asked.subject)
    relevant = [
        {name: value for name, value in each.items() if name not in {"superseded_by", "updated_at"}}
        for each in told_all(call, answer.relevant)
    ]
    reply: dict[str, Any] = {
        "aligned": answer.aligned,
        "relevant_decisions": relevant,
        "conflicts": [
            {"decision_id": each.memory.number, "subject": each.memory.topic, "reason": each.reason}
            for each in answer.conflicts
        ],
        "confidence": answer.confidence,
    }
    possible = _possible(call, answer, known)
    return {**reply, "possible_conflicts": possible} if possible else reply


def _possible(
    call: Call[DecisionArguments], answer: Alignment, decisions: Sequence[Memory]
) -> list[dict[str, Any]]:
    """Return what is no conflict and worth a look: what is reconsidered, rivals, what is close in meaning."""
    told = [
        {
            "decision_id": each.memory.number,
            "subject": each.memory.topic,
            "reason": f"{each.reason}; this decision is being reconsidered",
        }
        for each in answer.reconsidering
    ]
    known = {each.id for each in answer.relevant} | {each.memory.id for each in answer.reconsidering}
    asked = " ".join(each for each in (call.arguments.technology, call.arguments.pattern) if each)
    rivals = [each for each in stands_beside(decisions, asked) if each[0].id not in known]
    known |= {memory.id for memory, _ in rivals}
    told += [
        {
            "decision_id": memory.number,
            "subject": memory.topic,
            "reason": f"'{memory.content}' stands: {why} (advice only)",
        }
        for memory, why in rivals
    ]
    return told + [
        {
            "decision_id": memory.number,
            "subject": memory.topic,
            "reason": f"'{memory.content}'{_OLDER_TOO if memory.supersedes else ''} is close in meaning "
            "(advice only)",
            "similarity": round(similarity, 2),
        }
        for memory, similarity in _close(call)
        if memory.id not in known
    ]


def _close(call: Call[DecisionArguments]) -> list[tuple[Memory, float]]:
    """Return the live decisions nearest in meaning; without a model there are none."""
    asked = call.arguments
    needle = " ".join(each for each in (asked.technology, asked.pattern, asked.subject) if each)
    try:
        embedder = embedder_for(call.whence.models, needle)
        vector = embedder.embed_query(needle)
    except EmbeddingUnavailable:
        return []
    manifest = embedder.manifest
    least = manifest.question_floor + _SURE * (manifest.paraphrase - manifest.question_floor)
    question = Question(vectors=((manifest.id, vector),))
    found = call.whence.store.find(question, scope_of(call), 10 * _CLOSE).candidates
    near = {each.id: each.meaning for each in found if (each.meaning or 0.0) >= least}
    close = [
        (memory, near[memory.id] or 0.0)
        for memory in call.whence.store.memories(list(near))
        if memory.is_live and memory.status == "active"
    ]
    return sorted(close, key=lambda pair: -pair[1])[:_CLOSE]
