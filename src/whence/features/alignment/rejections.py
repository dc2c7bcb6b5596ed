"""Rejections: what a decision turned away, and what another sentence names of it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from whence.core.details import DecisionDetails
from whence.core.words import stop_words
from whence.features.alignment.choices import bare_names, chosen, main_names
from whence.features.alignment.technologies import compounds_in, identity, key_of, names_in, names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from whence.core.memories import Memory

_WORD = re.compile(r"[^\W_]+")
_START = 3  # letters that every form of a word keeps


@dataclass(frozen=True, slots=True)
class Conflict:
    """A decision that speaks against something, and the sentence that says so."""

    memory: Memory
    reason: str


def rejection(memory: Memory, name: str) -> Conflict:
    """Return the conflict with a decision that rejected what is called `name` here."""
    why = DecisionDetails.of(memory).reasoning or "none"
    return Conflict(memory, f"'{name}' was rejected in favor of '{memory.content}' (rationale: {why})")


def rejected_options(memory: Memory) -> tuple[str, ...]:
    return tuple(each.option for each in DecisionDetails.of(memory).alternatives)


def is_active(memory: Memory) -> bool:
    return memory.is_live and memory.status == "active"


def is_reconsidered(memory: Memory) -> bool:
    return memory.is_live and memory.status == "reconsidering"


def is_same_topic(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and key_of(one) == key_of(other)


@lru_cache(maxsize=16_384)
def names_of_option(option: str) -> frozenset[str]:
    """Return the identities of what an option is: two for "Kafka or RabbitMQ", none for "the same"."""
    return bare_names(option) - (stop_words() - names_in(option))


def main_names_of_option(option: str) -> frozenset[str]:
    """Return what an option is, whatever it was to be used for: Redis in "Redis for sessions"."""
    return names_of_option(option) | (main_names(option) - stop_words())


@lru_cache(maxsize=16_384)
def all_names_of_option(option: str) -> frozenset[str]:
    """Return all that an option names, be it in passing: Redis in "Redis Streams"."""
    text = chosen(option)
    return main_names_of_option(option) | names_in(text) | compounds_in(text)


def chosen_names(memory: Memory) -> frozenset[str]:
    """Return the identities of the known technologies that a decision is for."""
    return names_in(chosen(memory.content))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for among rejected options, and how its names begin: most options need no reading."""

    identities: frozenset[str]
    starts: frozenset[str]

    @classmethod
    def of(cls, identities: Iterable[str], text: str) -> Wanted:
        """Return the identities as met in a text, which an option may spell in another way."""
        identities = frozenset(identities)
        names = [name for each in identities for name in names_of(each)]
        return cls(identities, frozenset().union(*map(_starts, (text, *names))))


def _starts(text: str) -> frozenset[str]:
    return frozenset(word[:_START] for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def rejected_of(memory: Memory, wanted: Wanted, names: Callable[[str], frozenset[str]]) -> str | None:
    """Return the first option by whose names a decision rejected something wanted."""
    for option in rejected_options(memory):
        if wanted.starts.isdisjoint(_starts(option)):
            continue
        met = wanted.identities & names(option)
        # Who takes managed PostgreSQL over a self-hosted one, or Python 3 over 2, did not reject the thing.
        if met and (identity(option) in met or met - chosen_names(memory)):
            return option
    return None
