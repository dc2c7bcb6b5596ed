"""Conflicts: which memories a new one may have made outdated, by small rules on subject, slot and change words."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from whence.core.ports import Question
from whence.core.words import question_words
from whence.features.conflict_reading import read_sentence, strong_slots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whence.core.life import Saved, Whence
    from whence.core.memories import Memory
    from whence.core.ports import Candidate, Scope
    from whence.features.conflict_reading import Reading

SHOWN = 5
CANDIDATES = 24  # from the store
JUDGED = 14  # of those, the nearest by meaning and by words
BAR = 1.5


@dataclass(frozen=True, slots=True)
class Similar:
    """What already stands near a new memory."""

    memories: tuple[Memory, ...]  # at most five live ones that might be outdated, what conflicts first
    outdated: Memory | None  # the one that the new memory makes outdated, first of `memories`


@dataclass(frozen=True, slots=True)
class Evidence:
    """One rule's word for or against a conflict."""

    reason: str
    points: float


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
    related = _related_threshold(whence, saved)
    new = read_sentence(saved.memory.content)
    judged = []
    for memory in live:
        old, meaning = read_sentence(memory.content), meanings[memory.id]
        verdict = judge(old, new)
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


def _related_threshold(whence: Whence, saved: Saved) -> float | None:
    if not saved.embeddings:
        return None
    known = (whence.models.latin.manifest, whence.models.multilingual.manifest)
    return next(each.related for each in known if each.id == saved.embeddings[0].model)


def is_near(old: Reading, new: Reading, meaning: float | None, related: float | None) -> bool:
    """True for memories about the same thing: near in meaning, and sharing a word that says what."""
    shares = bool(old.topics & new.topics) or bool((old.names & new.names) - {"user"})
    if meaning is None or related is None:
        return bool(old.names & new.names) and bool(old.topics & new.topics or old.slots & new.slots)
    return shares and meaning >= related


def judge(old: Reading, new: Reading) -> Verdict:
    """Return whether the new sentence makes the old one outdated."""
    if old.language != new.language or not _same_subject(old, new):
        return Verdict(0.0, "another subject")
    evidence = list(_evidence(old, new))
    points = sum(each.points for each in evidence)
    best = max(evidence, key=lambda each: each.points, default=Evidence("nothing speaks for it", 0.0))
    return Verdict(points, best.reason)


def _same_subject(old: Reading, new: Reading) -> bool:
    """True when both speak of the same person or thing."""
    if not (old.names & new.names or len(old.content & new.content) >= 2):
        return False
    missing_old, missing_new = (old.lead & old.names) - new.content, (new.lead & new.names) - old.content
    return not (missing_old and missing_new)


def _shared_topics(old: Reading, new: Reading) -> frozenset[str]:
    shared = (old.topics & new.topics) - old.subject - new.subject
    if old.language == "ko":
        shared |= {each for each in old.topics - shared if len(each) > 1 and _is_in(each, new.topics - new.subject)}
    return shared


def _is_in(word: str, words: frozenset[str]) -> bool:
    """True when a Korean word begins like one of these, or one of these like it."""
    return any(
        len(each) > 1 and each[0] == word[0] and (each.startswith(word) or word.startswith(each)) for each in words
    )


def _evidence(old: Reading, new: Reading) -> Iterator[Evidence]:
    topics = _shared_topics(old, new)
    differs = bool(old.content - new.content) and bool(new.content - old.content)
    slots = old.slots & new.slots
    yield from _by_slot(slots, topics, differs)
    yield from _by_change(new, slots, topics)
    yield from _by_opposites(old, new, topics)
    if old.is_negated != new.is_negated and topics:
        yield Evidence("one denies what the other says", 1.5)
    yield from _by_quantity(old, new, topics)
    yield from _by_frame(old, new)
    yield from _against(old, new, topics, slots)


def _by_slot(slots: frozenset[str], topics: frozenset[str], differs: bool) -> Iterator[Evidence]:
    if not differs:
        return
    if slots & strong_slots():
        yield Evidence("another value of the same slot", 1.6)
    elif slots and topics:
        yield Evidence("another value of the same slot of the same thing", 0.8)


def _by_change(new: Reading, slots: frozenset[str], topics: frozenset[str]) -> Iterator[Evidence]:
    if not (topics or slots):
        return
    weight = 0.5 if "light" in new.marks else 1.0
    if "ends" in new.marks:
        yield Evidence("it says that something is over", 1.6 * weight)
    elif "turns" in new.marks:
        yield Evidence("it says that something is another way now", 1.2 * weight)


def _by_opposites(old: Reading, new: Reading, topics: frozenset[str]) -> Iterator[Evidence]:
    """Judge words that exclude each other; a state of its bearer needs no second shared word."""
    met = {_opposite(mark).split(":")[0] for mark in old.marks if _excludes(mark, old, new)}
    if "states" in met:
        yield Evidence("one excludes the other", 1.8)
    elif "pairs" in met and topics:
        yield Evidence("one excludes the other", 1.2 if len(topics) == 1 else 1.6)


def _opposite(mark: str) -> str:
    kind, _, place = mark.partition(":")
    number, _, side = place.partition(":")
    return f"{kind}:{number}:{1 - int(side)}"


def _excludes(mark: str, old: Reading, new: Reading) -> bool:
    if not mark.startswith(("pairs:", "states:")):
        return False
    other = _opposite(mark)
    return other in new.marks and mark not in new.marks and other not in old.marks


def _by_quantity(old: Reading, new: Reading, topics: frozenset[str]) -> Iterator[Evidence]:
    ours, theirs = old.quantities - new.quantities, new.quantities - old.quantities
    if not (ours and theirs):
        return
    units_old, units_new = {unit for _, unit in ours}, {unit for _, unit in theirs}
    if units_old & units_new:
        if topics:
            yield Evidence("another number of the same unit", 1.2)
    elif "" not in units_old | units_new:
        yield Evidence("numbers of different units", -0.6)


def _by_frame(old: Reading, new: Reading) -> Iterator[Evidence]:
    """Judge sentences that are equal but for one place, or for two."""
    if old.predicate != new.predicate or len(old.content & new.content) < 2:
        return
    blocks = SequenceMatcher(None, old.stems, new.stems, autojunk=False).get_opcodes()
    changed = [each for each in blocks if each[0] == "replace"]
    equal = sum(each[2] - each[1] for each in blocks if each[0] == "equal")
    if not changed or equal * 2 < max(len(old.stems), len(new.stems)):
        return
    if len(changed) == 1 and changed[0][1] > 0:
        if "additive" not in new.marks:
            yield Evidence("the same sentence with another value", 1.6)
    elif len(changed) >= 2:
        yield Evidence("more than one thing differs", -0.8)


def _against(
    old: Reading, new: Reading, topics: frozenset[str], slots: frozenset[str]
) -> Iterator[Evidence]:
    if _apart(old, new) and _apart(new, old):
        yield Evidence("another thing of the same subject", -2.0)
    if "additive" in old.marks and "additive" in new.marks and "ends" not in new.marks:
        yield Evidence("there may be several", -1.0)
    if old.objects - new.content and new.objects - old.content and old.adjuncts - new.content and new.adjuncts - old.content:
        yield Evidence("another object in another place", -1.5)


def _apart(one: Reading, other: Reading) -> bool:
    """True when the subject of the one has a word that the other nowhere has."""
    missing = (one.lead & (one.topics | one.names)) - other.content
    if one.language == "ko":
        return any(not _is_in(each, other.content) for each in missing)
    return bool(missing)
