"""Questions: what a "why did we use X?" is about, and whether a decision speaks of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whence.core.details import DecisionDetails
from whence.core.words import index_form, is_cjk, question_words, stop_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whence.core.memories import Memory
    from whence.features.causal.chain import CausalChain

# How people ask why, whatever it is about: met in a decision such as "Use Redis", these words say nothing.
_ASKING_WORDS = (
    "use uses used using choose chose chosen choosing choice decide decided deciding decision decisions "
    "pick picked picking adopt adopted select selected switch switched reason reasons rationale cause "
    "caused causes led lead leads want wanted need needed avoid avoided reject rejected leave left leaving "
    "drop dropped stop stopped replace replaced remove removed instead happen happened"
)
_ASKING = frozenset(_ASKING_WORDS.split())
_ASKING_KOREAN = re.compile(
    r"왜|(?:이유|까닭|선택|결정|사용|채택|도입)[가-힣]*|썼[가-힣]*|써요?|쓰(?:나|는|지|고|니|냐|게)[가-힣]*|쓴|했[가-힣]*|안|못"
)
_AGAINST = re.compile(
    r"\b(?:not|cannot|against|instead|reject\w*|rather)\b|n['\u2019]t\b|(?:^|\s)(?:안|못)\s|않|말고|대신|제외",
    re.IGNORECASE,
)
_STEM, _ENDING = (
    4,
    3,
)  # a word that begins another may be the same: mongo, MongoDB; token, tokens; not Java, JavaScript
_ENOUGH = 2  # words in common that outweigh a name which the decision does not know


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is looked for."""

    text: str  # without the words in which one asks
    words: frozenset[str]  # what it is about; empty for "why?"
    names: frozenset[str]  # FastAPI, k8s, Latin words in a Korean question
    is_negative: bool  # why not, instead of, why ... 안 ...


def asked_in(query: str) -> Asked:
    """Return what a question asks for."""
    text = " ".join(each for each in query.split() if not _is_asking(each))
    return Asked(text, _words(text) - stop_words(), _names(query), _AGAINST.search(query) is not None)


def is_named(asked: Asked, text: str) -> bool:
    """False when the question names something, and the text neither names it nor shares much else.

    "Why GraphQL?" is no question about the database, however near in meaning the two may be.
    """
    known = _words(text)
    if not asked.names or any(_is_met(each, known) for each in asked.names):
        return True
    return sum(_is_met(each, known) for each in asked.words) >= _ENOUGH


def rejects(memory: Memory, asked: Asked) -> bool:
    """True for a decision with a rejected option that the question names, or of which it names a part."""
    options = [each.option for each in DecisionDetails.of(memory).alternatives]
    return any(_overlap(words, asked.words) for words in map(_words, options))


def _overlap(words: frozenset[str], others: frozenset[str]) -> bool:
    """True when all of one are among the other."""
    if not words or not others:
        return False
    return all(_is_met(each, others) for each in words) or all(_is_met(each, words) for each in others)


def version_asked_for(asked: Asked, chain: CausalChain) -> str | None:
    """Return the superseded version that speaks of more of what is asked than the root does, if any."""

    def met(memory: Memory, reasons: Iterable[str]) -> int:
        options = [each.option for each in DecisionDetails.of(memory).alternatives]
        known = _words("\n".join([memory.content, memory.reasoning or "", *options, *reasons]))
        return sum(_is_met(each, known) for each in asked.words)

    best = max(chain.superseded, key=lambda each: met(each.memory, each.reasons), default=None)
    own = [node.content for node in chain.nodes if node.joined_to == chain.root.id]
    if best is None or met(best.memory, best.reasons) <= met(chain.root, own):
        return None
    return best.memory.id


def _words(text: str) -> frozenset[str]:
    return frozenset(each.casefold() for each in question_words(text))


def texts_of(chain: CausalChain) -> str:
    """Return all the words by which a chain may be asked for."""
    texts: list[str | None] = [node.content for node in chain.nodes]
    texts += [reason for version in chain.superseded for reason in version.reasons]
    for memory in chain.versions:
        texts += [memory.content, memory.topic, memory.reasoning, memory.context, *memory.tags]
        texts += [each.option for each in DecisionDetails.of(memory).alternatives]
    return "\n".join(each for each in texts if each)


def _is_asking(token: str) -> bool:
    bare = token.strip("?!.,;:\"'()\u2026\uff1f").casefold()
    return bare in _ASKING or _ASKING_KOREAN.fullmatch(bare) is not None


def _names(query: str) -> frozenset[str]:
    """Return the proper names in a question; a capital at its beginning says nothing."""
    found = set()
    for at, token in enumerate(index_form(query).split()):
        folded = token.casefold()
        if is_cjk(token) or len(token) < 2 or folded in stop_words() or folded in _ASKING:
            continue
        shape = token[1:] if at == 0 else token
        is_spelled_so = shape != shape.lower() or (not token.isalpha() and not token.isdigit())
        if is_spelled_so or (is_cjk(query) and token.isalpha()):
            found.add(folded)
    return frozenset(found)


def _is_met(word: str, known: frozenset[str]) -> bool:
    return word in known or any(_is_same(*sorted((word, each), key=len)) for each in known)


def _is_same(short: str, long: str) -> bool:
    return len(short) >= _STEM and len(long) - len(short) <= _ENDING and long.startswith(short)
