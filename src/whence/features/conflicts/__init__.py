"""Conflicts: which memories a new one may have made outdated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from whence.core.ports import Question
from whence.core.reading import embedder_for
from whence.core.words import question_words
from whence.features.conflicts.evidence import evidence, frames, same_subject
from whence.features.conflicts.reading import read_sentence
from whence.features.conflicts.tables import rival_words
from whence.features.conflicts.weights import (
    AGAINST,
    BAR,
    CLOSENESS,
    DISTANCE,
    DISTANT,
    LIKENESS,
    MOST_OF_A_FRAME,
    UNKNOWN_CLOSENESS,
    WEIGHTS,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whence.core.life import Saved, Whence
    from whence.core.memories import Memory
    from whence.core.ports import Candidate, Manifest, Scope
    from whence.features.conflicts.sentence import Reading

SHOWN = 5
CANDIDATES = 24  # from the store
TELLING = 4  # words of a text that are asked for: the longest are the rarest
JUDGED = 8  # of those, the nearest by meaning and by words


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
    new = read_sentence(saved.memory.content)
    candidates = _candidates(whence, saved, scope, new)
    meanings = {each.id: each.meaning for each in candidates}
    live = [each for each in whence.store.memories(list(meanings)) if each.is_live]
    scale = _scale(whence, saved)
    judged = []
    for memory in live:
        old, meaning = read_sentence(memory.content), meanings[memory.id]
        verdict = judge(old, new, closeness(meaning, scale))
        if verdict.is_conflict or is_near(old, new, meaning, scale):
            judged.append((verdict, meaning or 0.0, memory))
    judged.sort(
        key=lambda each: (each[0].is_conflict, each[0].points if each[0].is_conflict else 0, each[1]),
        reverse=True,
    )
    memories = tuple(memory for _, _, memory in judged[:SHOWN])
    return Similar(memories, memories[0] if judged and judged[0][0].is_conflict else None)


def _candidates(whence: Whence, saved: Saved, scope: Scope, new: Reading) -> list[Candidate]:
    """Return the nearest memories by meaning and by words, those for the same slot in other words too."""
    vectors = tuple((each.model, each.passages[0].own) for each in saved.embeddings if each.passages)
    words = question_words(saved.memory.content)
    if vectors:
        # Meaning finds most of them: a few telling words do, and cost a search of all of them a third.
        words = sorted(words, key=len, reverse=True)[:TELLING]
    if rivals := rival_words(new.marks, new.language):
        words = list(dict.fromkeys([*words, *question_words(rivals)]))
    question = Question(words=tuple(words), vectors=vectors, exclude=saved.memory.id, own=True)
    found = whence.store.find(question, scope, CANDIDATES).candidates
    by_meaning = sorted(found, key=lambda each: each.meaning or -1.0, reverse=True)[:JUDGED]
    by_words = sorted(found, key=lambda each: each.words, reverse=True)[:JUDGED]
    return list({each.id: each for each in (*by_meaning, *by_words)}.values())


def _scale(whence: Whence, saved: Saved) -> Manifest | None:
    """Return what the similarities of the model that read the new memory mean."""
    if not saved.embeddings:
        return None
    return embedder_for(whence.models, saved.memory.content).manifest


def is_near(old: Reading, new: Reading, meaning: float | None, scale: Manifest | None) -> bool:
    """True for memories about the same thing: near in meaning, and sharing a word that says what."""
    shares = bool(old.topics & new.topics) or bool((old.names & new.names) - {"user"})
    if meaning is None or scale is None:
        return bool(old.names & new.names) and bool(old.topics & new.topics or old.slots & new.slots)
    return shares and meaning >= scale.related


def closeness(meaning: float | None, scale: Manifest | None) -> float:
    """Return where a similarity stands between texts without anything in common (0) and the same said (1)."""
    if meaning is None or scale is None:
        return UNKNOWN_CLOSENESS
    return min(1.0, max(0.0, (meaning - scale.unrelated) / (scale.paraphrase - scale.unrelated)))


def judge(old: Reading, new: Reading, closeness: float = UNKNOWN_CLOSENESS) -> Verdict:
    """Return whether the new sentence makes the old one outdated."""
    if old.language != new.language or not same_subject(old, new):
        return Verdict(0.0, "another subject")
    if set(old.stems) == set(new.stems):
        return Verdict(0.0, "the same said again")
    found = evidence(old, new)
    nearness = CLOSENESS * closeness - DISTANCE * max(0.0, DISTANT - closeness)
    if _points(found) + nearness + MOST_OF_A_FRAME >= BAR:
        found.update(frames(old, new))  # dear to compare, so only where it can make the difference
    # Likeness never speaks alone: it strengthens what a rule has found.
    grounds = [each for each in found if each not in AGAINST | LIKENESS]
    if not grounds:
        return Verdict(0.0, "nothing speaks for it")
    return Verdict(_points(found) + nearness, max(grounds, key=lambda each: WEIGHTS[each]))


def _points(found: Mapping[str, float]) -> float:
    return sum(WEIGHTS[each] * much for each, much in found.items())
