"""Evidence: what two sentences show for or against the later one making the earlier one outdated."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from whence.features.conflicts.tables import is_negation_of, opposite, strong_slots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whence.features.conflicts.sentence import Reading


def evidence(old: Reading, new: Reading) -> dict[str, float]:
    """Return what speaks for or against a conflict but the frames, by name, each with how much of it."""
    topics = shared_topics(old, new)
    slots = old.slots & new.slots
    found = dict(_clashes(old, new, topics))
    clashes = bool(found.keys() - {"one denies something"})
    for each in (
        _subjects(old, new, clashes=clashes),
        _slots(old, new, slots, topics),
        _changes(old, new, slots, topics),
        _quantities(old, new, topics),
        _values(old, new, slots, topics),
        _likeness(old, new, topics),
        _additions(old, new, clashes=clashes),
    ):
        found.update(each)
    return found


def same_subject(old: Reading, new: Reading) -> bool:
    """True when both speak of the same person or thing."""
    shared = old.content & new.content
    told = (old.lead & (old.topics | old.names)) | (new.lead & (new.topics | new.names))
    if not (old.names & new.names or len(shared) >= 2 or shared & told or shared & old.lead & new.lead):
        return False
    topics = shared_topics(old, new)
    if "slot:owner" in old.slots & new.slots and topics:
        return True  # a thing passes from one owner to the next: the owners are the values
    if ("exclusive" in old.marks or "exclusive" in new.marks) and len(topics) >= 2:
        return True  # "only Ann may", "Ben may too"
    return not (old.subject - new.content and new.subject - old.content)


def shared_topics(old: Reading, new: Reading) -> frozenset[str]:
    """Return the words that say what both are about."""
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


def _opposites(old: Reading, new: Reading, topics: frozenset[str]) -> Iterator[tuple[str, float]]:
    """Judge words that exclude each other; a state of its bearer needs no second shared word."""
    met = {mark.split(":")[0] for mark in old.marks if _excludes(mark, old, new)}
    if "states" in met:
        yield "states that exclude each other", 1.0
    if "pairs" in met:
        yield ("opposites of the same thing" if topics else "opposites"), 1.0
    if is_negation_of(old.content - new.content, new.content - old.content):
        yield "a word and its negation", 1.0


def _excludes(mark: str, old: Reading, new: Reading) -> bool:
    if not mark.startswith(("pairs:", "states:")):
        return False
    other = opposite(mark)
    if (
        old.kin != new.kin
        and old.language == "en"
        and other not in new.lead_marks
        and mark not in old.lead_marks
    ):
        return False  # one is of the user, one of their mother; "no siblings", "her sister" are of one
    if mark in old.lead_marks and other in new.lead_marks:
        return False  # "the back door" and "the front door" are two things
    return other in new.marks and mark not in new.marks and other not in old.marks


def _clashes(old: Reading, new: Reading, topics: frozenset[str]) -> Iterator[tuple[str, float]]:
    yield from _opposites(old, new, topics)
    yield from _denials(old, new, topics)


def _denials(old: Reading, new: Reading, topics: frozenset[str]) -> Iterator[tuple[str, float]]:
    denies_kind = _denies_kind(old, new) or _denies_kind(new, old)
    if old.is_negated != new.is_negated and (old.kin == new.kin or denies_kind):
        beyond = topics - (old.lead & new.lead)
        if beyond or denies_kind:
            yield "one denies what the other says", 1.0
        elif topics:
            yield "one denies something of the same thing", 1.0
        else:
            yield "one denies something", 1.0
    if ("exclusive" in old.marks) != ("exclusive" in new.marks) and topics:
        yield "one leaves no room for others", 1.0


def _denies_kind(one: Reading, other: Reading) -> bool:
    """True when the one denies a whole kind of which the other names a thing: no pets, a dog."""
    if not one.is_negated:
        return False
    return any(
        f"some:{each.removeprefix('all:')}" in other.marks for each in one.marks if each.startswith("all:")
    )


def _slots(
    old: Reading, new: Reading, slots: frozenset[str], topics: frozenset[str]
) -> Iterator[tuple[str, float]]:
    if not slots:
        return
    if slots & strong_slots() and old.kin == new.kin and not _keeps_value(old, new):
        yield "another value of a slot that holds one", 1.0
    elif slots == {"slot:means"}:
        yield ("another means of the same thing" if topics else "another means"), 1.0
    elif topics - (old.lead & new.lead):
        yield "another value of the same slot of the same thing", 1.0
    elif topics:
        yield "another value of the same slot of the same subject", 1.0
    else:
        yield "another value of the same slot", 1.0


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


def _changes(
    old: Reading, new: Reading, slots: frozenset[str], topics: frozenset[str]
) -> Iterator[tuple[str, float]]:
    is_routine = "slot:frequency" in new.marks - old.marks  # "is rebuilt every night"
    is_light = "light" in new.marks or is_routine
    if is_light and "also" in new.marks:
        return
    if _leaves_value(old, new):
        yield "it names the old value as left", 1.0
    elif "ends" in new.marks and not ("ends" in old.marks and old.predicate == new.predicate):
        yield _what_ends(topics - old.lead, topics | slots, is_light=is_light), 1.0
    elif "turns" in new.marks:
        yield _what_turns(topics, topics | slots, is_light=is_light or _keeps_value(old, new)), 1.0


def _what_ends(old_values: frozenset[str], shared: frozenset[str], *, is_light: bool) -> str:
    if old_values:
        return "it says lightly that the old value is over" if is_light else "the old value is over"
    if shared:
        return "something of it may be over" if is_light else "something of it is over"
    return "something may have changed, who knows what" if is_light else "something changed, who knows what"


def _what_turns(topics: frozenset[str], shared: frozenset[str], *, is_light: bool) -> str:
    if is_light:
        return "something may be another way now" if shared else "something may have changed, who knows what"
    if topics:
        return "it is another way now"
    return "something is another way now" if shared else "something changed, who knows what"


def _quantities(old: Reading, new: Reading, topics: frozenset[str]) -> Iterator[tuple[str, float]]:
    ours, theirs = old.quantities - new.quantities, new.quantities - old.quantities
    if not (ours and theirs):
        return
    units_old, units_new = {unit for _, unit in ours}, {unit for _, unit in theirs}
    if units_old & units_new:
        if topics or old.codes & new.codes:
            two = _apart(old, new) and _apart(new, old)
            yield ("numbers of two things" if two else "another number of the same unit"), 1.0
    elif "" not in units_old | units_new:
        yield "numbers of different units", 1.0


_MOST = 0.5
_SAYING_NOTHING = {"", "be", "have"}


def frames(old: Reading, new: Reading) -> Iterator[tuple[str, float]]:
    """Judge sentences that are equal but for one place, or for two."""
    if old.label and old.label == new.label:
        yield "another value under the same label", 1.0
        return
    if old.predicate == new.predicate and old.predicate not in _SAYING_NOTHING:
        yield "the same verb", 1.0
    blocks = SequenceMatcher(None, old.stems, new.stems, autojunk=False).get_opcodes()
    changed = [each for each in blocks if each[0] == "replace"]
    equal = sum(each[2] - each[1] for each in blocks if each[0] == "equal")
    if not changed or equal * 2 < max(len(old.stems), len(new.stems)):
        return
    _, start, end, begin, stop = changed[0]
    is_value = old.language == "ko" and end - start == stop - begin == 1  # "main이다": the value is the verb
    if old.predicate != new.predicate and not is_value:
        return
    if len(changed) == 1 and start > 0:
        if _apart(old, new) or _apart(new, old):
            yield "the same sentence of another thing", 1.0
        else:
            yield "the same sentence with another value", 1.0
    elif len(changed) >= 2 and not _are_numbers(old, changed[0]):
        yield "more than one thing differs", 1.0


def _are_numbers(reading: Reading, block: tuple[str, int, int, int, int]) -> bool:
    return all(each[:1].isdigit() for each in reading.stems[block[1] : block[2]])


def _likeness(old: Reading, new: Reading, topics: frozenset[str]) -> Iterator[tuple[str, float]]:
    if topics:
        yield "shared words", min(len(topics), 4) / 4
    shared, least = len(old.content & new.content), min(len(old.content), len(new.content))
    yield "overlap", shared / least if least else 0.0


def _values(
    old: Reading, new: Reading, slots: frozenset[str], topics: frozenset[str]
) -> Iterator[tuple[str, float]]:
    ours, theirs = old.names - old.lead, new.names - new.lead
    if old.kin == new.kin and ours and theirs and not (ours & new.content or theirs & old.content):
        if slots:
            yield "other names in the same slot", 1.0
        elif topics:
            yield "other names with the same words", 1.0
    is_same_place = bool(old.preposition) and old.preposition == new.preposition and not old.objects
    if is_same_place and topics & old.lead & new.lead and _differ(old.adjuncts, new.adjuncts, old, new):
        yield "another value after the same preposition", 1.0
    if old.is_of_the_past:
        yield "both tell what happened" if new.is_of_the_past else "the old one tells what happened", 1.0


def _subjects(old: Reading, new: Reading, *, clashes: bool) -> Iterator[tuple[str, float]]:
    if old.kin != new.kin and not clashes:
        yield "another person of the same circle", 1.0
    if _changes_owner(old, new):
        return
    if _apart(old, new) and _apart(new, old):
        if not clashes:
            yield "another thing of the same subject", 1.0
        elif (
            min(len(one.lead - other.content) / len(one.lead) for one, other in ((old, new), (new, old)))
            >= _MOST
        ):
            yield "another thing of the same subject, though they clash", 1.0
    elif _missing(new.lead & new.topics, old):
        yield "a part of the same subject", 1.0
    elif _missing(old.lead & old.topics, new):
        yield "of a part once, of the whole now", 1.0


def _additions(old: Reading, new: Reading, *, clashes: bool) -> Iterator[tuple[str, float]]:
    if "also" in new.marks:
        yield "it says that it adds", 1.0
    if _is_additive(old) and _is_additive(new) and not clashes and "ends" not in new.marks:
        yield "there may be several", 1.0
    taken_up = (new.lead & old.topics) - old.lead
    if taken_up and not new.marks & {"ends", "turns", "not"}:
        yield "it goes on about what the other told", 1.0
    if not clashes and not (old.content - new.content and new.content - old.content):
        yield "one holds the other", 1.0
    if _differ(old.objects, new.objects, old, new) and _differ(old.adjuncts, new.adjuncts, old, new):
        yield "another object in another place", 1.0


def _is_additive(reading: Reading) -> bool:
    """True for what one may have several of; a favourite is but one."""
    return "additive" in reading.marks and "slot:favourite" not in reading.marks


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
