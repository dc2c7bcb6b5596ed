"""The words that the rules know, and how a word of theirs is met in a sentence."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal, TypeAlias, TypedDict

Language = Literal["en", "ko"]
Phrases: TypeAlias = dict[str, tuple[str, ...]]  # a phrase as a sentence holds it -> the marks that it sets

_SHORTEST_NEGATED = 4
_ASKED = 24  # words more than this bring what everything has
CODE = re.compile(r".*(?:\w_\w|\(\)$|^/|^--|[a-z][A-Z]|\w[./]\w*[a-z]|::).*")
_MEMBER = re.compile(r"[^\W\d]\w+\.[^\W\d]\w{2,}$")
_SUFFIXES = re.compile(
    r"(?:(?<=\w{4})(?:encies|ency|ences|ence|ations|ation|ments|ment|ions|ion|ants|ent|ers|er|ings|ly)|(?<=\w{3})(?:ies|ing|ied|ed|es)|(?<=\w[^sui])s)$"
)


class _Table(TypedDict, total=False):
    irregular: str
    numbers: str
    negators: str
    user: str
    generic: str
    kin: str
    verbs: str
    function_words: str
    sure_verbs: str
    pasts: str
    additive: str
    also: str
    kinds: dict[str, list[str]]
    exclusive: str
    particles: str
    endings: str
    slots: dict[str, str]
    changes: dict[str, str]
    opposites: dict[str, list[list[str]]]


class _Tables(TypedDict):
    strong: str
    units: dict[str, str]
    en: _Table
    ko: _Table


@cache
def tables() -> _Tables:
    raw = files("whence.features.conflicts").joinpath("words.toml").read_text(encoding="utf-8")
    return tomllib.loads(raw)  # type: ignore[return-value]  # the file is ours, a test reads all of it


@cache
def strong_slots() -> frozenset[str]:
    """Return the slots of which a subject has one value at a time."""
    return frozenset(f"slot:{each}" for each in phrases_in(tables()["strong"]))


def phrases_in(text: str) -> list[str]:
    """Return the phrases of a line; an underscore stands for a space that must be there."""
    return [each.strip().replace("_", " ") for each in text.split(",")]


@cache
def word_list(language: Language, name: Literal["user", "generic", "kin", "verbs"]) -> frozenset[str]:
    words = [each.strip() for each in tables()[language][name].split(",")]
    return frozenset(map(stem, words) if language == "en" else words)


@cache
def plain(name: Literal["function_words", "sure_verbs", "pasts"]) -> frozenset[str]:
    return frozenset(tables()["en"][name].split())


@cache
def unit_kinds() -> dict[str, str]:
    """Return the kind of each unit: times compare with times, whatever the unit."""
    return {each: kind for kind, units in tables()["units"].items() for each in units.split()}


@cache
def pairs_of(name: Literal["irregular", "numbers"]) -> dict[str, str]:
    pairs = (each.split()[:2] for each in tables()["en"][name].split(","))
    return dict(pairs)


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return the form under which the inflections of an English word meet."""
    irregular = pairs_of("irregular")
    short = irregular.get(word) or _SUFFIXES.sub("", word)
    short = irregular.get(short, short)
    if len(short) > (5 if short.endswith("l") else 3) and short[-1] == short[-2] and short[-1] not in "sz":
        short = short[:-1]
    if len(short) > 3 and short[-1] in "ey":
        short = short[:-1]
    return short


@cache
def known_phrases(language: Language) -> Phrases:
    """Return every phrase of the tables with the marks that it sets."""
    table = tables()[language]
    marked: dict[str, list[str]] = {}

    def note(text: str, mark: str) -> None:
        for each in phrases_in(text):
            phrase = " ".join(parts(each.replace(" ", "-"))) if language == "en" else each
            marked.setdefault(phrase, []).append(mark)

    for slot, listed in table["slots"].items():
        note(listed, f"slot:{slot}")
    for kind, listed in table["changes"].items():
        note(listed, kind)
    note(table["additive"], "additive")
    note(table["also"], "also")
    for kind, (heads, members) in table["kinds"].items():
        note(heads, f"all:{kind}")
        note(f"{heads}, {members}", f"some:{kind}")
    note(table["exclusive"], "exclusive")
    note(table["negators"], "not")
    for kind, rows in table["opposites"].items():
        for number, sides in enumerate(rows):
            for side, listed in enumerate(sides):
                note(listed, f"{kind}:{number}:{side}")
    return {phrase: tuple(marks) for phrase, marks in marked.items() if phrase}


def marks_of(found: list[str], phrases: Phrases) -> frozenset[str]:
    """Return the marks of the phrases found; a change said with light words alone is a light one."""
    marks = {
        mark
        for phrase in found
        for mark in phrases[phrase]
        if not _is_swallowed(phrase, mark, found, phrases)
    }
    heavy = any(
        {"ends", "turns"} & set(phrases[phrase]) and "light" not in phrases[phrase] for phrase in found
    )
    return frozenset(marks - {"light"} if heavy else marks)


def _is_swallowed(phrase: str, mark: str, found: list[str], phrases: Phrases) -> bool:
    """True when a longer phrase around this one says the opposite: "siblings" in "no siblings"."""
    if not mark.startswith(("pairs:", "states:")):
        return False
    other = opposite(mark)
    return any(len(each) > len(phrase) and phrase in each and other in phrases[each] for each in found)


def opposite(mark: str) -> str:
    """Return the mark of the other side of a pair of opposites."""
    kind, number, side = mark.split(":")
    return f"{kind}:{number}:{1 - int(side)}"


@lru_cache(maxsize=16_384)
def parts(token: str) -> tuple[str, ...]:
    """Return the stems of a token: code as it stands, a hyphenated word in its parts."""
    if CODE.match(token):
        low = token.lower()
        return tuple(low.split(".")) if _MEMBER.match(token) else (low,)
    numbers = pairs_of("numbers")
    return tuple(numbers.get(each, stem(each)) for each in token.lower().strip(".:'").split("-") if each)


_NEGATING_PREFIXES = ("un", "non", "in", "im", "ir", "il", "dis", "de", "a", "anti", "mis")
_NEGATING_SUFFIXES = ("less", "free", "proof")


@lru_cache(maxsize=8192)
def _affirmed(word: str) -> frozenset[str]:
    """Return the words that this one may be the negation of: "async" of "sync"."""
    found = {word.removeprefix(each) for each in _NEGATING_PREFIXES if word.startswith(each)}
    found |= {word.removesuffix(each) for each in _NEGATING_SUFFIXES if word.endswith(each)}
    return frozenset(each for each in found if len(each) >= _SHORTEST_NEGATED)


def is_negation_of(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """True when a word of one side is the negation of a word of the other, by its prefix or suffix."""
    return any(_affirmed(each) & theirs for each in ours) or any(_affirmed(each) & ours for each in theirs)


@cache
def _asked_for(language: Language, slot: str) -> tuple[str, ...]:
    """Return the single words that a sentence about this slot may hold."""
    listed_words = phrases_in(tables()[language]["slots"].get(slot.removeprefix("slot:"), ""))
    return tuple(each for each in listed_words if " " not in each)


def rival_words(marks: frozenset[str], language: Language) -> str:
    """Return words that find the other values of a slot: "lives in Rome" for "moved to Oslo"."""
    found = [word for slot in sorted(marks & strong_slots()) for word in _asked_for(language, slot)]
    return " ".join(found[:_ASKED])
