"""What a Korean sentence says."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Literal

from whence.features.conflicts.sentence import Reading, label_of
from whence.features.conflicts.tables import (
    CODE,
    known_phrases,
    marks_of,
    stem,
    tables,
    unit_kinds,
    word_list,
)

_WRAPPING = re.compile(r"^\W+|[^\w%]+$")
_HANGUL = re.compile(r"[가-힣]")


@cache
def _korean_tails(name: Literal["particles", "endings"]) -> re.Pattern[str]:
    tails = sorted({each.strip() for each in tables()["ko"][name].split(",")}, key=len, reverse=True)
    return re.compile(f"(?:{'|'.join(tails)})$")


_PUNCTUATION = re.compile(r"[^\w\s%]")


_NAME_AND_I = 3  # 수빈이에게 and 수빈이 are of one name
_VERBAL = tuple("다고며면서지게음던요네는")


@lru_cache(maxsize=8192)
def korean_root(word: str) -> str:
    """Return the form under which the inflections of a Korean word meet."""
    if not _HANGUL.search(word):
        return stem(word.lower())
    ended = _korean_tails("endings").sub("", word)
    if ended != word and len(ended) >= 2:
        return ended
    bare = _korean_tails("particles").sub("", word)
    if bare != word and bare and (len(bare) >= 2 or len(word) - len(bare) == 1):
        return bare[:2] if len(bare) == _NAME_AND_I and bare.endswith("이") else bare
    if not word.endswith(_VERBAL):
        return word
    # What holds through the forms of a verb: a closed first syllable, else two without their last consonant.
    letters = unicodedata.normalize("NFD", word)
    is_closed = len(unicodedata.normalize("NFD", word[0])) == 3
    return word[0] if is_closed else unicodedata.normalize("NFC", letters[:4])


def read_korean(text: str) -> Reading:
    phrases = known_phrases("ko")
    spoken = f" {_PUNCTUATION.sub(' ', text.lower())} "
    found = [phrase for phrase in phrases if phrase in spoken]
    user, generic = word_list("ko", "user"), word_list("ko", "generic")
    stems: list[str] = []
    lead: list[str] = []
    objects: set[str] = set()
    adjuncts: set[str] = set()
    names: set[str] = set()
    is_leading = True
    for spaced in text.split():
        chunk = _WRAPPING.sub("", spaced)
        pieces = _pieces(chunk)
        roots = ["user" if each in user else each for each in pieces]
        stems += roots
        names.update(each for each in roots if each == "user" or CODE.match(each))
        if is_leading:
            lead += roots
            is_leading = not chunk.endswith(("은", "는", "이", "가", "께서"))
        elif chunk.endswith(("을", "를")):
            objects.update(roots)
        elif chunk.endswith(("에", "에서", "로", "으로", "마다")):
            adjuncts.update(roots)
    if stems:
        names.add(stems[0])
    content = frozenset(each for each in stems if each)
    return Reading(
        language="ko",
        stems=tuple(stems),
        content=content,
        topics=frozenset(
            each for each in content if each not in names and each not in generic and not each[0].isdigit()
        ),
        names=frozenset(names),
        lead=frozenset(lead) if not is_leading else frozenset(stems[:1]),
        objects=frozenset(objects),
        adjuncts=frozenset(adjuncts),
        kin=frozenset(lead) & word_list("ko", "kin"),
        quantities=_korean_quantities(text),
        predicate=stems[-1] if stems else "",
        label=" ".join(label_of(text).split()),
        marks=marks_of(found, phrases) | _said_by_endings(text),
    )


_ALSO = re.compile(r"[가-힣]도(?=\s)")
_NO_ADDITION = re.compile(
    r"(?:정|온|속|지|태|각|용|제|밀|강|빈|난|연|년|해|어|아|여|려|돼|라"
    r"|와|봐|이|주|의|시|습|고|해상|중요|만족|신뢰|난이|제주|강원|경기)도$"
)


_PAST = re.compile(r"[가-힣](?<=[았었했렸났갔왔됐겼졌쳤샀뒀셨봤줬랐섰탔컸])(?:다|음|습니다)\W*$")


_WHEN = re.compile(r"작년|재작년|지난|년에|어제|그제|그저께|전에")


def _said_by_endings(text: str) -> frozenset[str]:
    """Return "also" for a noun with that particle, and "past" for a sentence that ends so."""
    marks = set()
    if any(not _NO_ADDITION.search(text[: each.end()]) for each in _ALSO.finditer(text)):
        marks.add("also")
    if _PAST.search(text) and _WHEN.search(text):
        marks.add("past")
    return frozenset(marks)


def _pieces(chunk: str) -> list[str]:
    """Return the roots of one spaced word: foreign words and numbers apart from their particles."""
    if not re.search(r"[A-Za-z0-9]", chunk):
        return [korean_root(chunk)] if chunk else []
    found = re.findall(
        r"[A-Za-z_/\-][\w./\-]*[A-Za-z0-9_]|[A-Za-z]|\d+(?:[.,:]\d+)*|[가-힣]+",
        re.sub(r"([A-Za-z0-9])([가-힣])", r"\1 \2", chunk),
    )
    particles = _korean_tails("particles")
    return [korean_root(each) for each in found if not particles.fullmatch(each)]


_KOREAN_QUANTITY = re.compile(r"(\d+(?:[.,:]\d+)*)\s*([가-힣]{1,2}|[A-Za-z%]+)?")


def _korean_quantities(text: str) -> frozenset[tuple[str, str]]:
    return frozenset(
        (value.replace(",", ""), _korean_unit(unit)) for value, unit in _KOREAN_QUANTITY.findall(text)
    )


def _korean_unit(unit: str) -> str:
    particles = _korean_tails("particles")
    bare = "" if particles.fullmatch(unit) and unit not in unit_kinds() else unit.lower()
    if bare not in unit_kinds() and len(bare) > 1:
        bare = particles.sub("", bare)
    return unit_kinds().get(bare, "년" if bare.startswith("년") else bare)
