"""Alignment: which decisions speak about a technology or a pattern, and which of them rejected it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whence.core.details import DecisionDetails
from whence.features.alignment.choices import chosen
from whence.features.alignment.rejections import (
    Conflict,
    Wanted,
    is_active,
    is_reconsidered,
    is_same_topic,
    main_names_of_option,
    names_of_option,
    rejected_of,
    rejection,
)
from whence.features.alignment.technologies import (
    is_known,
    key_of,
    kinds_in,
    mentions,
    names_in,
    names_of,
    phrases_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from whence.core.memories import Memory

__all__ = ["Alignment", "Conflict", "align", "rejected_by", "stands_beside"]

UNKNOWN = 0.5  # the confidence of an answer for which no decision stands
LONG_NAME = 6  # a shorter alias counts as a whole name only: "js" is in "JSON", "node" in "nodemailer"
_ABOUT_PATTERNS = frozenset({"architecture", "pattern"})


@dataclass(frozen=True, slots=True)
class Alignment:
    """What the decisions say about a technology or a pattern."""

    relevant: tuple[Memory, ...]
    conflicts: tuple[Conflict, ...]
    reconsidering: tuple[Conflict, ...]  # would be conflicts, were their decisions not being reconsidered
    confidence: float

    @property
    def aligned(self) -> bool:
        return not self.conflicts


@dataclass(frozen=True, slots=True)
class _Needle:
    """What is looked for, under all its names."""

    typed: str
    anywhere: tuple[str, ...]  # folded; what was typed is met within words, as the document has it
    whole: tuple[str, ...]  # folded; short aliases
    in_patterns: bool

    @classmethod
    def of(cls, typed: str, *, in_patterns: bool) -> _Needle:
        aliases = [each for each in names_of(typed) if each != _folded(typed)]
        return cls(
            typed,
            (_folded(typed), *(each for each in aliases if len(each) >= LONG_NAME)),
            tuple(each for each in aliases if len(each) < LONG_NAME),
            in_patterns,
        )

    def is_in(self, texts: Iterable[str]) -> bool:
        return any(self._is_in(each, _folded(each)) for each in texts)

    def _is_in(self, text: str, folded: str) -> bool:
        if any(each in folded for each in self.anywhere):
            return True
        return any(each in folded and mentions(text, each) for each in self.whole)


def align(
    decisions: Sequence[Memory],
    *,
    technology: str | None = None,
    pattern: str | None = None,
    subject: str | None = None,
) -> Alignment:
    """Return the decisions that speak about a technology or a pattern, and those that rejected it."""
    needles = [
        _Needle.of(each, in_patterns=each == pattern)
        for each in dict.fromkeys((technology, pattern))
        if each is not None and each.strip()
    ]
    read = [(each, DecisionDetails.of(each)) for each in decisions if _is_about(each, subject)]
    active = [(memory, details) for memory, details in read if is_active(memory)]
    relevant = tuple(
        memory for memory, details in active if any(_speaks_of(memory, details, needle) for needle in needles)
    )
    return Alignment(
        relevant,
        _rejections(active, needles),
        _rejections([each for each in read if is_reconsidered(each[0])], needles),
        max((each.confidence for each in relevant), default=UNKNOWN),
    )


def stands_beside(decisions: Sequence[Memory], wanted: str) -> list[tuple[Memory, str]]:
    """Return the active decisions about another technology of the same kind, each with that in words."""
    asked = kinds_in(wanted)
    found = []
    for memory in decisions if asked else ():
        if not is_active(memory):
            continue
        chose = kinds_in(chosen(memory.content))
        rejected = kinds_in("; ".join(each.option for each in DecisionDetails.of(memory).alternatives))
        for verb, named in (("chosen", chose), ("rejected", rejected)):
            kind = next((each for each in asked if named.get(each, asked[each]) != asked[each]), None)
            if kind is not None:
                found.append((memory, f"{named[kind]} was {verb} there, and both are {kind}"))
                break
    return found


def rejected_by(decisions: Sequence[Memory], topic: str | None, choice: str) -> list[Conflict]:
    """Return the live decisions that rejected what a new one chooses, those on the same topic first."""
    picked = chosen(choice)
    said = Wanted.of(names_in(picked) | {each for each in phrases_in(picked) if not is_known(each)}, picked)
    found = []
    for memory in decisions:
        same = is_same_topic(topic, memory.topic)
        # On its own topic "Redis for sessions" speaks of Redis; elsewhere it speaks of sessions.
        option = (
            rejected_of(memory, said, main_names_of_option if same else names_of_option)
            if memory.is_live
            else None
        )
        if option is not None:
            found.append((same, rejection(memory, option)))
    return [conflict for _, conflict in sorted(found, key=lambda each: not each[0])]


def _rejections(
    decisions: Iterable[tuple[Memory, DecisionDetails]], needles: Sequence[_Needle]
) -> tuple[Conflict, ...]:
    return tuple(
        rejection(memory, needle.typed)
        for memory, details in decisions
        for needle in needles
        if needle.is_in(each.option for each in details.alternatives)
    )


def _speaks_of(memory: Memory, details: DecisionDetails, needle: _Needle) -> bool:
    if needle.is_in((memory.topic or "", *memory.tags, *(each.option for each in details.alternatives))):
        return True
    return needle.in_patterns and details.decision_type in _ABOUT_PATTERNS and needle.is_in((memory.content,))


def _is_about(memory: Memory, subject: str | None) -> bool:
    wanted = key_of(subject or "")
    return wanted in key_of(memory.topic or "")


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip()).casefold()
