"""Links: how one memory stands to another, and how much a link still counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from whence.core.memories import SUPERSEDING, LinkType, normal_word
from whence.core.times import DAY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whence.core.memories import Json
    from whence.core.times import Instant

Creator = Literal["user", "system", "llm"]
LINK_TYPES: tuple[LinkType, ...] = get_args(LinkType)
LINK_LIMIT = 100  # links that one call may state

SIMILAR, CLOSE_IN_TIME = "semantic_similarity", "temporal_proximity"  # what the system says

_WORDS: dict[LinkType, str] = {
    "evolution": "supersedes replaces refines improves upgrades extends corrects amends revises updates "
    "derived_from based_on builds_on addresses_failure_of evolves_from follows_on fixes generalizes narrows",
    "implementation": "implements executes realizes outcome_of resulted_in results_in causes justifies "
    "leads_to caused_by delivers satisfies fulfills enables applies verifies tests",
    "association": "relates_to related_to inspired_by motivated_by challenges depends_on blocks contains "
    "part_of contradicts conflicts_with debates synthesizes supports references mentions requires "
    "alternative_to similar_to see_also",
    "temporal": "follows precedes during concurrent_with before after temporal_proximity",
}
_TYPE_OF: dict[str, LinkType] = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_TYPE_OF[SIMILAR] = "association"

# How fast a link that the system made fades, a day; evolution never does.
_FADES: dict[LinkType, float] = {"association": 0.05, "implementation": 0.02}
TEMPORAL_LIFE = 30 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One direction: from the newer or acting memory to the older or acted-on."""

    id: str
    from_id: str
    to_id: str
    link_type: LinkType
    relationship: str  # in its normal form; the caller's own word is `metadata["original_relationship"]`
    confidence: float
    created_by: Creator
    created_at: int
    metadata: Mapping[str, Json] = field(default_factory=dict)
    known_until: Instant | None = None

    @property
    def supersedes(self) -> bool:
        return self.relationship in SUPERSEDING


def known_type(relationship: str) -> LinkType | None:
    """Return the core type of a word that the table knows."""
    return _TYPE_OF.get(normal_word(relationship))


def examples() -> Mapping[str, LinkType]:
    """Return every word of the table with its core type."""
    return _TYPE_OF


def effective_confidence(link: Link, now: Instant) -> float:
    """Return how much a link counts now: what the system made fades, what somebody stated never does."""
    if link.created_by != "system":
        return link.confidence
    age = max(0, now - link.created_at)
    if link.link_type == "temporal":
        return link.confidence * max(0.0, 1.0 - age / TEMPORAL_LIFE)
    return link.confidence * math.exp(-_FADES.get(link.link_type, 0.0) * age / DAY)
