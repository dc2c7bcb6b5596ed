"""Conflicts: which memories a new one may have made outdated."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from whence.core.ports import Question
from whence.core.reading import embedder_for
from whence.core.words import question_words
from whence.features.conflicts.reading import opposite, read_sentence, strong_slots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whence.core.life import Saved, Whence
    from whence.core.memories import Memory
    from whence.core.ports import Candidate, Scope
    from whence.features.conflicts.reading import Reading

SHOWN = 5
CANDIDATES = 24  # from the store
JUDGED = 10  # of those, the nearest by meaning and by words
BAR = 1.2


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


def judge(old: Reading, new: Reading, closeness: float = 0.0) -> Verdict:
    """Return whether the new sentence makes the old one outdated."""
    if old.language != new.language or not _same_subject(old, new):
        return Verdict(0.0, "another subject")
    if set(old.stems) == set(new.stems):
        return Verdict(0.0, "the same said again")
    evidence = list(_evidence(old, new))
    best = max(evidence, key=lambda each: each.points, default=None)
    if best is None or best.points <= 0:
        return Verdict(0.0, "nothing speaks for it")
    # Similarity never speaks alone: it strengthens what a rule has found.
    return Verdict(sum(each.points for each in evidence) + 0.3 * closeness, best.reason)


def _same_subject(old: Reading, new: Reading) -> bool:
    """True when both speak of the same person or thing."""
    shared = old.content & new.content
    is_nameless = not (old.subject or new.subject)
    if not (old.names & new.names or len(shared) >= 2 or (is_nameless and shared & old.lead & old.topics)):
        return False
    if "slot:owner" in old.slots & new.slots and _shared_topics(old, new):
        return True  # a thing passes from one owner to the next: the owners are the values
    return not (old.subject - new.content and new.subject - old.content)


def _shared_topics(old: Reading, new: Reading) -> frozenset[str]:
    shared = (old.topics & new.topics) - old.subject - new.subject
    if old.language == "ko":
        shared |= {
            each for each in old.topics - shared if len(each) > 1 and _is_in(each, new.topics - new.subject)
        }
    return shared


def _is_in(word: str, words: frozenset[str]) -> bool:
    """True when a Korean word begins like one of these, or one of these like it."""
    alike = (each for each in words if len(each) > 1)
    return any(each.startswith(word) or word.startswith(each) for each in alike)


def _evidence(old: Reading, new: Reading) -> Iterator[Evidence]:
    topics = _shared_topics(old, new)
    slots = old.slots & new.slots
    clashes = [*_by_opposites(old, new, topics), *_by_denial(old, new, topics)]
    yield from clashes
    if old.content - new.content and new.content - old.content:
        yield from _by_slot(old, new, slots, topics)
    yield from _by_change(old, new, slots, topics)
    yield from _by_quantity(old, new, topics)
    yield from _by_frame(old, new)
    yield from _by_topics(old, new, topics)
    if _apart(old, new) and _apart(new, old) and not _changes_owner(old, new):
        yield Evidence("another thing of the same subject", -2.0)
    elif old.kin != new.kin and not clashes:
        yield Evidence("another person of the same circle", -1.6)
    elif not clashes and not {"ends", "turns"} & new.marks and _missing(new.lead & new.topics, old):
        yield Evidence("a part of the same subject", -1.2)
    if _is_additive(old) and _is_additive(new) and "ends" not in new.marks and not clashes:
        yield Evidence("there may be several", -0.6 if "turns" in new.marks else -1.0)
    if _differ(old.objects, new.objects, old, new) and _differ(old.adjuncts, new.adjuncts, old, new):
        yield Evidence("another object in another place", -1.5)


def _is_additive(reading: Reading) -> bool:
    """True for what one may have several of; a favourite is but one."""
    return "additive" in reading.marks and "slot:favourite" not in reading.marks


def _by_denial(old: Reading, new: Reading, topics: frozenset[str]) -> Iterator[Evidence]:
    if old.is_negated != new.is_negated and topics:
        yield Evidence("one denies what the other says", 1.2 if len(topics) == 1 else 1.5)


def _by_slot(old: Reading, new: Reading, slots: frozenset[str], topics: frozenset[str]) -> Iterator[Evidence]:
    if slots & strong_slots() and old.kin == new.kin and not _keeps_value(old, new):
        yield Evidence("another value of the same slot", 1.6)
    elif slots and topics:
        yield Evidence("another value of the same slot of the same thing", 0.95)


def _keeps_value(old: Reading, new: Reading) -> bool:
    """True when both name the same place or firm: the new sentence adds to the old one."""
    named = (old.names - old.subject) & (new.names - new.subject) - {"user"}
    return bool(named) and "ends" not in new.marks


def _leaves_value(old: Reading, new: Reading) -> bool:
    """True for "from X to Y" where the old sentence holds X."""
    if "from" not in new.stems or "to" not in new.stems or "turns" not in new.marks:
        return False
    start = new.stems.index("from") + 1
    return bool(set(new.stems[start : start + 3]) & (old.topics - old.lead))


def _by_change(
    old: Reading, new: Reading, slots: frozenset[str], topics: frozenset[str]
) -> Iterator[Evidence]:
    if _leaves_value(old, new):
        yield Evidence("it names the old value as left", 2.0)
        return
    if not (topics or slots) or (_keeps_value(old, new) and "light" in new.marks):
        return
    weight = 0.7 if "light" in new.marks else 1.0
    if "ends" in new.marks:
        names_old_value = bool(topics - old.lead)
        yield Evidence("it says that something is over", (1.8 if names_old_value else 1.3) * weight)
    elif "turns" in new.marks:
        yield Evidence("it says that something is another way now", 1.4 * weight)


def _by_topics(old: Reading, new: Reading, topics: frozenset[str]) -> Iterator[Evidence]:
    if len(topics) > 1:
        yield Evidence("much the same words", 0.4 if len(topics) == 2 else 0.8)
    elif old.lead == new.lead and topics & old.lead:
        yield Evidence("the same thing of its owner", 0.3)


def _by_opposites(old: Reading, new: Reading, topics: frozenset[str]) -> Iterator[Evidence]:
    """Judge words that exclude each other; a state of its bearer needs no second shared word."""
    met = {mark.split(":")[0] for mark in old.marks if _excludes(mark, old, new)}
    if "states" in met:
        yield Evidence("one excludes the other", 1.8)
    elif "pairs" in met and (topics or old.lead == new.lead):
        yield Evidence("one excludes the other", (0.9, 1.2)[len(topics)] if len(topics) < 2 else 1.6)


def _excludes(mark: str, old: Reading, new: Reading) -> bool:
    if not mark.startswith(("pairs:", "states:")):
        return False
    other = opposite(mark)
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
        yield Evidence("numbers of different units", -1.2)


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
        if not (_is_additive(new) or _apart(old, new) or _apart(new, old)):
            yield Evidence("the same sentence with another value", 1.6)
    elif len(changed) >= 2 and not _are_numbers(old, changed[0]):
        yield Evidence("more than one thing differs", -0.8)


def _are_numbers(reading: Reading, block: tuple[str, int, int, int, int]) -> bool:
    return all(each[:1].isdigit() for each in reading.stems[block[1] : block[2]])


def _apart(one: Reading, other: Reading) -> bool:
    """True when the subject of the one has a word that the other nowhere has."""
    said = one.lead & (one.topics | one.names)
    return _missing(said if other.subject else said - {"user"}, other)


def _missing(words: frozenset[str], other: Reading) -> bool:
    missing = words - other.content
    if other.language == "ko":
        return any(not _is_in(each, other.content) for each in missing)
    return bool(missing)


def _differ(ours: frozenset[str], theirs: frozenset[str], old: Reading, new: Reading) -> bool:
    """True when each side has a word in this place that the other nowhere has."""
    return _missing(ours, new) and _missing(theirs, old)


def _changes_owner(old: Reading, new: Reading) -> bool:
    """True when what differs in the subjects is only whose a thing is."""
    if "slot:owner" not in old.slots & new.slots:
        return False
    return old.lead - new.content <= old.names and new.lead - old.content <= new.names
