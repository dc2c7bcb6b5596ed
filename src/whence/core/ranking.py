"""Ranking: from what each search arm saw to one order, with a reason for every point."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from whence.core.memories import FIELD_LIMIT, topic_key
from whence.core.words import light_stem, question_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whence.core.ports import Candidate, Found, Manifest

# Chosen on the dev halves of locomo and beam; docs/numbers.md has the figures.
WORDS = 1.0
EXPLICIT = 0.3  # more would bury distilled facts under chatter
NAMED = 1.5  # asked by its topic: as good as the best words and some meaning
TOPIC = 0.5  # asked by words of its topic
LONG = 40  # distinct words; so many say by themselves what is meant, and meaning counts no more than they do
LINKED = 0.5  # for what a sure link joins to the best hit: it settles near ties, and no more


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a memory stands where it stands: one arm and the points it gave."""

    name: str
    points: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its share of the best score possible in this query."""

    candidate: Candidate
    relevance: float
    reasons: tuple[Reason, ...]


def by_words(candidate: Candidate, most: float) -> float:
    """Words count as a share of the best match by words."""
    return WORDS * candidate.words / most if most else 0.0


def by_meaning(
    candidate: Candidate, found: Found, manifests: Mapping[str, Manifest], leading: str, weight: float
) -> float:
    """Meaning is scaled within the query; a second model, which saw other memories, by its own figures."""
    if candidate.meaning is None or candidate.model is None:
        return 0.0
    manifest = manifests[candidate.model]
    if candidate.model == leading:
        low, high = found.spans[candidate.model]
        # In a small store even the farthest memory may be near: it must not count as nothing.
        low = min(low, manifest.question_floor)
    else:
        low, high = _foreign_floor(manifest), manifest.paraphrase
    share = (candidate.meaning - low) / (high - low) if high > low else 1.0
    return weight * min(1.0, max(0.0, share))


def by_source(candidate: Candidate) -> float:
    """What someone said outright stands a little above what was drawn from talk."""
    return EXPLICIT if candidate.source == "explicit" else 0.0


@dataclass(frozen=True, slots=True)
class About:
    """What a question seems to be about: its first line, as a topic."""

    key: str | None
    words: frozenset[str]
    is_long: bool = False


def about(text: str) -> About:
    """Read a question's first line as a topic."""
    line = next((each for each in text.splitlines() if each.strip()), "")
    key = topic_key(line) if line == text.strip() and len(line) <= FIELD_LIMIT else None
    return About(key, topic_words(line), len(question_words(text)) > LONG)


@lru_cache(maxsize=16_384)
def topic_words(topic: str) -> frozenset[str]:
    return frozenset(light_stem(each) for each in question_words(topic))


def by_topic(candidate: Candidate, asked: About) -> float:
    """Who asks by the very name of a topic means what lies on it; shared words of the name count too."""
    if not candidate.topics:
        return 0.0
    if asked.key is not None and any(topic_key(each) == asked.key for each in candidate.topics):
        return NAMED
    return TOPIC * max(_overlap(asked.words, topic_words(each)) for each in candidate.topics)


def _overlap(ours: frozenset[str], theirs: frozenset[str]) -> float:
    """Return the shared words as a share of all words of both, from 0 to 1."""
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours and theirs else 0.0


def by_links(candidate: Candidate, joined: Mapping[str, float]) -> float:
    """What is joined to a good hit stands above what is like it alone."""
    return LINKED * joined.get(candidate.id, 0.0)


def _foreign_floor(manifest: Manifest) -> float:
    """Return where a memory in another script begins to count: its arm has nothing to be scaled against."""
    return (manifest.unrelated + manifest.related) / 2


def is_an_answer(candidate: Candidate, manifests: Mapping[str, Manifest], leading: str, asked: About) -> bool:
    """False for a hit that shares no word with the question and lies under its model's floor."""
    if candidate.words > 0:
        return True
    if asked.key is not None and any(topic_key(each) == asked.key for each in candidate.topics):
        return True
    if candidate.meaning is None or candidate.model is None:
        return False
    manifest = manifests[candidate.model]
    floor = manifest.question_floor if candidate.model == leading else _foreign_floor(manifest)
    return candidate.meaning >= floor


NOTHING = About(None, frozenset())


def fuse(
    found: Found,
    manifests: Sequence[Manifest],
    limit: int,
    asked: About = NOTHING,
    joined: Mapping[str, float] | None = None,
) -> list[Ranked]:
    """Return the best answers in order.

    `manifests` are of the models asked, the leading one first; `joined` says how surely links join a memory
    to a good hit, from 0 to 1.
    """
    joined = joined or {}
    weight = manifests[0].weight if manifests else 0.0
    if asked.is_long:
        weight = min(weight, WORDS)
    known = {manifest.id: manifest for manifest in manifests}
    leading = manifests[0].id if manifests else ""
    most = max((each.words for each in found.candidates), default=0.0)
    best = (WORDS if most else 0.0) + (weight if found.spans else 0.0) + EXPLICIT
    best += LINKED if joined else 0.0
    best += max((by_topic(each, asked) for each in found.candidates), default=0.0)

    def points(each: Candidate) -> float:
        told = by_words(each, most) + by_meaning(each, found, known, leading, weight) + by_source(each)
        return told + by_topic(each, asked) + by_links(each, joined)

    scored = [(points(each), each) for each in found.candidates if is_an_answer(each, known, leading, asked)]
    scored.sort(key=lambda pair: (-pair[0], -pair[1].valid_from, pair[1].id))
    ranked = []
    for total, each in scored[:limit]:
        reasons = (
            Reason("words", by_words(each, most)),
            Reason("meaning", by_meaning(each, found, known, leading, weight)),
            Reason("explicit", by_source(each)),
            Reason("topic", by_topic(each, asked)),
            Reason("linked", by_links(each, joined)),
        )
        ranked.append(Ranked(each, total / best, tuple(reason for reason in reasons if reason.points)))
    return ranked
