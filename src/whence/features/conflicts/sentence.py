"""What is read off one sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whence.features.conflicts.tables import Language

_LONGEST_LABEL = 8
_LABELLED = re.compile(r"([^:.;!?]+?)\s*(?::\s|\s=\s|\s->\s|\s→\s)\s*\S(?:[^.;]|\.(?=\S)){0,60}\.?$")


@dataclass(frozen=True, slots=True)
class Reading:
    """One sentence, taken apart."""

    language: Language
    stems: tuple[str, ...]  # every word, in order
    content: frozenset[str]  # words that carry meaning, the subject's among them
    topics: frozenset[str]  # content without the subject's names and without words that fit anything
    names: frozenset[str]  # the user, names and code identifiers
    lead: frozenset[str]  # content before the first verb
    objects: frozenset[str]  # what follows the verb; Korean: what 을/를 marks
    adjuncts: frozenset[str]  # what follows a preposition then; Korean: what 에/에서/로 marks
    kin: frozenset[str]  # relatives and the like before the verb
    quantities: frozenset[tuple[str, str]]  # number and unit
    predicate: str  # English: the first verb; Korean: the last word
    label: str  # what stands before the colon of "label: value"
    marks: frozenset[
        str
    ]  # "slot:…", "ends", "turns", "light", "additive", "also", "exclusive", "not", "pairs:3:0"

    preposition: str = ""  # English: the first one after the verb
    lead_marks: frozenset[str] = frozenset()  # English: of the marks, those that the lead sets

    @property
    def slots(self) -> frozenset[str]:
        return frozenset(each for each in self.marks if each.startswith("slot:"))

    @property
    def subject(self) -> frozenset[str]:
        """The names that the sentence begins with."""
        return self.lead & self.names

    @property
    def codes(self) -> frozenset[str]:
        """The names that are written in code."""
        return frozenset(each for each in self.names if "_" in each or not each.isalpha())

    @property
    def is_of_the_past(self) -> bool:
        return "past" in self.marks

    @property
    def is_negated(self) -> bool:
        return "not" in self.marks


def label_of(text: str) -> str:
    """Return what stands before the colon of "label: value"; a longer text is no label."""
    match = _LABELLED.match(text.strip())
    return " ".join(match.group(1).split()) if match and len(match.group(1).split()) <= _LONGEST_LABEL else ""
