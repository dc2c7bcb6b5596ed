"""Conflicts: which memories a new one may have made outdated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from whence.core.ports import Question
from whence.core.reading import embedder_for
from whence.core.words import question_words
from whence.features.conflicts.evidence import (
    BAR,
    CLOSENESS,
    LIKENESS,
    UNKNOWN_CLOSENESS,
    WEIGHTS,
    evidence,
    same_subject,
)
from whence.features.conflicts.reading import read_sentence

if TYPE_CHECKING:
    from whence.core.life import Saved, Whence
    from whence.core.memories import Memory
    from whence.core.ports import Candidate, Scope
    from whence.features.conflicts.reading import Reading

SHOWN = 5
CANDIDATES = 24  # from the store
JUDGED = 10  # of those, the nearest by meaning and by words


@dataclass(frozen=True, slots=True)
class Similar:
    """What already stands near a new memory."""

    memories: tuple[Memory, ...]  # at most five live ones that might be outdated, what conflicts first
    outdated: Memory | None  # the one that the new memory makes outdated, first of `memories`


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a new sentence makes an old one outdated, and why."""

    points: float
    reason: str

    @property
    def is_conflict(self) -> bool:
        return self.points >= BAR


def similar(whence: Whence, saved: Saved, scope: Scope) -> Similar:
    """Return the live memories that a new one may have made outdated, what conflicts first."""
    candidates = _candidates(whence, saved, scope)
    meanings = {each.id: each.meaning for each in candidates}
    live = [each for each in whence.store.memories(list(meanings)) if each.is_live]
    related = _thresholds(whence, saved)
    new = read_sentence(saved.memory.content)
    judged = []
    for memory in live:
        old, meaning = read_sentence(memory.content), meanings[memory.id]
        verdict = judge(old, new, closeness(meaning, related))
        if verdict.is_conflict or is_near(old, new, meaning, related):
            judged.append((verdict, meaning or 0.0, memory))
    judged.sort(
        key=lambda each: (each[0].is_conflict, each[0].points if each[0].is_conflict else 0, each[1]),
        reverse=True,
    )
    memories = tuple(memory for _, _, memory in judged[:SHOWN])
    return Similar(memories, memories[0] if judged and judged[0][0].is_conflict else None)


def _candidates(whence: Whence, saved: Saved, scope: Scope) -> list[Candidate]:
    """Return the nearest memories by meaning and by words."""
    vectors = tuple((each.model, each.passages[0].own) for each in saved.embeddings if each.passages)
    question = Question(
        words=tuple(question_words(saved.memory.content)), vectors=vectors, exclude=saved.memory.id, own=True
    )
    found = whence.store.find(question, scope, CANDIDATES).candidates
    by_meaning = sorted(found, key=lambda each: each.meaning or -1.0, reverse=True)[:JUDGED]
    by_words = sorted(found, key=lambda each: each.words, reverse=True)[:JUDGED]
    return list({each.id: each for each in (*by_meaning, *by_words)}.values())


def _thresholds(whence: Whence, saved: Saved) -> tuple[float, float] | None:
    """Return from where the model that read the new memory calls two texts related, and the same."""
    if not saved.embeddings:
        return None
    manifest = embedder_for(whence.models, saved.memory.content).manifest
    return manifest.related, manifest.duplicate


def is_near(old: Reading, new: Reading, meaning: float | None, related: tuple[float, float] | None) -> bool:
    """True for memories about the same thing: near in meaning, and sharing a word that says what."""
    shares = bool(old.topics & new.topics) or bool((old.names & new.names) - {"user"})
    if meaning is None or related is None:
        return bool(old.names & new.names) and bool(old.topics & new.topics or old.slots & new.slots)
    return shares and meaning >= related[0]


def closeness(meaning: float | None, related: tuple[float, float] | None) -> float:
    """Return where a similarity stands between related (0) and duplicate (1)."""
    if meaning is None or related is None:
        return 0.0
    low, high = related
    return min(1.0, max(0.0, (meaning - low) / (high - low)))


def judge(old: Reading, new: Reading, closeness: float = UNKNOWN_CLOSENESS) -> Verdict:
    """Return whether the new sentence makes the old one outdated."""
    if old.language != new.language or not same_subject(old, new):
        return Verdict(0.0, "another subject")
    if set(old.stems) == set(new.stems):
        return Verdict(0.0, "the same said again")
    points = {reason: WEIGHTS.get(reason, 0.0) * much for reason, much in evidence(old, new).items()}
    best = max(points, key=lambda each: points[each], default="")
    # Likeness never speaks alone: it strengthens what a rule has found.
    if not any(points[each] > 0 for each in points.keys() - LIKENESS):
        return Verdict(0.0, "nothing speaks for it")
    return Verdict(sum(points.values()) + CLOSENESS * closeness, best)
