"""Ranking: from what each search arm saw to one order, with a reason for every point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whence.core.ports import Candidate, Found, Manifest

# Chosen on the dev halves of locomo and beam; docs/numbers.md has the figures.
WORDS = 1.0
EXPLICIT = 0.3  # more would bury distilled facts under chatter


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


def by_meaning(candidate: Candidate, found: Found, manifests: Mapping[str, Manifest], leading: str) -> float:
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
    return manifests[leading].weight * min(1.0, max(0.0, share))


def by_source(candidate: Candidate) -> float:
    """What someone said outright stands a little above what was drawn from talk."""
    return EXPLICIT if candidate.source == "explicit" else 0.0


def _foreign_floor(manifest: Manifest) -> float:
    """Return where a memory in another script begins to count: its arm has nothing to be scaled against."""
    return (manifest.unrelated + manifest.related) / 2


def is_an_answer(candidate: Candidate, manifests: Mapping[str, Manifest], leading: str) -> bool:
    """False for a hit that shares no word with the question and lies under its model's floor."""
    if candidate.words > 0:
        return True
    if candidate.meaning is None or candidate.model is None:
        return False
    manifest = manifests[candidate.model]
    floor = manifest.question_floor if candidate.model == leading else _foreign_floor(manifest)
    return candidate.meaning >= floor


def fuse(found: Found, manifests: Sequence[Manifest], limit: int) -> list[Ranked]:
    """Return the best answers in order; `manifests` are of the models asked, the leading one first."""
    known = {manifest.id: manifest for manifest in manifests}
    leading = manifests[0].id if manifests else ""
    most = max((each.words for each in found.candidates), default=0.0)
    best = (WORDS if most else 0.0) + (manifests[0].weight if found.spans else 0.0) + EXPLICIT

    def points(each: Candidate) -> float:
        return by_words(each, most) + by_meaning(each, found, known, leading) + by_source(each)

    scored = [(points(each), each) for each in found.candidates if is_an_answer(each, known, leading)]
    scored.sort(key=lambda pair: (-pair[0], -pair[1].valid_from, pair[1].id))
    ranked = []
    for total, each in scored[:limit]:
        reasons = (
            Reason("words", by_words(each, most)),
            Reason("meaning", by_meaning(each, found, known, leading)),
            Reason("explicit", by_source(each)),
        )
        ranked.append(Ranked(each, total / best, tuple(reason for reason in reasons if reason.points)))
    return ranked
